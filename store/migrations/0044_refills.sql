-- +goose Up
-- Refills: payments from a cold wallet to the hot wallet, each with the bundle that was given out to be signed. raw is
-- what is broadcast, written before it is. Nothing here is ever deleted.
CREATE TABLE refills (
  id         BYTEA PRIMARY KEY,
  chain      TEXT NOT NULL,
  wallet     TEXT NOT NULL,
  currency   TEXT NOT NULL,
  amount     TEXT NOT NULL,
  bundle     TEXT NOT NULL,
  status     TEXT NOT NULL,
  tx_id      TEXT NOT NULL DEFAULT '',
  raw        BYTEA,
  actor      TEXT NOT NULL,
  reason     TEXT NOT NULL DEFAULT '',
  created_at BIGINT NOT NULL,
  ended_at   BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX refills_open ON refills(chain, wallet) WHERE status = 'open';
