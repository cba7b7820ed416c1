-- +goose Up
-- Outgoing transactions that were signed and that this database has forgotten, by the journal outside it. Each is signed again,
-- which gives the very same transaction, and put back.
CREATE TABLE forgotten_spends (
  chain       TEXT NOT NULL,
  number      BIGINT NOT NULL,           -- of the signature
  spend_id    BYTEA NOT NULL,
  content     TEXT NOT NULL,             -- what the journal says of it
  sure        BOOLEAN NOT NULL,          -- nobody else can have signed another one that pays the same
  error       TEXT NOT NULL DEFAULT '',  -- why it could not be signed again yet
  noted_at    BIGINT NOT NULL,
  put_back_at BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (chain, number)
);
CREATE INDEX forgotten_spends_waiting ON forgotten_spends(chain, number) WHERE put_back_at = 0;

-- Whether the journal explains every signature that the database has forgotten: then nothing has to be waited for.
ALTER TABLE recoveries ADD COLUMN journaled BOOLEAN NOT NULL DEFAULT FALSE;
