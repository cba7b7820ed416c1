package ethereum

import (
	"fmt"
	"slices"
	"sort"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

// Reorg replaces the last depth blocks by depth+1 others. They carry the same transactions in the same blocks and
// order, those of third parties included, except the dropped ones (transaction hashes), which leave the pool too. A
// transaction that cannot be included without a dropped one goes back to the pool. The last new block is empty.
//
// Depth may reach past the finalized block, which a real network does not do: the tags then keep their heights and
// name the new blocks. Reorg fails and changes nothing if a hash to drop is in neither the replaced blocks nor the
// pool.
func (n *Node) Reorg(depth int, drop []string) error {
	n.gate.Lock()
	defer n.gate.Unlock()
	if err := n.reorg(depth, drop); err != nil {
		return fmt.Errorf("reorg of %d blocks: %w", depth, err)
	}
	return nil
}

func (n *Node) reorg(depth int, drop []string) error {
	if err := n.journal.Err(); err != nil {
		return err
	}
	if err := n.eth.TxPool().Sync(); err != nil {
		return err
	}
	old, err := n.last(depth)
	if err != nil {
		return err
	}
	left := n.pooled()
	for _, block := range old {
		left = append(left, block.Transactions()...)
	}
	dropped, err := chosen(drop, left)
	if err != nil {
		return err
	}
	left = slices.DeleteFunc(left, func(tx *types.Transaction) bool { return dropped[tx.Hash()] })
	head, err := n.rebuild(old, dropped)
	if err != nil {
		return err
	}
	if err := n.keep(left); err != nil { // before the blocks go: no transaction may be lost
		return err
	}
	return n.switchTo(head, left)
}

// last returns the last count canonical blocks, oldest first. Genesis stays.
func (n *Node) last(count int) ([]*types.Block, error) {
	height := n.chain.CurrentBlock().Number.Uint64()
	if count < 1 || uint64(count) > height {
		return nil, fmt.Errorf("the chain has only %d blocks to replace", height)
	}
	first := height - uint64(count) + 1
	if frozen, _ := n.eth.ChainDb().Ancients(); first < frozen { // go-ethereum freezes blocks that are 90,000 deep
		return nil, fmt.Errorf("block %d is frozen", first)
	}
	blocks := make([]*types.Block, 0, count)
	for number := first; number <= height; number++ {
		blocks = append(blocks, n.chain.GetBlockByNumber(number))
	}
	return blocks, nil
}

// chosen turns the hashes to drop into a set; each must be one of the given transactions.
func chosen(drop []string, txs []*types.Transaction) (map[common.Hash]bool, error) {
	known := make(map[common.Hash]bool, len(txs))
	for _, tx := range txs {
		known[tx.Hash()] = true
	}
	set := make(map[common.Hash]bool, len(drop))
	for _, text := range drop {
		raw, err := hexutil.Decode(text)
		if err != nil || !known[common.BytesToHash(raw)] {
			return nil, fmt.Errorf("transaction %q is neither pooled nor in the replaced blocks", text)
		}
		set[common.BytesToHash(raw)] = true
	}
	return set, nil
}

// rebuild stores the replacing blocks and returns the last. The head has not changed yet.
func (n *Node) rebuild(old []*types.Block, dropped map[common.Hash]bool) (*types.Block, error) {
	parent := n.chain.GetHeaderByHash(old[0].ParentHash())
	for _, block := range old {
		keep := make([]*types.Transaction, 0, len(block.Transactions()))
		for _, tx := range block.Transactions() {
			if !dropped[tx.Hash()] {
				keep = append(keep, tx)
			}
		}
		again, err := n.buildPossible(parent, block.Time(), keep)
		if err != nil {
			return nil, err
		}
		parent = again.Header()
	}
	return n.build(parent, n.clock(), contents{})
}

// buildPossible builds a block of those transactions that can still be included. The builder reports that one cannot
// be included, but not which: it is the last one of the shortest list that fails.
func (n *Node) buildPossible(parent *types.Header, time uint64, txs []*types.Transaction) (*types.Block, error) {
	for {
		block, err := n.build(parent, time, contents{txs: txs})
		if err == nil {
			return block, nil
		}
		bad := sort.Search(len(txs), func(i int) bool {
			_, err := n.buildBlock(parent, time, contents{txs: txs[:i+1]})
			return err != nil
		})
		if bad == len(txs) {
			return nil, err // not the fault of a transaction
		}
		txs = slices.Delete(txs, bad, bad+1)
	}
}

// switchTo makes head canonical, moves the tags to the new blocks of their heights, and puts the transactions that
// the new chain does not have into the pool.
func (n *Node) switchTo(head *types.Block, left []*types.Transaction) error {
	final, safe := n.chain.CurrentFinalBlock().Number.Uint64(), n.chain.CurrentSafeBlock().Number.Uint64()
	if err := n.adopt(head); err != nil {
		return err
	}
	if err := n.setTags(final, safe); err != nil {
		return err
	}
	n.eth.TxPool().Clear() // geth has put the dropped ones back into the pool
	n.refill(left)
	return n.eth.ChainDb().SyncKeyValue()
}
