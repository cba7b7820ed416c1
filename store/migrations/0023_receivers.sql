-- +goose Up
-- Where one receiver has a backlog, the events of the others are found by receiver.
CREATE INDEX events_receiver ON events(account_id, url, next_at) WHERE status = 'pending';
