-- +goose Up
-- Why nothing of a scope is signed: all, chain:<chain>, currency:<code> or account:<id>. Several kinds may halt one scope at
-- once, and each ends by itself; ref tells two of one kind apart.
CREATE TABLE halts (
  number BIGSERIAL PRIMARY KEY,
  scope  TEXT NOT NULL,
  kind   TEXT NOT NULL,
  ref    TEXT NOT NULL DEFAULT '',
  reason TEXT NOT NULL,
  actor  TEXT NOT NULL DEFAULT '',
  at     BIGINT NOT NULL,
  UNIQUE (scope, kind, ref)
);
