-- +goose Up
-- When the chain takes a refill's transaction no more, where a time of its own ends it; 0: nothing does.
ALTER TABLE refills ADD COLUMN ends_at BIGINT NOT NULL DEFAULT 0;
-- What a refill uses up, and what a spend from cold used up: reservations, each in a line of its own.
ALTER TABLE refills ADD COLUMN uses TEXT NOT NULL DEFAULT '';
ALTER TABLE cold_spends ADD COLUMN uses TEXT NOT NULL DEFAULT '';
