-- +goose Up
-- Every transaction that books closes with a link: a hash over the link before it and over the entries and orders that it
-- wrote. The head's row is locked from there to the commit, so links stand in the order of commits and none is missing.
CREATE TABLE links (
  number BIGINT PRIMARY KEY,
  at     BIGINT NOT NULL,
  key_id TEXT NOT NULL,
  size   BIGINT NOT NULL,
  hash   BYTEA NOT NULL
);
CREATE TABLE link_head (
  name   TEXT PRIMARY KEY,
  number BIGINT NOT NULL,
  key_id TEXT NOT NULL,
  hash   BYTEA NOT NULL
);
INSERT INTO link_head(name, number, key_id, hash) VALUES ('books', 0, '', '');

-- Which link covers an entry. Link 0 are the entries that were booked before there were links.
CREATE TABLE seals (
  entry BIGINT PRIMARY KEY,
  link  BIGINT NOT NULL
);
CREATE INDEX seals_link ON seals(link, entry);
INSERT INTO seals(entry, link) SELECT number, 0 FROM entries;

-- A code over an order's facts, with a key that the database does not know.
ALTER TABLE withdrawals ADD COLUMN seal BYTEA;
ALTER TABLE decisions ADD COLUMN seal BYTEA;

-- The sums of the postings of every account, as far as the audit has read the links. unchecked: not yet compared with the
-- balance since it last changed.
CREATE TABLE posted (
  account   TEXT NOT NULL,
  asset     TEXT NOT NULL,
  debits    TEXT NOT NULL,
  credits   TEXT NOT NULL,
  unchecked BOOLEAN NOT NULL DEFAULT FALSE,
  seal      BYTEA,
  PRIMARY KEY (account, asset)
);
CREATE INDEX posted_unchecked ON posted(account, asset) WHERE unchecked = TRUE;
INSERT INTO posted(account, asset, debits, credits) SELECT account, asset, debits, credits FROM balances;

-- How far the audit has come: the last link read, and where its second, rolling pass over everything is.
CREATE TABLE audits (
  name         TEXT PRIMARY KEY,
  link         BIGINT NOT NULL DEFAULT 0,
  hash         BYTEA,
  entry        BIGINT NOT NULL DEFAULT 0,
  pass_link    BIGINT NOT NULL DEFAULT 0,
  pass_entry   BIGINT NOT NULL DEFAULT 0,
  pass_account TEXT NOT NULL DEFAULT '',
  pass_asset   TEXT NOT NULL DEFAULT '',
  checked_at   BIGINT NOT NULL DEFAULT 0,
  passed_at    BIGINT NOT NULL DEFAULT 0,
  trial_at     BIGINT NOT NULL DEFAULT 0
);
INSERT INTO audits(name) VALUES ('books');

-- What the books contradict themselves in now. A row goes away once the same check finds nothing any more.
CREATE TABLE book_faults (
  number  BIGSERIAL PRIMARY KEY,
  kind    TEXT NOT NULL,
  ref     TEXT NOT NULL,
  asset   TEXT NOT NULL DEFAULT '',
  message TEXT NOT NULL,
  at      BIGINT NOT NULL,
  UNIQUE (kind, ref)
);

-- The newest comparison of custody with the chain, for each currency: what every process shows.
CREATE TABLE reconciliations (
  currency  TEXT PRIMARY KEY,
  chain     TEXT NOT NULL,
  at        BIGINT NOT NULL,
  height    BIGINT NOT NULL,
  custody   TEXT NOT NULL,
  unbooked  TEXT NOT NULL,
  unsettled TEXT NOT NULL,
  on_chain  TEXT NOT NULL
);

-- Customers below zero, whom only a chain that took something back can bring there.
ALTER TABLE balances ADD COLUMN below BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX balances_below ON balances(asset, account) WHERE below = TRUE;

-- What an outgoing transaction may cost the operator: its fee, as far as no customer pays it.
ALTER TABLE spends ADD COLUMN own_fee TEXT NOT NULL DEFAULT '0';

-- Who took what out of the treasury, and why.
CREATE TABLE treasury_orders (
  number BIGSERIAL PRIMARY KEY,
  id     BYTEA NOT NULL UNIQUE REFERENCES withdrawals(id),
  actor  TEXT NOT NULL,
  reason TEXT NOT NULL,
  at     BIGINT NOT NULL
);
