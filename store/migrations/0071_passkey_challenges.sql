-- +goose Up
-- Challenges that passkeys have to answer. They are few and end after minutes; any replica takes the answer, once.
CREATE TABLE passkey_challenges (
  id         BYTEA PRIMARY KEY,
  data       TEXT NOT NULL,               -- JSON: the challenge and what its answer is judged by
  person_id  BYTEA,                       -- whose passkey is made; NULL: somebody signs in
  invitation BYTEA,                       -- hash of the invitation that makes it
  session_id BYTEA,                       -- in which another passkey is made
  expires_at BIGINT NOT NULL
);
CREATE INDEX passkey_challenges_expiry ON passkey_challenges(expires_at, id);
