-- +goose Up
-- What the screening service said about a deposit before it is credited, and about a payout before it is signed: one row
-- for each, of the question that was asked last.
CREATE TABLE screenings (
  subject    BYTEA PRIMARY KEY,         -- of a deposit or a withdrawal
  kind       TEXT NOT NULL,
  chain      TEXT NOT NULL,
  block_hash TEXT NOT NULL,             -- in which the deposit stood; empty for a payout
  account_id BYTEA,                     -- whose it was when it was asked about
  wallet_id  BYTEA,
  outcome    TEXT NOT NULL,
  request    TEXT NOT NULL,             -- empty until it is asked
  answer     TEXT NOT NULL,
  signature  TEXT NOT NULL,
  list       TEXT NOT NULL,             -- version of the lists that the service compared with
  attempts   BIGINT NOT NULL,
  next_at    BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  error      TEXT NOT NULL,
  actor      TEXT NOT NULL,             -- the operator who decided
  reason     TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  decided_at BIGINT NOT NULL
);
CREATE INDEX screenings_outcome ON screenings(chain, outcome);
