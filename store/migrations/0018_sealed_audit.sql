-- +goose Up
-- What the audit notes of a balance besides its sums: the last link that moved it, and whether an entry took it below zero that
-- may not. The row's code covers them, and unchecked.
ALTER TABLE posted ADD COLUMN link BIGINT NOT NULL DEFAULT 0;
ALTER TABLE posted ADD COLUMN overdrawn BOOLEAN NOT NULL DEFAULT FALSE;

-- The halts of the books are by the oldest fault of each asset.
CREATE INDEX book_faults_asset ON book_faults(asset, number);

-- A code over what came, in which block and whose it is: a deposit that this service did not record is not credited.
ALTER TABLE deposits ADD COLUMN seal BYTEA;
