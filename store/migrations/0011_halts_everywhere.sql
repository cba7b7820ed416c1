-- +goose Up
-- What halts a chain is in the table halts alone, and so is what freezes an account: accounts.frozen repeats the oldest
-- reason, so that a queue is read without those who are frozen. Store writes both together; a freeze of before gets its
-- row when the database is opened.
INSERT INTO halts(scope, kind, ref, reason, actor, at)
  SELECT 'chain:' || chain, 'external_spend', '', halted, '', checked_at FROM chains WHERE halted <> '';
ALTER TABLE chains DROP COLUMN halted;

-- What was halted and resumed, by whom and why: halts itself keeps only what lasts.
CREATE TABLE halt_events (
  number  BIGSERIAL PRIMARY KEY,
  at      BIGINT NOT NULL,
  resumed BOOLEAN NOT NULL,
  scope   TEXT NOT NULL,
  kind    TEXT NOT NULL,
  ref     TEXT NOT NULL,
  reason  TEXT NOT NULL,
  actor   TEXT NOT NULL
);
