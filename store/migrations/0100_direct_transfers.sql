-- +goose Up
-- Entries of the kind direct_transfer have links that an earlier version takes for invalid: it would halt all payments again
-- and again. What it needs to book and to audit has another name now, so that it does neither.
ALTER TABLE link_head RENAME COLUMN hash TO newest;
