package bitcoin

import (
	"maps"
	"slices"

	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// utxo is one transaction output.
type utxo struct {
	value    int64 // satoshi
	script   []byte
	height   int32 // height of the block that created it; unconfirmedHeight in the mempool
	coinbase bool
}

// unconfirmedHeight marks outputs of mempool transactions.
const unconfirmedHeight int32 = -1

// utxoIndex follows the best chain: its unspent outputs by script, and the block of each transaction. btcd keeps the
// same outputs for validation but cannot list them.
type utxoIndex struct {
	unspent  map[wire.OutPoint]*utxo
	byScript map[string]map[wire.OutPoint]struct{}
	place    map[chainhash.Hash]chainhash.Hash // transaction → block, best chain only
	undo     map[chainhash.Hash]*blockUndo     // every block that was ever connected
}

// blockUndo is a connected block's transactions and the UTXOs that they spent, per transaction and input; the
// coinbase spent none.
type blockUndo struct {
	txs   []*btcutil.Tx
	spent [][]*utxo
}

func newUTXOIndex() *utxoIndex {
	return &utxoIndex{
		unspent: map[wire.OutPoint]*utxo{}, byScript: map[string]map[wire.OutPoint]struct{}{},
		place: map[chainhash.Hash]chainhash.Hash{}, undo: map[chainhash.Hash]*blockUndo{},
	}
}

func (x *utxoIndex) connect(block *btcutil.Block, height int32) {
	undo := &blockUndo{txs: block.Transactions(), spent: make([][]*utxo, len(block.Transactions()))}
	for i, tx := range undo.txs {
		if i > 0 {
			for _, in := range tx.MsgTx().TxIn {
				undo.spent[i] = append(undo.spent[i], x.unspent[in.PreviousOutPoint])
				x.remove(in.PreviousOutPoint)
			}
		}
		for out, txOut := range tx.MsgTx().TxOut {
			if !unspendable(txOut.PkScript) {
				x.add(wire.OutPoint{Hash: *tx.Hash(), Index: uint32(out)}, newUTXO(txOut, height, i == 0))
			}
		}
		x.place[*tx.Hash()] = *block.Hash()
	}
	x.undo[*block.Hash()] = undo
}

func (x *utxoIndex) disconnect(block *btcutil.Block) {
	undo := x.undo[*block.Hash()]
	for i, tx := range slices.Backward(undo.txs) {
		for out := range tx.MsgTx().TxOut {
			x.remove(wire.OutPoint{Hash: *tx.Hash(), Index: uint32(out)})
		}
		for in, c := range undo.spent[i] {
			x.add(tx.MsgTx().TxIn[in].PreviousOutPoint, c)
		}
		delete(x.place, *tx.Hash())
	}
}

// unspendable is CScript::IsUnspendable of bitcoind, whose UTXO set leaves such scripts out.
func unspendable(script []byte) bool {
	return (len(script) > 0 && script[0] == txscript.OP_RETURN) || len(script) > txscript.MaxScriptSize
}

func newUTXO(out *wire.TxOut, height int32, coinbase bool) *utxo {
	return &utxo{value: out.Value, script: out.PkScript, height: height, coinbase: coinbase}
}

func (x *utxoIndex) add(at wire.OutPoint, c *utxo) {
	x.unspent[at] = c
	points := x.byScript[string(c.script)]
	if points == nil {
		points = map[wire.OutPoint]struct{}{}
		x.byScript[string(c.script)] = points
	}
	points[at] = struct{}{}
}

func (x *utxoIndex) remove(at wire.OutPoint) {
	c := x.unspent[at]
	if c == nil {
		return
	}
	delete(x.unspent, at)
	points := x.byScript[string(c.script)]
	delete(points, at)
	if len(points) == 0 {
		delete(x.byScript, string(c.script))
	}
}

// of lists the unspent outputs that pay script, oldest first.
func (x *utxoIndex) of(script []byte) []wire.OutPoint {
	points := slices.Collect(maps.Keys(x.byScript[string(script)]))
	slices.SortFunc(points, func(a, b wire.OutPoint) int {
		if d := int(x.unspent[a].height) - int(x.unspent[b].height); d != 0 {
			return d
		}
		return compareOutPoints(a, b)
	})
	return points
}

func compareOutPoints(a, b wire.OutPoint) int {
	if d := slices.Compare(a.Hash[:], b.Hash[:]); d != 0 {
		return d
	}
	return int(a.Index) - int(b.Index)
}

// blockTxs are the transactions of a block that was connected at some time, without its coinbase.
func (x *utxoIndex) blockTxs(block chainhash.Hash) []*btcutil.Tx {
	undo := x.undo[block]
	if undo == nil {
		return nil
	}
	return undo.txs[1:]
}
