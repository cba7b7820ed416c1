-- +goose Up
-- The newest epoch of which the log of acts says that the chain is led in it, and since when it is: 0 where an earlier
-- release did not note that.
ALTER TABLE chains ADD COLUMN epoch_acted BIGINT NOT NULL DEFAULT 0;
ALTER TABLE chains ADD COLUMN epoch_since BIGINT NOT NULL DEFAULT 0;
UPDATE chains SET epoch_acted = epoch;
