-- +goose Up
-- What operators decided about value that fits no wallet. The unique index is the promise that a deposit is decided once:
-- only a return that failed makes room for another decision.
CREATE TABLE decisions (
  number       BIGSERIAL PRIMARY KEY,
  id           BYTEA NOT NULL UNIQUE,
  deposit_id   BYTEA NOT NULL REFERENCES deposits(id),
  chain        TEXT NOT NULL,
  currency     TEXT NOT NULL,
  kind         TEXT NOT NULL,
  status       TEXT NOT NULL,
  note         TEXT NOT NULL,
  account_id   BYTEA REFERENCES accounts(id),
  wallet_id    BYTEA REFERENCES wallets(id),
  base         TEXT NOT NULL,
  memo         BIGINT NOT NULL,
  amount       TEXT NOT NULL,
  fee          TEXT NOT NULL,
  spend_id     BYTEA REFERENCES spends(id),
  tx_id        TEXT NOT NULL DEFAULT '',
  error        TEXT NOT NULL DEFAULT '',
  decided_at   BIGINT NOT NULL,
  completed_at BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX decisions_once ON decisions(deposit_id) WHERE status <> 'failed';
CREATE INDEX decisions_deposit ON decisions(deposit_id, number);
CREATE INDEX decisions_queued ON decisions(chain, number) WHERE status = 'queued';
CREATE INDEX decisions_spend ON decisions(spend_id);
CREATE INDEX deposits_unattributed ON deposits(number) WHERE purpose = 'unattributed';
