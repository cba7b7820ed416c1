-- +goose Up
-- Reservations that were moved from a sent outgoing transaction to one that makes it void. Once that one is final, they prove
-- that the first can never be included.
CREATE TABLE moved_claims (
  chain      TEXT NOT NULL,
  claim      TEXT NOT NULL,
  from_spend BYTEA NOT NULL REFERENCES spends(id),
  to_spend   BYTEA NOT NULL REFERENCES spends(id),
  PRIMARY KEY (from_spend, claim)
);
CREATE INDEX moved_claims_to ON moved_claims(to_spend);
