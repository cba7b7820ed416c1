-- +goose NO TRANSACTION
-- +goose Up
-- The token of a charge opens its payer's page.
DROP INDEX CONCURRENTLY IF EXISTS charges_token;
CREATE UNIQUE INDEX CONCURRENTLY charges_token ON charges(token) WHERE token IS NOT NULL;
