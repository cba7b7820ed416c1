-- +goose Up
-- What each deliverer is sending now: until when nobody else may send it, and the numbers of the events. A deliverer has
-- one row, which it writes again with each lease; one that is over belongs to nobody.
CREATE TABLE delivery_leases (
  number BIGSERIAL PRIMARY KEY,
  until  BIGINT NOT NULL,
  events BYTEA NOT NULL
);
