-- +goose Up
-- A client's own name of a withdrawal, unique in its account, and what it wants to find with it: a JSON object of texts.
ALTER TABLE withdrawals ADD COLUMN reference TEXT NOT NULL DEFAULT '';
ALTER TABLE withdrawals ADD COLUMN metadata TEXT NOT NULL DEFAULT '';
