-- +goose Up
-- Up to which link the postings of the books are in archives, outside of the database. Each row is one transaction that
-- removed some; the newest one is where whoever reads the books begins. Entries, seals and links stay, so that nothing is
-- booked twice.
CREATE TABLE checkpoints (
  link       BIGINT PRIMARY KEY,  -- the last link whose postings were removed
  first      BIGINT NOT NULL,     -- and the first one
  key_id     TEXT NOT NULL,       -- of the last link
  hash       BYTEA NOT NULL,
  remains    BYTEA NOT NULL,      -- the code of what stays of these links
  sums       BYTEA NOT NULL,      -- the code of all archived sums
  until      BIGINT NOT NULL,     -- every entry that was archived so far is earlier
  file       TEXT NOT NULL,       -- the SHA-256 of the archive's lines
  removed_at BIGINT NOT NULL,
  seal       BYTEA NOT NULL
);

-- The sums of all archived postings of each account in each asset.
CREATE TABLE archived_sums (
  account   TEXT NOT NULL,
  asset     TEXT NOT NULL,
  debits    TEXT NOT NULL,
  credits   TEXT NOT NULL,
  link      BIGINT NOT NULL,   -- the last archived link that moved it
  overdrawn BOOLEAN NOT NULL,  -- an entry took it below zero that may not, and it still was there
  PRIMARY KEY (account, asset)
);
