-- +goose NO TRANSACTION
-- +goose Up
-- What an account asked for within a period, for its limits: what was given back does not count.
DROP INDEX CONCURRENTLY IF EXISTS withdrawals_requested;
CREATE INDEX CONCURRENTLY withdrawals_requested ON withdrawals(account_id, currency, created_at)
  WHERE status NOT IN ('rejected', 'cancelled', 'failed');
