package tron

import (
	"encoding/hex"
	"fmt"
)

// Reorg replaces the last depth blocks by depth+1 others with the same transactions, except the dropped ones. The
// solidified block stays: depth is at most the number of blocks above it.
func (n *Node) Reorg(depth int, drop []string) error {
	n.gate.Lock()
	defer n.gate.Unlock()
	if above := len(n.blocks) - 1 - n.solid; depth < 1 || depth > above {
		return fmt.Errorf("reorg of %d blocks: only %d are above the solidified one", depth, above)
	}
	dropped, err := n.chosen(depth, drop)
	if err != nil {
		return fmt.Errorf("reorg: %w", err)
	}
	solid := n.solid
	e := entry{Reorg: &reorgEntry{Depth: depth, Drop: drop, Time: n.clock()}}
	if err := n.journal.Append(e); err != nil {
		return fmt.Errorf("reorg: %w", err)
	}
	if err := n.reorg(depth, dropped, e.Reorg.Time); err != nil {
		return fmt.Errorf("reorg: %w", err)
	}
	n.announce(solid)
	return nil
}

// chosen turns ids into a set; each must be in the pool or in a replaced block.
func (n *Node) chosen(depth int, drop []string) (map[[32]byte]bool, error) {
	set := map[[32]byte]bool{}
	for _, text := range drop {
		raw, err := hex.DecodeString(text)
		if err != nil || len(raw) != 32 {
			return nil, fmt.Errorf("%.80q is not a transaction id", text)
		}
		id := [32]byte(raw)
		if p, mined := n.places[id]; !n.pooled[id] && (!mined || p.height < len(n.blocks)-depth) {
			return nil, fmt.Errorf("transaction %s is neither in the pool nor in a replaced block", text)
		}
		set[id] = true
	}
	return set, nil
}

func (n *Node) reorg(depth int, dropped map[[32]byte]bool, time int64) error {
	old := append([]*block{}, n.blocks[len(n.blocks)-depth:]...)
	n.blocks = n.blocks[:len(n.blocks)-depth]
	n.branch++
	var left []*transaction // what no longer fits into its block, and what waited
	for _, b := range old {
		var keep []*transaction
		for _, t := range b.txs {
			delete(n.places, t.id)
			if !dropped[t.id] {
				keep = append(keep, t.transaction)
			}
		}
		again, err := n.assemble(n.head(), max(b.time+1, n.head().time+1), keep)
		if err != nil {
			return err
		}
		n.adopt(again)
		for _, t := range keep {
			if _, placed := n.places[t.id]; !placed {
				left = append(left, t)
			}
		}
	}
	for _, t := range n.pool {
		if !dropped[t.id] {
			left = append(left, t)
		}
	}
	last, err := n.assemble(n.head(), max(time, n.head().time+1), nil)
	if err != nil {
		return err
	}
	n.adopt(last)
	n.pool = left
	n.solidify()
	return n.refresh()
}
