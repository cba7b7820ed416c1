-- +goose Up
-- Until when an address is not swept again of an asset, because the sweep before could not be made. 0: it does not rest.
ALTER TABLE holdings ADD COLUMN rests_until BIGINT NOT NULL DEFAULT 0;
