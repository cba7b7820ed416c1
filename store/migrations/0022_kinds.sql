-- +goose Up
-- The words of docs/glossary.md for alarms and halts. The kinds of ledger entries and the names inside stored requests
-- keep their first spelling: seals and hashes cover them (docs/decisions/0036-stored-names.md).
UPDATE alarms SET kind = 'external_spend' WHERE kind = 'foreign_spend';
UPDATE alarms SET kind = 'external_nonce' WHERE kind = 'foreign_nonce';
UPDATE alarms SET kind = 'unrecognized_event' WHERE kind = 'odd_event';
UPDATE alarms SET kind = 'nonce_blocked' WHERE kind = 'held_up';
UPDATE alarms SET kind = 'deep_reorg' WHERE kind = 'deep_reorganisation';
UPDATE alarms SET kind = 'refund_uncovered' WHERE kind = 'return_uncovered';
UPDATE alarms SET kind = 'refund_paid_twice' WHERE kind = 'return_paid_twice';
UPDATE halts SET kind = 'expired_included' WHERE kind = 'dead_returned';
UPDATE halts SET kind = 'refund_reversal' WHERE kind = 'reopening';
