-- +goose Up
-- What cold wallets hold on chains of the UTXO model: an output is the wallet's until a block shows what spends it.
CREATE TABLE cold_utxos (
  chain    TEXT NOT NULL,
  resource TEXT NOT NULL,
  base     TEXT NOT NULL,
  amount   TEXT NOT NULL,
  height   BIGINT NOT NULL,
  spent_by TEXT NOT NULL DEFAULT '',
  spent_at BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (chain, resource)
);

-- What left a cold wallet, by the blocks: its fee, and what did not stay with us. What went to the hot wallet is a
-- deposit of the purpose refill.
CREATE TABLE cold_spends (
  chain  TEXT NOT NULL,
  tx_id  TEXT NOT NULL,
  base   TEXT NOT NULL,
  height BIGINT NOT NULL,
  booked BOOLEAN NOT NULL DEFAULT FALSE,
  fee    TEXT NOT NULL,
  lots   TEXT NOT NULL,
  PRIMARY KEY (chain, tx_id, base)
);

ALTER TABLE reconciliations ADD COLUMN cold TEXT NOT NULL DEFAULT '0';
ALTER TABLE reconciliations ADD COLUMN cold_on_chain TEXT NOT NULL DEFAULT '0';
ALTER TABLE reconciliations ADD COLUMN unswept TEXT NOT NULL DEFAULT '0';
