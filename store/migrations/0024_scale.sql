-- +goose NO TRANSACTION
-- +goose Up
-- The addresses of wallets as 64-bit hashes, so that a process reads eight bytes for each when it starts. A part holds
-- those of one family among wallets whose numbers follow each other; it is written once all of them are committed, and
-- never changes. It can be deleted at any time: it is made again of the wallets.
CREATE TABLE IF NOT EXISTS watched_parts (
  family TEXT NOT NULL,
  part   BIGINT NOT NULL,
  hashes BYTEA NOT NULL,
  PRIMARY KEY (family, part)
);

-- What each scrape of the metrics and each page of the dashboard reads is found by an index, however much there is.
DROP INDEX CONCURRENTLY IF EXISTS withdrawals_open;
CREATE INDEX CONCURRENTLY withdrawals_open ON withdrawals(number) WHERE completed_at = 0;
DROP INDEX CONCURRENTLY IF EXISTS alarms_open;
CREATE INDEX CONCURRENTLY alarms_open ON alarms(at) WHERE resolved_at = 0;
DROP INDEX CONCURRENTLY IF EXISTS events_disabled;
CREATE INDEX CONCURRENTLY events_disabled ON events(account_id, url) WHERE status = 'disabled';

-- What was written before there were seals is looked for at each start, and is nearly always nothing.
DROP INDEX CONCURRENTLY IF EXISTS withdrawals_unsealed;
CREATE INDEX CONCURRENTLY withdrawals_unsealed ON withdrawals(number) WHERE seal IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS deposits_unsealed;
CREATE INDEX CONCURRENTLY deposits_unsealed ON deposits(number) WHERE seal IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS posted_unsealed;
CREATE INDEX CONCURRENTLY posted_unsealed ON posted(account, asset) WHERE seal IS NULL;
