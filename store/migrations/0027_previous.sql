-- +goose NO TRANSACTION
-- +goose Up
-- The transactions that made UTXOs of ours, without witnesses: their IDs are the hashes of these bytes. The signer
-- believes no amount that they do not prove. A row whose UTXOs are all spent finally is deleted. What is missing, such
-- as those of before this migration, is read from a node when it is needed.
CREATE TABLE IF NOT EXISTS previous_txs (
  chain TEXT NOT NULL,
  tx_id TEXT NOT NULL,
  raw   BYTEA NOT NULL,
  PRIMARY KEY (chain, tx_id)
);

-- The unspent outputs of a transaction: an ID has 64 characters.
DROP INDEX CONCURRENTLY IF EXISTS utxos_unspent_of;
CREATE INDEX CONCURRENTLY utxos_unspent_of ON utxos(chain, substr(resource, 1, 64)) WHERE spent = FALSE;
