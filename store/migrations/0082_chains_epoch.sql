-- +goose Up
-- The newest epoch of a seed in which a replica has led the chain. No replica of an earlier one leads it again: it does not
-- know the hot wallet.
ALTER TABLE chains ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;
