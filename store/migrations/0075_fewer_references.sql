-- +goose Up
-- PostgreSQL looks up what a foreign key names by a statement of its own for each row, and locks and logs it: a fifth of
-- what it takes to write an event or a deposit. Accounts and wallets are never removed, and the service's role may not:
-- what these keys still refused was a row of an account or wallet that never was, which only an error in the service can
-- write. SQLite, where they cost next to nothing, keeps them, and every test that writes such rows runs there too.
-- postings keep theirs: it also keeps an entry that has postings from being removed.
ALTER TABLE withdrawals DROP CONSTRAINT IF EXISTS withdrawals_account_id_fkey;
ALTER TABLE events DROP CONSTRAINT IF EXISTS events_account_id_fkey;
ALTER TABLE deposits DROP CONSTRAINT IF EXISTS deposits_wallet_fkey;
ALTER TABLE wallets DROP CONSTRAINT IF EXISTS wallets_account_id_fkey;
