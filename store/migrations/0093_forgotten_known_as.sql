-- +goose Up
-- A forgotten transaction that a block had before it could be put back is another outgoing transaction: this one.
ALTER TABLE forgotten_payments ADD COLUMN known_as BYTEA;
