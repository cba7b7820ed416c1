-- +goose NO TRANSACTION
-- +goose Up
-- An account's withdrawals, newest first, as deposits_of_account.
DROP INDEX CONCURRENTLY IF EXISTS withdrawals_of_account;
CREATE INDEX CONCURRENTLY withdrawals_of_account ON withdrawals(account_id, number, currency, created_at);
DROP INDEX CONCURRENTLY IF EXISTS withdrawals_account;
