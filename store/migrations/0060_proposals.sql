-- +goose Up
-- What one person asks for and others must approve before it is done.
CREATE TABLE proposals (
  id          BYTEA PRIMARY KEY,
  verb        TEXT NOT NULL,           -- what is to be done
  object      TEXT NOT NULL,           -- to what
  account_id  BYTEA,                   -- whose money; NULL: nobody's
  currency    TEXT NOT NULL,           -- empty: no money moves
  amount      TEXT NOT NULL,
  destination TEXT NOT NULL,
  detail      TEXT NOT NULL,           -- what else the verb needs
  reason      TEXT NOT NULL,
  need        BIGINT NOT NULL,         -- how many persons besides the proposer must approve
  person_id   BYTEA NOT NULL,          -- who proposed
  person      TEXT NOT NULL,
  token       BYTEA NOT NULL UNIQUE,   -- of the form: submitted again, it proposes nothing again
  hash        BYTEA NOT NULL,          -- SHA-256 of the canonical text
  status      TEXT NOT NULL,           -- pending, approved, executed, rejected, expired, void
  outcome     TEXT NOT NULL DEFAULT '',
  created_at  BIGINT NOT NULL,
  expires_at  BIGINT NOT NULL,
  ended_at    BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX proposals_open ON proposals(verb, object) WHERE status IN ('pending', 'approved');
CREATE INDEX proposals_listed ON proposals(created_at, id);

-- What persons said about proposals, each once.
CREATE TABLE proposal_votes (
  proposal  BYTEA NOT NULL REFERENCES proposals(id),
  person_id BYTEA NOT NULL,
  person    TEXT NOT NULL,
  approves  BOOLEAN NOT NULL,
  reason    TEXT NOT NULL,
  evidence  TEXT NOT NULL,             -- the assertion of the person's passkey over the text; may be empty
  at        BIGINT NOT NULL,
  PRIMARY KEY (proposal, person_id)
);
