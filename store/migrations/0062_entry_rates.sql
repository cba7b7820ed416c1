-- +goose Up
-- What a whole unit of a currency was worth in fiat when an entry was posted, for accounting; no money depends on it. A
-- row is missing where no rate counted then. entry_rates_read says up to which link of the books rates were noted.
CREATE TABLE entry_rates (
  entry  BIGINT NOT NULL,
  asset  TEXT NOT NULL,
  unit   TEXT NOT NULL,
  rate   TEXT NOT NULL,
  source TEXT NOT NULL,
  at     BIGINT NOT NULL,   -- of the rate
  PRIMARY KEY (entry, asset, unit)
);
CREATE TABLE entry_rates_read (
  name TEXT PRIMARY KEY,
  link BIGINT NOT NULL
);
