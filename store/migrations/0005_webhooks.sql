-- +goose Up
-- Where an account's own events go, such as those of withdrawals; empty: to the newest webhook set for all its wallets.
ALTER TABLE accounts ADD COLUMN webhook TEXT NOT NULL DEFAULT '';

-- How many attempts of the schedule an event has used up. Claims that came to nothing are none, and a redelivery begins anew.
ALTER TABLE events ADD COLUMN tries BIGINT NOT NULL DEFAULT 0;
UPDATE events SET tries = (SELECT COUNT(*) % 10 FROM attempts WHERE attempts.event = events.number) WHERE status = 'pending';
