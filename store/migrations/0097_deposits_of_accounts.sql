-- +goose NO TRANSACTION
-- +goose Up
-- An account's deposits, newest first. The currency and the time are in the index, so that a list which selects by them
-- and finds little reads the index alone, and not a page of the table for nearly every deposit that it looks at.
DROP INDEX CONCURRENTLY IF EXISTS deposits_of_account;
CREATE INDEX CONCURRENTLY deposits_of_account ON deposits(account_id, number, currency, seen_at);
DROP INDEX CONCURRENTLY IF EXISTS deposits_listed;
