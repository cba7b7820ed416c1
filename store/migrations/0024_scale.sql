-- +goose Up
-- The addresses of wallets as 64-bit hashes, so that a process reads eight bytes for each when it starts. A part holds
-- those of one family among wallets whose numbers follow each other; it is written once all of them are committed, and
-- never changes. It can be deleted at any time: it is made again of the wallets.
CREATE TABLE watched_parts (
  family TEXT NOT NULL,
  part   BIGINT NOT NULL,
  hashes BYTEA NOT NULL,
  PRIMARY KEY (family, part)
);

-- What each scrape of the metrics and each page of the dashboard reads is found by an index, however much there is.
CREATE INDEX withdrawals_open ON withdrawals(number) WHERE completed_at = 0;
CREATE INDEX alarms_open ON alarms(at) WHERE resolved_at = 0;
CREATE INDEX events_disabled ON events(account_id, url) WHERE status = 'disabled';

-- What was written before there were seals is looked for at each start, and is nearly always nothing.
CREATE INDEX withdrawals_unsealed ON withdrawals(number) WHERE seal IS NULL;
CREATE INDEX deposits_unsealed ON deposits(number) WHERE seal IS NULL;
CREATE INDEX posted_unsealed ON posted(account, asset) WHERE seal IS NULL;
