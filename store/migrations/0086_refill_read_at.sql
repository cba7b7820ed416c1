-- +goose Up
-- The height as of which a node still showed unused what a refill uses up, where that tells whether a later answer is one.
ALTER TABLE refills ADD COLUMN read_at BIGINT NOT NULL DEFAULT 0;
