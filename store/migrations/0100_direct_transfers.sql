-- +goose Up
-- Entries of the kind direct_transfer have links that an earlier version takes for invalid: it must not start any more.
SELECT 1;
