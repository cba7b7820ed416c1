-- +goose Up
-- Limits of withdrawals that operators set within those of the configuration.
CREATE TABLE limit_rules (
  scope    TEXT NOT NULL,   -- 'all', or 'account:' and the ID of one
  currency TEXT NOT NULL,
  kind     TEXT NOT NULL,   -- 'maximum', or 'approval': what is larger is refused, or waits for an approval
  amount   TEXT NOT NULL,
  set_at   BIGINT NOT NULL,
  actor    TEXT NOT NULL,
  reason   TEXT NOT NULL,
  PRIMARY KEY (scope, currency, kind)
);
