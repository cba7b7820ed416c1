package solana

import (
	"fmt"
	"maps"
)

// Reorg replaces the last depth blocks, none of which may be finalized, by depth+1 others with the same transactions
// except the dropped ones, which are forgotten. Finality does not change.
func (n *Node) Reorg(depth int, drop []string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if most := len(n.bank.blocks) - 1 - n.bank.final; depth > most {
		return fmt.Errorf("reorg of %d blocks: only %d are not finalized, and finalized blocks are never replaced",
			depth, most)
	}
	return n.replaceBlocks(depth, drop)
}

// Rollback is Reorg that also replaces finalized blocks. No real node does that; it shows how a reader handles a node
// that has changed over to another chain.
func (n *Node) Rollback(depth int, drop []string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.replaceBlocks(depth, drop)
}

func (n *Node) replaceBlocks(depth int, drop []string) error {
	if err := n.journal.Err(); err != nil {
		return err
	}
	if depth < 1 || depth >= len(n.bank.blocks) {
		return fmt.Errorf("reorg of %d blocks: the chain has %d above its first", depth, len(n.bank.blocks)-1)
	}
	dropped := map[signature]bool{}
	for _, text := range drop {
		id, err := parseSignature(text)
		if err != nil {
			return fmt.Errorf("reorg: drop %.100q: %w", text, err)
		}
		dropped[id] = true
	}
	accounts, final := maps.Clone(n.bank.accounts), n.bank.final
	old := make([]*block, depth)
	for i := range depth {
		old[depth-1-i] = n.bank.pop()
	}
	steps := []step{{Roll: depth}}
	for i := range depth + 1 {
		plan := n.newPlan()
		var again []*included
		if i < depth {
			plan.Events, again = old[i].events, old[i].txs
		}
		x := n.bank.begin(plan)
		for _, t := range again {
			if dropped[t.id()] {
				continue
			}
			in, _, err := n.bank.offer(n.machine, x, t.transaction)
			if err != nil {
				n.bank.bringBack(old, i)
				n.bank.accounts, n.bank.final = accounts, final
				return fmt.Errorf("reorg: %w", err)
			}
			if in {
				plan.Txs = append(plan.Txs, t.raw)
			}
		}
		n.bank.end(x)
		steps = append(steps, step{Block: &plan})
	}
	n.pool.keep(func(t *transaction) bool { return !dropped[t.id()] })
	if err := n.record(append(steps, n.finalStep(), forget(dropped))...); err != nil {
		return err
	}
	n.describe(n.bank.blocks[len(n.bank.blocks)-depth-1:])
	return nil
}

// bringBack undoes a reorg that completed so many blocks, except for accounts and finality.
func (b *bank) bringBack(old []*block, made int) {
	for range made {
		b.pop()
	}
	for _, x := range old {
		b.push(x)
	}
}
