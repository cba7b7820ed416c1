-- +goose NO TRANSACTION
-- +goose Up
-- The token of a charge whose deposits add up opens its payer's page.
DROP INDEX CONCURRENTLY IF EXISTS invoices_token;
CREATE UNIQUE INDEX CONCURRENTLY invoices_token ON invoices(token);
