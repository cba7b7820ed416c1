-- +goose Up
-- A code over what is signed again, with the key of the books, which the database does not know: a row that somebody else wrote
-- is not signed.
ALTER TABLE forgotten_spends ADD COLUMN seal BYTEA;
