-- +goose Up
-- The words of docs/glossary.md. A replica of an earlier version that still runs fails at its next statement, and writes nothing.
ALTER TABLE coins RENAME COLUMN claim TO resource;
ALTER TABLE coins RENAME TO utxos;
ALTER TABLE claims RENAME COLUMN claim TO resource;
ALTER TABLE claims RENAME COLUMN spend_id TO outgoing_id;
ALTER TABLE claims RENAME TO reservations;
ALTER TABLE used_outputs RENAME COLUMN claim TO resource;
ALTER TABLE moved_claims RENAME COLUMN claim TO resource;
ALTER TABLE moved_claims RENAME COLUMN from_spend TO from_outgoing;
ALTER TABLE moved_claims RENAME COLUMN to_spend TO to_outgoing;
ALTER TABLE moved_claims RENAME TO moved_reservations;
ALTER TABLE external_spends RENAME COLUMN claims TO reservations;
ALTER TABLE external_spends RENAME COLUMN spend_id TO outgoing_id;
ALTER TABLE forgotten_spends RENAME COLUMN spend_id TO outgoing_id;
ALTER TABLE forgotten_spends RENAME TO forgotten_payments;
ALTER TABLE withdrawals RENAME COLUMN spend_id TO outgoing_id;
ALTER TABLE decisions RENAME COLUMN spend_id TO outgoing_id;
ALTER TABLE decisions RENAME TO resolutions;
ALTER TABLE spend_txs RENAME COLUMN spend_id TO outgoing_id;
ALTER TABLE spend_txs RENAME TO outgoing_versions;
ALTER TABLE spends RENAME TO outgoing_txs;
