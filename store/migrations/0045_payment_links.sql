-- +goose Up
-- How much of what a refund was worth was more than the charge needed: that counts no more, whatever else is reorged out.
ALTER TABLE invoice_refunds ADD COLUMN surplus TEXT NOT NULL DEFAULT '0';

-- How many payments a charge has, whether it had to leave some out, and since when it waits for a resolution.
ALTER TABLE invoices ADD COLUMN payments BIGINT NOT NULL DEFAULT 0;
ALTER TABLE invoices ADD COLUMN crowded BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE invoices ADD COLUMN attention_at BIGINT NOT NULL DEFAULT 0;
UPDATE invoices SET payments = (SELECT COUNT(*) FROM invoice_payments p WHERE p.invoice = invoices.number);
UPDATE invoices SET attention_at = created_at WHERE attention;

-- Where a payer wants the payments of a currency refunded to.
CREATE TABLE invoice_proposals (
  invoice  BIGINT NOT NULL REFERENCES invoices(number),
  currency TEXT NOT NULL,
  base     TEXT NOT NULL,
  memo     BIGINT NOT NULL,            -- -1: none
  at       BIGINT NOT NULL,
  changes  BIGINT NOT NULL,            -- how often the payer has named one
  PRIMARY KEY (invoice, currency)
);

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
