-- +goose Up
-- The keys with which clients sign orders of their accounts. The signer has its own list and believes no other; this one
-- refuses early what the signer would refuse.
CREATE TABLE order_keys (
  account_id  BYTEA NOT NULL,
  key_id      TEXT NOT NULL,
  name        TEXT NOT NULL,
  public_key  TEXT NOT NULL,
  created_at  BIGINT NOT NULL,
  usable_from BIGINT NOT NULL,
  revoked_at  BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, key_id)
);

-- The orders that clients signed, each with the withdrawal that it became. Nothing here is ever deleted: an order's ID is
-- unique within its account for ever.
CREATE TABLE signed_orders (
  withdrawal_id BYTEA PRIMARY KEY,
  account_id    BYTEA NOT NULL,
  order_id      BYTEA NOT NULL,
  text          TEXT NOT NULL,
  signature     TEXT NOT NULL,
  max_fee       TEXT NOT NULL,
  expires_at    BIGINT NOT NULL,
  UNIQUE (account_id, order_id)
);
