-- +goose NO TRANSACTION
-- +goose Up
-- The proposals of some accounts, newest first: who is held to those with few does not walk those of all.
DROP INDEX CONCURRENTLY IF EXISTS proposals_of_account;
CREATE INDEX CONCURRENTLY proposals_of_account ON proposals(account_id, created_at, id) WHERE account_id IS NOT NULL;
