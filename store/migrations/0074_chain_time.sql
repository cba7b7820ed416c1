-- +goose Up
-- When the last recorded block was made, as the chain says: what ends by a chain's time is judged by it, and not by a
-- clock of ours. 0: not known.
ALTER TABLE chains ADD COLUMN block_time BIGINT NOT NULL DEFAULT 0;
