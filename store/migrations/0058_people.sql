-- +goose Up
-- The people of the console. Roles and accounts are names and IDs, separated by commas; no accounts are all accounts.
CREATE TABLE people (
  id            BYTEA PRIMARY KEY,
  name          TEXT NOT NULL UNIQUE,
  roles         TEXT NOT NULL,            -- in force until changes_at
  accounts      TEXT NOT NULL,
  next_roles    TEXT NOT NULL,            -- in force from changes_at
  next_accounts TEXT NOT NULL,
  changes_at    BIGINT NOT NULL,          -- 0: no change waits
  created_at    BIGINT NOT NULL,
  revoked_at    BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE passkeys (
  id         BYTEA PRIMARY KEY,           -- of the credential
  person_id  BYTEA NOT NULL REFERENCES people(id),
  credential TEXT NOT NULL,               -- JSON: public key, counter, flags
  created_at BIGINT NOT NULL,
  used_at    BIGINT NOT NULL,
  removed_at BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX passkeys_person ON passkeys(person_id);

CREATE TABLE invitations (
  hash       BYTEA PRIMARY KEY,           -- SHA-256 of the token in the link
  person_id  BYTEA NOT NULL REFERENCES people(id),
  recovery   BOOLEAN NOT NULL,            -- the person's earlier passkeys end when it is used
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  used_at    BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE console_sessions (
  id         BYTEA PRIMARY KEY,
  hash       BYTEA NOT NULL UNIQUE,       -- SHA-256 of the cookie
  person_id  BYTEA NOT NULL REFERENCES people(id),
  address    TEXT NOT NULL,
  agent      TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  used_at    BIGINT NOT NULL,
  ended_at   BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX console_sessions_person ON console_sessions(person_id, created_at);

-- What people did. Each row carries the hash of the one before it.
CREATE TABLE acts (
  number     BIGINT PRIMARY KEY,          -- from 1, without gaps
  at         BIGINT NOT NULL,
  actor      TEXT NOT NULL,               -- the person's name, or the system user and host of a command
  person_id  BYTEA,                       -- NULL: a command
  session_id BYTEA,
  address    TEXT NOT NULL,
  verb       TEXT NOT NULL,
  object     TEXT NOT NULL,
  was        TEXT NOT NULL,
  became     TEXT NOT NULL,
  reason     TEXT NOT NULL,
  request    TEXT NOT NULL,
  evidence   TEXT NOT NULL,
  previous   BYTEA NOT NULL,              -- hash of the row before; zeros for the first
  hash       BYTEA NOT NULL UNIQUE
);
CREATE INDEX acts_actor ON acts(actor, number);
CREATE INDEX acts_object ON acts(object, number);
