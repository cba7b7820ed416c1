-- +goose Up
-- Who asked for a payment, as its order says: an operator by name, or the key of an account. Empty: not known.
ALTER TABLE withdrawals ADD COLUMN requested_by TEXT NOT NULL DEFAULT '';
ALTER TABLE resolutions ADD COLUMN requested_by TEXT NOT NULL DEFAULT '';
-- Who signed an approval: each person has one of each payment, the last. Empty: kept by an earlier version.
ALTER TABLE approvals ADD COLUMN person TEXT NOT NULL DEFAULT '';
