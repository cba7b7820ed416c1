-- +goose Up
-- Public keys that were derived ahead of the wallets that get them, for families whose keys only the seed can derive. What
-- is below the family's counter has been handed out and is removed in time.
CREATE TABLE address_pool (
  family     TEXT NOT NULL,
  key_index  BIGINT NOT NULL,
  public_key BYTEA NOT NULL,
  PRIMARY KEY (family, key_index)
);
