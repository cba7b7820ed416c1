-- +goose Up
-- What waits for an outgoing transaction is found by withdrawals_waiting, which has only that: of each withdrawal this
-- index had an entry more to write when it was recorded, and when it changed.
DROP INDEX withdrawals_queued;
