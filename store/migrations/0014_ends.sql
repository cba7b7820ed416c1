-- +goose Up
-- What the transactions used up that brought UTXOs of ours. Where one left the best chain, a final transaction that uses one of
-- its inputs otherwise proves that it can never come back. height: of its block; -1 after its block left the chain.
CREATE TABLE fundings (
  chain  TEXT NOT NULL,
  tx_id  TEXT NOT NULL,
  input  TEXT NOT NULL,
  height BIGINT NOT NULL,
  PRIMARY KEY (chain, tx_id, input)
);
CREATE INDEX fundings_height ON fundings(chain, height);
-- Which transactions of others, in recorded blocks, used UTXOs of ours or such an input.
CREATE TABLE used_outputs (
  chain  TEXT NOT NULL,
  claim  TEXT NOT NULL,
  tx_id  TEXT NOT NULL,
  height BIGINT NOT NULL,
  PRIMARY KEY (chain, claim, tx_id)
);
CREATE INDEX used_outputs_height ON used_outputs(chain, height);
-- What the block of an outgoing transaction proves that it delivered, as JSON; empty where its success is proof enough.
ALTER TABLE spends ADD COLUMN delivered TEXT NOT NULL DEFAULT '';
