-- +goose Up
-- A row of the log of acts names the request that it came by, and beside it the token of the form that was sent. Rows from
-- before keep their hash: one without a token is hashed as it was.
ALTER TABLE acts ADD COLUMN token TEXT NOT NULL DEFAULT '';
