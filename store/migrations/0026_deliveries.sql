-- +goose Up
-- What each deliverer is sending now: until when nobody else may send it, and the numbers of the events. A deliverer has
-- one row, which it writes again with each lease; one that is over belongs to nobody.
CREATE TABLE delivery_leases (
  number BIGSERIAL PRIMARY KEY,
  until  BIGINT NOT NULL,
  events BYTEA NOT NULL
);

-- The first attempt of an event that was delivered by it, which is nearly every one: it has no row in attempts then.
-- 0: there is one, or none was made.
ALTER TABLE events ADD COLUMN first_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN first_duration BIGINT NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN first_code BIGINT NOT NULL DEFAULT 0;
