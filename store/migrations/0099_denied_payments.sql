-- +goose Up
-- An operator's word that an external spend did not pay a withdrawal: what that withdrawal is held for.
CREATE TABLE denied_payments (
  withdrawal_id BYTEA NOT NULL REFERENCES withdrawals(id),
  external      BIGINT NOT NULL REFERENCES external_spends(number),
  note          TEXT NOT NULL,
  actor         TEXT NOT NULL,
  denied_at     BIGINT NOT NULL,
  PRIMARY KEY (withdrawal_id, external)
);
