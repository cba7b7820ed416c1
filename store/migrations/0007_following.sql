-- +goose Up
-- Why a chain cannot be followed now and since when, for the commands of other processes; when it was first configured:
-- no wallet on it is older. Chains that were there before this column have been followed already, or never ran (0).
ALTER TABLE chains ADD COLUMN failing TEXT NOT NULL DEFAULT '';
ALTER TABLE chains ADD COLUMN failing_since BIGINT NOT NULL DEFAULT 0;
ALTER TABLE chains ADD COLUMN added_at BIGINT NOT NULL DEFAULT 0;

-- How many confirmations a deposit needs by its amount (0: the chain's own finality is enough), and how many endpoints
-- have to report it before it is credited (0: none, or they have).
ALTER TABLE deposits ADD COLUMN required BIGINT NOT NULL DEFAULT 0;
ALTER TABLE deposits ADD COLUMN opinions BIGINT NOT NULL DEFAULT 0;
