-- +goose Up
-- Templates of charges that payers use on a page: each visit that is submitted makes a charge.
CREATE TABLE payment_links (
  number     BIGINT PRIMARY KEY,       -- from the numbers of wallets
  id         BYTEA NOT NULL UNIQUE,
  account_id BYTEA NOT NULL REFERENCES accounts(id),
  token      BYTEA NOT NULL UNIQUE,    -- opens the page of the link
  terms      TEXT NOT NULL,            -- JSON: what each charge is made with
  fields     TEXT NOT NULL,            -- that a payer is asked for
  max_uses   BIGINT NOT NULL,          -- 0: no bound
  created_at BIGINT NOT NULL,
  closes_at  BIGINT NOT NULL,          -- 0: never
  closed_at  BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX payment_links_account ON payment_links(account_id, number);

ALTER TABLE invoices ADD COLUMN link_id BYTEA REFERENCES payment_links(id);
ALTER TABLE invoices ADD COLUMN answers TEXT NOT NULL DEFAULT '';
CREATE INDEX invoices_link ON invoices(link_id, status) WHERE link_id IS NOT NULL;
