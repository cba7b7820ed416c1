-- +goose Up
-- Since when the hot wallet of an earlier epoch holds what is worth a deposit: a row for each such wallet and asset while
-- it does. A process that ends forgets it, and the alarm about it comes after a day.
CREATE TABLE old_hot_held (
  chain    TEXT NOT NULL,
  base     TEXT NOT NULL,
  contract TEXT NOT NULL,
  since    BIGINT NOT NULL,
  PRIMARY KEY (chain, base, contract)
);
