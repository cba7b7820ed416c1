-- +goose NO TRANSACTION
-- +goose Up
-- By what clients find wallets, charges and deliveries. Metadata may be longer than a page of an index takes.
DROP INDEX CONCURRENTLY IF EXISTS wallets_metadata;
CREATE INDEX CONCURRENTLY wallets_metadata ON wallets(account_id, substr(metadata, 1, 64), number) WHERE metadata <> '';
DROP INDEX CONCURRENTLY IF EXISTS invoices_metadata;
CREATE INDEX CONCURRENTLY invoices_metadata ON invoices(account_id, substr(metadata, 1, 64), number) WHERE metadata <> '';
DROP INDEX CONCURRENTLY IF EXISTS events_failed;
CREATE INDEX CONCURRENTLY events_failed ON events(account_id, number) WHERE status = 'failed';
