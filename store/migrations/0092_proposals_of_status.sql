-- +goose NO TRANSACTION
-- +goose Up
-- What waits is looked up at every start of a step and in the console: it does not walk what has ended.
DROP INDEX CONCURRENTLY IF EXISTS proposals_of_status;
CREATE INDEX CONCURRENTLY proposals_of_status ON proposals(status, created_at, id);
