-- +goose Up
-- Where a key may be used from: networks with commas between; empty: everywhere.
ALTER TABLE api_keys ADD COLUMN networks TEXT NOT NULL DEFAULT '';

-- Accounts that pay to listed destinations only. until 0: for good, else until that time.
CREATE TABLE destination_lists (
  account_id BYTEA PRIMARY KEY REFERENCES accounts(id),
  until      BIGINT NOT NULL DEFAULT 0
);

-- currency '' stands for every currency of the family's chains.
CREATE TABLE destinations (
  number      BIGSERIAL PRIMARY KEY,
  id          BYTEA NOT NULL UNIQUE,
  account_id  BYTEA NOT NULL REFERENCES accounts(id),
  family      TEXT NOT NULL,
  currency    TEXT NOT NULL,
  base        TEXT NOT NULL,
  memo        BIGINT NOT NULL,
  label       TEXT NOT NULL,
  created_at  BIGINT NOT NULL,
  usable_from BIGINT NOT NULL,
  UNIQUE (account_id, family, base, memo, currency)
);
CREATE INDEX destinations_account ON destinations(account_id, number);
