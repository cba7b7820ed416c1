-- +goose NO TRANSACTION
-- +goose Up
-- Operators look for a transaction, an address, a tag or a reference among all accounts. These indexes have the columns
-- of those before them and begin with what is looked for, so that they serve one account and all of them. A reference
-- stays unique: the index before goes when the new one is there.
DROP INDEX CONCURRENTLY IF EXISTS withdrawals_paid_by;
CREATE INDEX CONCURRENTLY withdrawals_paid_by ON withdrawals(tx_id, account_id) WHERE tx_id <> '';
DROP INDEX CONCURRENTLY IF EXISTS withdrawals_tx;
DROP INDEX CONCURRENTLY IF EXISTS withdrawals_named;
CREATE UNIQUE INDEX CONCURRENTLY withdrawals_named ON withdrawals(reference, account_id) WHERE reference <> '';
DROP INDEX CONCURRENTLY IF EXISTS withdrawals_reference;
DROP INDEX CONCURRENTLY IF EXISTS withdrawals_to;
CREATE INDEX CONCURRENTLY withdrawals_to ON withdrawals(base, account_id, number);
DROP INDEX CONCURRENTLY IF EXISTS withdrawals_address;
DROP INDEX CONCURRENTLY IF EXISTS wallets_of_memo;
CREATE INDEX CONCURRENTLY wallets_of_memo ON wallets(memo, account_id) WHERE memo >= 0;
DROP INDEX CONCURRENTLY IF EXISTS wallets_memo;
DROP INDEX CONCURRENTLY IF EXISTS invoices_named;
CREATE UNIQUE INDEX CONCURRENTLY invoices_named ON invoices(reference, account_id) WHERE reference <> '';
DROP INDEX CONCURRENTLY IF EXISTS invoices_reference;
-- The sweeps of an address, to say which one moved a deposit.
DROP INDEX CONCURRENTLY IF EXISTS outgoing_sweeps;
CREATE INDEX CONCURRENTLY outgoing_sweeps ON outgoing_txs(chain, base, created_at) WHERE share = 'sweep';
-- The charges of a customer, as clients name theirs.
DROP INDEX CONCURRENTLY IF EXISTS invoices_customer;
CREATE INDEX CONCURRENTLY invoices_customer ON invoices(customer, account_id) WHERE customer <> '';
-- What happened on each day, summed from the postings once they cannot change order any more, so that a chart of a month
-- does not read the postings of a month. figures_read says up to which
-- entry.
CREATE TABLE IF NOT EXISTS day_figures (
  day     BIGINT NOT NULL,  -- days since 1970-01-01, in UTC
  figure  TEXT NOT NULL,
  asset   TEXT NOT NULL,
  lines   BIGINT NOT NULL,
  amount  TEXT NOT NULL,
  PRIMARY KEY (day, figure, asset)
);
CREATE TABLE IF NOT EXISTS figures_read (
  name TEXT PRIMARY KEY,
  entry BIGINT NOT NULL
);
