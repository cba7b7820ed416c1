-- +goose NO TRANSACTION
-- +goose Up
-- An index has only the rows that are looked for by it, so that what is written most has few entries to write: of a
-- transfer within the service, which is in no block and never pending, these had three.
DROP INDEX CONCURRENTLY IF EXISTS deposits_account;
CREATE INDEX CONCURRENTLY deposits_account ON deposits(account_id) WHERE status = 'pending';
DROP INDEX CONCURRENTLY IF EXISTS deposits_reversed;
CREATE INDEX CONCURRENTLY deposits_reversed ON deposits(account_id) WHERE reversals > 0;
DROP INDEX CONCURRENTLY IF EXISTS deposits_block;
CREATE INDEX CONCURRENTLY deposits_block ON deposits(chain, height) WHERE height > 0;
DROP INDEX CONCURRENTLY IF EXISTS deposits_unsealed;
CREATE INDEX CONCURRENTLY deposits_unsealed ON deposits(number) WHERE seal IS NULL AND height > 0;
DROP INDEX CONCURRENTLY IF EXISTS withdrawals_spend;
CREATE INDEX CONCURRENTLY withdrawals_spend ON withdrawals(outgoing_id) WHERE outgoing_id IS NOT NULL;

-- The next deposits of a block that are due are found in their order, without the others of that block.
DROP INDEX CONCURRENTLY IF EXISTS deposits_pending;
CREATE INDEX CONCURRENTLY deposits_pending ON deposits(chain, height, number) WHERE status = 'pending';

-- What waits for a second opinion is nearly always nothing.
DROP INDEX CONCURRENTLY IF EXISTS deposits_opinions;
CREATE INDEX CONCURRENTLY deposits_opinions ON deposits(chain, base, height) WHERE status = 'pending' AND opinions > 0;
