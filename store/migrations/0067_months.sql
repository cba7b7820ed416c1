-- +goose Up
-- What each customer's ledger accounts came to in each month, summed from the postings once they cannot change order any
-- more. The balances at the end of a month are the sums of all months up to it, whatever was archived since.
CREATE TABLE month_sums (
  account TEXT NOT NULL,
  asset   TEXT NOT NULL,
  month   BIGINT NOT NULL,  -- months since January of the year 0, in UTC
  debits  TEXT NOT NULL,
  credits TEXT NOT NULL,
  PRIMARY KEY (account, asset, month)
);
-- 'months': up to which entry postings are summed, and from which time on months are known. Entries before it were in
-- archives when summing began, and are summed as one month before it. 'archived': up to which link the books are archived
-- with all postings in the sums; where the books are archived further, the sums begin again.
CREATE TABLE months_summed (
  name  TEXT PRIMARY KEY,  -- 'months'
  entry BIGINT NOT NULL,
  since BIGINT NOT NULL
);
