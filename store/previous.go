package store

import (
	"context"

	"github.com/bursar/bursar"
)

// PreviousTx is a transaction that made UTXOs of ours, without witnesses.
type PreviousTx struct {
	TxID string
	Raw  []byte
}

// PutPrevious keeps transactions that made UTXOs of ours. An ID is the hash of the bytes, so that one that is kept
// already stays; a reorg changes none either.
func (tx UTXOs) PutPrevious(ctx context.Context, chain bursar.ChainID, list ...PreviousTx) error {
	in := insertion{what: "keep previous transactions", table: "previous_txs", rows: len(list),
		after: ` ON CONFLICT (chain, tx_id) DO NOTHING`}
	for _, p := range list {
		in.add(values{
			{"chain", string(chain)},
			{"tx_id", p.TxID},
			{"raw", p.Raw},
		})
	}
	return tx.insertRows(ctx, in)
}

// Previous returns those of some transactions that are kept.
func (tx UTXOs) Previous(ctx context.Context, chain bursar.ChainID, txIDs []string) ([]PreviousTx, error) {
	return tx.previous(ctx, txIDs, chain, "read previous transactions", `SELECT tx_id, raw FROM previous_txs`)
}

// OwnPrevious returns those of some transactions that are ours as they were signed, with witnesses.
func (tx UTXOs) OwnPrevious(ctx context.Context, chain bursar.ChainID, txIDs []string) ([]PreviousTx, error) {
	return tx.previous(ctx, txIDs, chain, "read signed transactions", `SELECT tx_id, raw FROM outgoing_versions`)
}

func (tx UTXOs) previous(
	ctx context.Context, txIDs []string, chain bursar.ChainID, what, query string,
) (all []PreviousTx, err error) {
	for part := range parts(tx.Tx, txIDs) {
		those, args := among(tx.Tx, "tx_id", part, string(chain))
		found, err := rows(ctx, tx.Tx, what, func(s scanner) (p PreviousTx, err error) {
			err = s.Scan(&p.TxID, &p.Raw)
			return p, err
		}, query+` WHERE chain = $1 AND `+those, args...)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// PreviousSizes returns how many bytes those of some transactions have at most that Previous or OwnPrevious returns.
func (tx UTXOs) PreviousSizes(ctx context.Context, chain bursar.ChainID, txIDs []string) (map[string]int, error) {
	type size struct {
		txID  string
		bytes int
	}
	sizes := make(map[string]int, len(txIDs))
	for part := range parts(tx.Tx, txIDs) {
		those, args := among(tx.Tx, "tx_id", part, string(chain))
		found, err := rows(ctx, tx.Tx, "measure previous transactions", func(s scanner) (one size, err error) {
			err = s.Scan(&one.txID, &one.bytes)
			return one, err
		}, `SELECT tx_id, LENGTH(raw) FROM previous_txs WHERE chain = $1 AND `+those+`
			UNION ALL SELECT tx_id, LENGTH(raw) FROM outgoing_versions WHERE chain = $1 AND `+those+` AND LENGTH(raw) > 0`,
			args...)
		if err != nil {
			return nil, err
		}
		for _, one := range found {
			if least, is := sizes[one.txID]; !is || one.bytes < least { // the one without witnesses
				sizes[one.txID] = one.bytes
			}
		}
	}
	return sizes, nil
}

// Heights returns the heights of the blocks that those of some outputs stand in that are UTXOs of ours in a block.
func (tx UTXOs) Heights(ctx context.Context, chain bursar.ChainID, outputs []string) (map[string]uint64, error) {
	type place struct {
		outpoint string
		height   int64
	}
	heights := make(map[string]uint64, len(outputs))
	for part := range parts(tx.Tx, outputs) {
		those, args := among(tx.Tx, "resource", part, string(chain))
		found, err := rows(ctx, tx.Tx, "look up heights", func(s scanner) (p place, err error) {
			err = s.Scan(&p.outpoint, &p.height)
			return p, err
		}, `SELECT resource, height FROM utxos WHERE chain = $1 AND height > 0 AND `+those, args...)
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			heights[p.outpoint] = uint64(p.height)
		}
	}
	return heights, nil
}

// DropPrevious deletes those of some transactions of which no UTXO of ours is left that is not spent finally.
func (tx UTXOs) DropPrevious(ctx context.Context, chain bursar.ChainID, txIDs []string) error {
	for part := range parts(tx.Tx, txIDs) {
		those, args := among(tx.Tx, "tx_id", part, string(chain))
		_, err := tx.exec(ctx, "drop previous transactions", `DELETE FROM previous_txs WHERE chain = $1 AND `+those+`
			AND NOT EXISTS (SELECT 1 FROM utxos c WHERE c.chain = previous_txs.chain AND c.spent = FALSE
				AND substr(c.resource, 1, 64) = previous_txs.tx_id`+byItself+`)`, args...)
		if err != nil {
			return err
		}
	}
	return nil
}
