package bitcoin

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/btcsuite/btcd/chainhash/v2"
)

// spent is an output that a transaction spent.
type spent struct {
	value  uint64
	height uint64 // of the block that created it
	script []byte
}

type inputInfo struct {
	TxID     string `json:"txid"`
	Output   uint32 `json:"vout"`
	Previous *struct {
		Height uint64  `json:"height"`
		Value  satoshi `json:"value"`
		Script struct {
			Hex string `json:"hex"`
		} `json:"scriptPubKey"`
	} `json:"prevout"`
}

// spentBy returns the output that each input of a transaction in a block spent. Bitcoin Core 25 and later reads them
// from its undo data; with other nodes, the transactions that created the UTXOs are looked up in the node's index and
// proven by their ids.
func (n Network) spentBy(ctx context.Context, node caller, tx *transaction, blockHash string) ([]spent, error) {
	var answer struct {
		Inputs []inputInfo `json:"vin"`
	}
	err := node.Call(ctx, "getrawtransaction", []any{tx.id.String(), 2, blockHash}, &answer)
	if err == nil {
		if outputs, ok := fromUndo(tx, answer.Inputs); ok {
			return outputs, nil
		}
	}
	if err != nil && !isAnswer(err) {
		return nil, err
	}
	outputs := make([]spent, len(tx.inputs))
	for i, in := range tx.inputs {
		if outputs[i], err = n.lookUp(ctx, node, in.from); err != nil {
			return nil, fmt.Errorf("look up %s: %w", in.from, err)
		}
	}
	return outputs, nil
}

func fromUndo(tx *transaction, inputs []inputInfo) ([]spent, bool) {
	if len(inputs) != len(tx.inputs) {
		return nil, false
	}
	outputs := make([]spent, len(inputs))
	for i, in := range inputs {
		if in.Previous == nil || in.TxID != tx.inputs[i].from.tx.String() || in.Output != tx.inputs[i].from.index {
			return nil, false
		}
		script, err := hex.DecodeString(in.Previous.Script.Hex)
		if err != nil {
			return nil, false
		}
		outputs[i] = spent{value: uint64(in.Previous.Value), height: in.Previous.Height, script: script}
	}
	return outputs, true
}

// lookUp finds an output through the node's index.
func (n Network) lookUp(ctx context.Context, node caller, point outpoint) (spent, error) {
	ref, err := find(ctx, node, point.tx.String())
	if err != nil {
		return spent{}, err
	}
	tx, err := n.rawTransaction(ctx, node, point.tx)
	if err != nil {
		return spent{}, err
	}
	if uint64(point.index) >= uint64(len(tx.outputs)) {
		return spent{}, fmt.Errorf("the transaction has only %d outputs", len(tx.outputs))
	}
	out := tx.outputs[point.index]
	return spent{value: out.value, height: ref.Height, script: out.script}, nil
}

// rawTransaction reads a transaction, proven by its id: from the node's mempool or index, or from a named block.
func (n Network) rawTransaction(
	ctx context.Context, node caller, id chainhash.Hash, block ...any,
) (transaction, error) {
	raw, err := callHex(ctx, node, "getrawtransaction", append([]any{id.String(), false}, block...)...)
	if err != nil {
		return transaction{}, err
	}
	tx, err := n.readTransaction(raw)
	if err != nil {
		return transaction{}, err
	}
	if tx.id != id {
		return transaction{}, fmt.Errorf("the node returned transaction %s instead of %s", tx.id, id)
	}
	return tx, nil
}
