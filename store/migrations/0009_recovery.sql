-- +goose Up
-- The token of the lease under which the follower has recorded up to a final block that was reported after that lease was
-- taken. Nothing is signed while it differs from the lease's own.
ALTER TABLE chains ADD COLUMN ready_token BIGINT NOT NULL DEFAULT 0;

-- Chains that recover: the database is, or may be, older than the chain. One row from the moment that this was noticed to the
-- moment that nothing of the forgotten time can enter a block any more and nothing is unclear.
CREATE TABLE recoveries (
  number       BIGSERIAL PRIMARY KEY,
  chain        TEXT NOT NULL,
  cause        TEXT NOT NULL,
  began_at     BIGINT NOT NULL,
  from_height  BIGINT NOT NULL DEFAULT -1, -- the newest block when the follower had caught up; -1: it has not yet
  blocks       BIGINT NOT NULL DEFAULT 0,  -- recorded above it
  until_height BIGINT NOT NULL DEFAULT -1, -- once this block is final, nothing that was signed before can enter a block
  released     BOOLEAN NOT NULL DEFAULT FALSE, -- an operator does not want to wait for that
  ended_at     BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX recoveries_open ON recoveries(chain) WHERE ended_at = 0;

-- Transactions from our addresses that this database did not make, with what they did. status: adopted (it is one of ours that
-- the database had forgotten), unclear (an operator says what it was), halted (a key may be in other hands), settled (an
-- operator has said so).
CREATE TABLE external_spends (
  number      BIGSERIAL PRIMARY KEY,
  chain       TEXT NOT NULL,
  tx_id       TEXT NOT NULL,
  base        TEXT NOT NULL,
  height      BIGINT NOT NULL,
  made_at     BIGINT NOT NULL,
  failed      BOOLEAN NOT NULL,
  fee         TEXT NOT NULL,
  claims      TEXT NOT NULL,
  payments    TEXT NOT NULL,
  spend_id    BYTEA,
  status      TEXT NOT NULL,
  reason      TEXT NOT NULL,
  booked      TEXT NOT NULL DEFAULT '', -- what no withdrawal explains is an operator's: loss or operator; '': nothing is left
  note        TEXT NOT NULL DEFAULT '',
  actor       TEXT NOT NULL DEFAULT '',
  resolved_at BIGINT NOT NULL DEFAULT 0,
  UNIQUE (chain, tx_id)
);
CREATE INDEX external_spends_status ON external_spends(status, chain, number);
CREATE INDEX external_spends_spend ON external_spends(spend_id);
CREATE INDEX external_spends_height ON external_spends(chain, height);

-- What a payment of the chain may have been meant for.
CREATE INDEX withdrawals_unfinished ON withdrawals(chain, base) WHERE completed_at = 0;
CREATE INDEX decisions_base ON decisions(chain, base);

-- Addresses that may have been given out and that the database has forgotten: what arrives there is unattributed.
CREATE TABLE gap_addresses (
  number    BIGSERIAL PRIMARY KEY,
  family    TEXT NOT NULL,
  key_index BIGINT NOT NULL,
  base      TEXT NOT NULL,
  UNIQUE (family, base)
);
