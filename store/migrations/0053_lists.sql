-- +goose NO TRANSACTION
-- +goose Up
-- By what clients list and find their deposits, withdrawals and wallets.
DROP INDEX CONCURRENTLY IF EXISTS withdrawals_reference;
CREATE UNIQUE INDEX CONCURRENTLY withdrawals_reference ON withdrawals(account_id, reference) WHERE reference <> '';
DROP INDEX CONCURRENTLY IF EXISTS withdrawals_address;
CREATE INDEX CONCURRENTLY withdrawals_address ON withdrawals(account_id, base, number);
DROP INDEX CONCURRENTLY IF EXISTS withdrawals_tx;
CREATE INDEX CONCURRENTLY withdrawals_tx ON withdrawals(account_id, tx_id) WHERE tx_id <> '';
DROP INDEX CONCURRENTLY IF EXISTS deposits_listed;
CREATE INDEX CONCURRENTLY deposits_listed ON deposits(account_id, number);
DROP INDEX CONCURRENTLY IF EXISTS wallets_memo;
CREATE INDEX CONCURRENTLY wallets_memo ON wallets(account_id, memo) WHERE memo >= 0;
