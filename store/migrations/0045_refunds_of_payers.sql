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

-- The filters of lists of charges.
CREATE INDEX invoices_status ON invoices(account_id, status, number);
CREATE INDEX invoices_labelled ON invoices(account_id, number) WHERE labels <> '';
CREATE INDEX invoices_attention ON invoices(account_id, number) WHERE attention;
CREATE INDEX invoices_created ON invoices(account_id, created_at);
