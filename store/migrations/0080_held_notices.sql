-- +goose Up
-- A message without anything grave that was not taken before quiet hours: what is grave goes before it, and it is sent
-- when they end.
ALTER TABLE notice_receivers ADD COLUMN held TEXT NOT NULL DEFAULT '';
