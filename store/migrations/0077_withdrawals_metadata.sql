-- +goose NO TRANSACTION
-- +goose Up
-- By what clients find withdrawals and charges. Metadata may be longer than a page of an index takes.
DROP INDEX CONCURRENTLY IF EXISTS withdrawals_metadata;
CREATE INDEX CONCURRENTLY withdrawals_metadata ON withdrawals(account_id, substr(metadata, 1, 64), number) WHERE metadata <> '';
