package ethereum

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rlp"

	"github.com/bursar/bursar/sandbox/nodes/host"
)

// rlpStrings is the format of the pool's journal: raw transactions, each as one RLP string.
type rlpStrings struct{}

// Encode appends a raw transaction.
func (rlpStrings) Encode(b, raw []byte) ([]byte, error) {
	encoded, err := rlp.EncodeToBytes(raw)
	return append(b, encoded...), err
}

// Next decodes the first one.
func (rlpStrings) Next(b []byte) (raw []byte, size int, err error) {
	raw, rest, err := rlp.SplitString(b)
	if errors.Is(err, rlp.ErrValueTooLarge) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = host.ErrTorn
	}
	return raw, len(b) - len(rest), err
}

// openPool opens the journal that keeps the pool over restarts, and refills the pool. A transaction is written before
// the pool accepts it. One that the pool refuses, now or at the next start, does no harm; each block rewrites the file.
func (n *Node) openPool(ctx context.Context) error {
	var pooled []*types.Transaction
	var err error
	n.journal, err = host.OpenJournal(ctx, n.host, "pool.rlp", rlpStrings{}, func(raw []byte) error {
		if tx := new(types.Transaction); tx.UnmarshalBinary(raw) == nil {
			pooled = append(pooled, tx)
		}
		return nil
	})
	if err != nil {
		return err
	}
	n.refill(pooled)
	return nil
}

// keep writes the pool's journal again with these transactions.
func (n *Node) keep(txs []*types.Transaction) error {
	raws := make([][]byte, len(txs))
	for i, tx := range txs {
		var err error
		if raws[i], err = tx.MarshalBinary(); err != nil {
			return fmt.Errorf("encode transaction %v: %w", tx.Hash(), err)
		}
	}
	return n.journal.Replace(raws)
}
