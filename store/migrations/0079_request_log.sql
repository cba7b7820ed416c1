-- +goose Up
-- What was asked of the API: neither parameters nor headers, nor from where. Rows are few and are removed after some days.
CREATE TABLE request_log (
  number     BIGSERIAL PRIMARY KEY,
  request_id BYTEA NOT NULL,              -- as in X-Request-ID
  at         BIGINT NOT NULL,
  account_id BYTEA,                       -- NULL: no key was taken
  key_id     BYTEA,
  method     TEXT NOT NULL,
  path       TEXT NOT NULL,               -- of an endpoint; empty: there is none at the path
  status     BIGINT NOT NULL,
  code       TEXT NOT NULL,               -- of a refusal; empty: a success
  micros     BIGINT NOT NULL,             -- until the response was written
  left_out   BIGINT NOT NULL              -- requests of the account that are not in the log, in the second before
);
CREATE INDEX request_log_account ON request_log(account_id, number);
