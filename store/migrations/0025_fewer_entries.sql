-- +goose Up
-- An index has only the rows that are looked for by it, so that what is written most has few entries to write: of a
-- transfer within the service, which is in no block and never pending, these had three.
DROP INDEX deposits_account;
CREATE INDEX deposits_account ON deposits(account_id) WHERE status = 'pending';
CREATE INDEX deposits_reversed ON deposits(account_id) WHERE reversals > 0;
DROP INDEX deposits_block;
CREATE INDEX deposits_block ON deposits(chain, height) WHERE height > 0;
DROP INDEX deposits_unsealed;
CREATE INDEX deposits_unsealed ON deposits(number) WHERE seal IS NULL AND height > 0;
DROP INDEX withdrawals_spend;
CREATE INDEX withdrawals_spend ON withdrawals(outgoing_id) WHERE outgoing_id IS NOT NULL;

-- The next deposits of a block that are due are found in their order, without the others of that block.
DROP INDEX deposits_pending;
CREATE INDEX deposits_pending ON deposits(chain, height, number) WHERE status = 'pending';

-- What waits for a second opinion is nearly always nothing.
CREATE INDEX deposits_opinions ON deposits(chain, base, height) WHERE status = 'pending' AND opinions > 0;
