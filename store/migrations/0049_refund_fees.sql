-- +goose Up
-- What of a refund its recipient bore as the withdrawal's fee: the withdrawal paid amount less this.
ALTER TABLE invoice_refunds ADD COLUMN fee TEXT NOT NULL DEFAULT '0';
