-- +goose NO TRANSACTION
-- +goose Up
-- What waits is looked up by the console and every few seconds: it does not walk what has ended.
DROP INDEX CONCURRENTLY IF EXISTS proposals_waiting;
CREATE INDEX CONCURRENTLY proposals_waiting ON proposals(created_at, id) WHERE status IN ('pending', 'approved');
