-- +goose Up
-- Fees that an operator set for one account; currency '' is every currency without a rule of its own. The currency's fees
-- of the configuration count where there is none.
CREATE TABLE fee_rules (
  account_id BYTEA NOT NULL REFERENCES accounts(id),
  currency   TEXT NOT NULL,
  kind       TEXT NOT NULL,
  network    BOOLEAN NOT NULL,
  millionths BIGINT NOT NULL,
  fixed      TEXT NOT NULL,
  set_at     BIGINT NOT NULL,
  PRIMARY KEY (account_id, currency, kind)
);

-- A period of the books is found by its time.
CREATE INDEX entries_at ON entries(at);
