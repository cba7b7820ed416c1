-- +goose Up
-- What persons signed about payments: texts with their signatures, which the signer judges. The database only carries
-- them. order_id is a withdrawal, or the outgoing transaction of a refund to a sender.
CREATE TABLE approvals (
  order_id   BYTEA NOT NULL,
  hash       BYTEA NOT NULL,
  text       TEXT NOT NULL,
  signature  TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (order_id, hash)
);
