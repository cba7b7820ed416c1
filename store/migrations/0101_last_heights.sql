-- +goose Up
-- The last height at which an external spend can be included, as the transaction itself says (0: it names none, or the
-- chain does not show it), and the code that goes with it. What was recorded before has none.
ALTER TABLE external_spends ADD COLUMN last_height BIGINT NOT NULL DEFAULT 0;
ALTER TABLE external_spends ADD COLUMN last_height_seal BYTEA;
