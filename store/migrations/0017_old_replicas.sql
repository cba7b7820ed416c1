-- +goose Up
-- A replica of a version before the links of the books (0012) that still runs would book without them. What it needs for every
-- posting has another name now: its transactions fail, and nothing of them is written.
ALTER TABLE postings RENAME COLUMN line TO place;

-- What such a replica has booked between 0012 and now, in one and the same upgrade, is as old as everything before the links.
INSERT INTO seals(entry, link) SELECT e.number, 0 FROM entries e
  WHERE NOT EXISTS (SELECT 1 FROM seals s WHERE s.entry = e.number)
  AND NOT EXISTS (SELECT 1 FROM link_head WHERE name = 'books' AND number > 0);
DELETE FROM posted WHERE NOT EXISTS (SELECT 1 FROM link_head WHERE name = 'books' AND number > 0);
INSERT INTO posted(account, asset, debits, credits) SELECT account, asset, debits, credits FROM balances
  WHERE NOT EXISTS (SELECT 1 FROM link_head WHERE name = 'books' AND number > 0);
