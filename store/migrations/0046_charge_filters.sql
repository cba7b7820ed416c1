-- +goose NO TRANSACTION
-- +goose Up
-- The filters of lists of charges, and the charges of a payment link.
DROP INDEX CONCURRENTLY IF EXISTS invoices_status;
CREATE INDEX CONCURRENTLY invoices_status ON invoices(account_id, status, number);
DROP INDEX CONCURRENTLY IF EXISTS invoices_labelled;
CREATE INDEX CONCURRENTLY invoices_labelled ON invoices(account_id, number) WHERE labels <> '';
DROP INDEX CONCURRENTLY IF EXISTS invoices_attention;
CREATE INDEX CONCURRENTLY invoices_attention ON invoices(account_id, number) WHERE attention;
DROP INDEX CONCURRENTLY IF EXISTS invoices_created;
CREATE INDEX CONCURRENTLY invoices_created ON invoices(account_id, created_at);
DROP INDEX CONCURRENTLY IF EXISTS invoices_link;
CREATE INDEX CONCURRENTLY invoices_link ON invoices(link_id, status) WHERE link_id IS NOT NULL;
