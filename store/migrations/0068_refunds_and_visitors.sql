-- +goose Up
-- What of a refund its recipient bore as the withdrawal's fee: the withdrawal paid amount less this.
ALTER TABLE invoice_refunds ADD COLUMN fee TEXT NOT NULL DEFAULT '0';

-- From where the open charges of payment links were made, so that one network does not hold all of a link's room. Rows
-- are removed once their charge has had its time.
CREATE TABLE link_visits (
  invoice BIGINT PRIMARY KEY REFERENCES invoices(number),
  link_id BYTEA NOT NULL,
  visitor TEXT NOT NULL,   -- hashes of the caller's networks, the widest first, with / between them
  until   BIGINT NOT NULL
);
CREATE INDEX link_visits_link ON link_visits(link_id);
CREATE INDEX link_visits_until ON link_visits(until);
