-- +goose Up
-- Up to which number each account's delivered events were moved into archives: its feed begins behind it. An account
-- without a row has all its events.
CREATE TABLE feed_starts (
  account_id BYTEA PRIMARY KEY,
  number     BIGINT NOT NULL
);
