package bitcoin

import (
	"fmt"

	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
)

// Reorg replaces the last depth blocks by depth+1 others, as a stronger miner would. The new blocks pay another
// address and hold the transactions of the old ones, block by block, except those in drop (transaction ids) and their
// descendants, and whatever spends a replaced coinbase. Dropped transactions and their descendants also leave the
// mempool. Readers see the old chain or the new one, nothing in between.
func (n *Node) Reorg(depth int, drop []string) error {
	dropped := map[chainhash.Hash]bool{}
	for _, id := range drop {
		hash, err := chainhash.NewHashFromStr(id)
		if err != nil {
			return fmt.Errorf("reorg: transaction id %q: %w", id, err)
		}
		dropped[*hash] = true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if depth < 1 || depth > int(n.tip().height) {
		return fmt.Errorf("reorg: depth %d with a chain of height %d", depth, n.tip().height)
	}
	if err := n.checkDropped(depth, dropped); err != nil {
		return fmt.Errorf("reorg: %w", err)
	}
	if err := n.reorg(depth, dropped); err != nil {
		return fmt.Errorf("reorg of %d blocks: %w", depth, err)
	}
	return nil
}

// checkDropped refuses a transaction that the reorg cannot drop; without the check the call would look successful.
func (n *Node) checkDropped(depth int, dropped map[chainhash.Hash]bool) error {
	for hash := range dropped {
		if n.pool.IsTransactionInPool(&hash) {
			continue
		}
		block, ok := n.utxos.place[hash]
		if !ok || n.blocks[block].height <= n.tip().height-int32(depth) {
			return fmt.Errorf("transaction %v is neither in the last %d blocks nor in the mempool", hash, depth)
		}
	}
	return nil
}

func (n *Node) reorg(depth int, dropped map[chainhash.Hash]bool) error {
	var old []*blockInfo // lowest first
	for at := n.tip(); len(old) < depth; at = at.parent {
		old = append([]*blockInfo{at}, old...)
	}
	script := n.otherScript(old[0].hash)
	planned := make([]blockDraft, depth+1)
	lost := n.lostOutputs(old, dropped)
	for i, b := range old {
		planned[i] = n.keep(b.hash, lost)
	}
	parent := old[0].parent
	var steps []step
	for _, d := range planned {
		d.parent, d.script = parent, script
		block, err := n.build(d)
		if err != nil {
			return err
		}
		s, err := n.solveAndAccept(block)
		if err != nil {
			return err
		}
		steps = append(steps, s)
		parent = n.blocks[block.BlockHash()]
	}
	for hash := range dropped {
		n.evict(hash)
		steps = append(steps, step{stepEvict, hash[:]})
	}
	return n.record(steps...)
}

// otherScript is the wallet's script that the coinbase of a block does not pay.
func (n *Node) otherScript(block chainhash.Hash) []byte {
	if undo := n.utxos.undo[block]; string(undo.txs[0].MsgTx().TxOut[0].PkScript) == string(n.wallet.scripts[1]) {
		return n.wallet.scripts[0]
	}
	return n.wallet.scripts[1]
}

// lostOutputs are the transactions whose outputs the new branch will not have: dropped ones and the old coinbases.
func (n *Node) lostOutputs(old []*blockInfo, dropped map[chainhash.Hash]bool) map[chainhash.Hash]bool {
	lost := map[chainhash.Hash]bool{}
	for hash := range dropped {
		lost[hash] = true
	}
	for _, b := range old {
		lost[*n.utxos.undo[b.hash].txs[0].Hash()] = true
	}
	return lost
}

// keep prepares the successor of an old block. Transactions that spend a lost output are lost too.
func (n *Node) keep(block chainhash.Hash, lost map[chainhash.Hash]bool) blockDraft {
	undo := n.utxos.undo[block]
	var d blockDraft
	for i, tx := range undo.txs[1:] {
		if lost[*tx.Hash()] || spendsAny(tx, lost) {
			lost[*tx.Hash()] = true
			continue
		}
		d.txs = append(d.txs, tx)
		for _, c := range undo.spent[i+1] {
			d.fees += c.value
		}
		for _, out := range tx.MsgTx().TxOut {
			d.fees -= out.Value
		}
	}
	return d
}

func spendsAny(tx *btcutil.Tx, of map[chainhash.Hash]bool) bool {
	for _, in := range tx.MsgTx().TxIn {
		if of[in.PreviousOutPoint.Hash] {
			return true
		}
	}
	return false
}
