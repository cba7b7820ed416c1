-- +goose NO TRANSACTION
-- +goose Up
-- What lists of accounts with a long history pass over: nearly all deposits and withdrawals end confirmed, and an
-- account may have millions of charges, each with a wallet, beside the wallets that it lists.
DROP INDEX CONCURRENTLY IF EXISTS deposits_unusual;
CREATE INDEX CONCURRENTLY deposits_unusual ON deposits(account_id, status, number) WHERE status <> 'confirmed';
DROP INDEX CONCURRENTLY IF EXISTS withdrawals_unusual;
CREATE INDEX CONCURRENTLY withdrawals_unusual ON withdrawals(account_id, status, number) WHERE status <> 'confirmed';
DROP INDEX CONCURRENTLY IF EXISTS wallets_listed;
CREATE INDEX CONCURRENTLY wallets_listed ON wallets(account_id, number) WHERE for_charge = FALSE;
DROP INDEX CONCURRENTLY IF EXISTS wallets_listed_currency;
CREATE INDEX CONCURRENTLY wallets_listed_currency ON wallets(account_id, currency, number) WHERE for_charge = FALSE;
-- They serve what these two did: nothing lists the wallets of charges by their account.
DROP INDEX CONCURRENTLY IF EXISTS wallets_account;
DROP INDEX CONCURRENTLY IF EXISTS wallets_currency;
