-- +goose Up
-- Which refill another one makes impossible, by its ID: it uses up what that one would.
ALTER TABLE refills ADD COLUMN revokes TEXT NOT NULL DEFAULT '';
