-- +goose Up
-- share says out of whose part of a step an outgoing transaction is worked on: withdrawal, refund, top_up or sweep. once
-- names what may be open only once, such as the top-up of one address; it is given up when the transaction ends. turn orders
-- those that are not drafted yet: what was looked at in vain goes behind the others. waits_for says what an order lacks
-- (funds, fee, inputs or gas), lacks the currency, missing how much, and needed what it takes of that currency altogether.
ALTER TABLE spends ADD COLUMN share TEXT NOT NULL DEFAULT 'withdrawal';
ALTER TABLE spends ADD COLUMN once TEXT;
ALTER TABLE spends ADD COLUMN turn BIGINT NOT NULL DEFAULT 0;
ALTER TABLE spends ADD COLUMN waits_for TEXT NOT NULL DEFAULT '';
ALTER TABLE spends ADD COLUMN lacks TEXT NOT NULL DEFAULT '';
ALTER TABLE spends ADD COLUMN missing TEXT NOT NULL DEFAULT '0';
ALTER TABLE spends ADD COLUMN needed TEXT NOT NULL DEFAULT '0';
UPDATE spends SET share = 'top_up' WHERE kind = 'gas_top_up';
UPDATE spends SET share = 'sweep' WHERE kind = 'sweep';
UPDATE spends SET share = 'refund' WHERE EXISTS (SELECT 1 FROM decisions d WHERE d.spend_id = spends.id);

CREATE UNIQUE INDEX spends_once ON spends(chain, once) WHERE once IS NOT NULL;
CREATE INDEX spends_new ON spends(chain, share, currency, turn, number) WHERE status = 'new';
CREATE INDEX spends_under_way ON spends(chain, share, height, number) WHERE height = 0 AND status <> 'new' AND status <> 'final' AND status <> 'abandoned';
CREATE INDEX spends_lacking ON spends(chain) WHERE status = 'new' AND waits_for <> '' AND share <> 'sweep';
CREATE INDEX spends_base ON spends(chain, base, height) WHERE status <> 'final' AND status <> 'abandoned';
CREATE INDEX withdrawals_waiting ON withdrawals(chain, currency, number) WHERE status = 'queued' AND spend_id IS NULL;
CREATE INDEX holdings_largest ON holdings(chain, contract, LENGTH(amount) DESC, amount DESC) WHERE due = TRUE;
CREATE INDEX spends_sweeps ON spends(chain, currency, height) WHERE share = 'sweep' AND height = 0 AND status <> 'final' AND status <> 'abandoned';
CREATE INDEX spends_failed_sweeps ON spends(chain, base) WHERE failed = TRUE AND share = 'sweep';
CREATE INDEX spends_fees_under_way ON spends(chain) WHERE status <> 'new' AND status <> 'final' AND status <> 'abandoned' AND own_fee <> '0';
