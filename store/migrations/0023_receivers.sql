-- +goose NO TRANSACTION
-- +goose Up
-- Where one receiver has a backlog, the events of the others are found by receiver.
DROP INDEX CONCURRENTLY IF EXISTS events_receiver;
CREATE INDEX CONCURRENTLY events_receiver ON events(account_id, url, next_at) WHERE status = 'pending';
