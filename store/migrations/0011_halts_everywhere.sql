-- +goose Up
-- What halts a chain is in the table halts alone, and so is what freezes an account: accounts.frozen repeats the oldest
-- reason, so that a queue is read without those who are frozen. Store writes both together; a freeze of before gets its
-- row when the database is opened.
INSERT INTO halts(scope, kind, ref, reason, actor, at)
  SELECT 'chain:' || chain, 'external_spend', '', halted, '', checked_at FROM chains WHERE halted <> '';
ALTER TABLE chains DROP COLUMN halted;
