package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar/chain"
)

// Mine adds n blocks and returns the newest. The first includes all waiting transactions that pay enough.
func (c *Chain) Mine(n int) chain.BlockRef {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range n {
		c.appendBlock(c.waiting, c.going)
	}
	return c.tip().ref
}

// appendBlock makes the next block of all candidates that can be included at a rate, in as many rounds as the
// dependencies between them need.
func (c *Chain) appendBlock(candidates []*transaction, rate uint64) {
	height := len(c.blocks)
	b := &block{ref: chain.BlockRef{Height: uint64(height)}, time: c.timeOf(height), rate: rate}
	for found := true; found; {
		found = false
		var later []*transaction
		for _, tx := range candidates {
			if c.beaten(tx) {
				later = append(later, tx)
				continue
			}
			e, err := c.ledger.include(tx, uint64(height), rate)
			if errors.Is(err, errWaits) {
				later = append(later, tx)
				continue
			}
			found = true
			b.entries = append(b.entries, e)
			c.where[tx.id], c.seen[tx.id] = height, tx
			for _, resource := range tx.resources {
				c.used[resource] = height
			}
		}
		candidates = later
	}
	c.seal(b)
	c.settlePool(b)
}

// beaten reports whether another transaction of outsiders has spent what this one would spend.
func (c *Chain) beaten(tx *transaction) bool {
	if !tx.outside {
		return false
	}
	for _, resource := range tx.resources {
		if _, used := c.used[resource]; used {
			return true
		}
	}
	return false
}

// seal gives a block its hash and makes it the newest.
func (c *Chain) seal(b *block) {
	if len(c.blocks) > 0 {
		b.parent = c.tip().ref.Hash
	}
	c.made++
	hash := sha256.New()
	fmt.Fprintf(hash, "block %s %d %s %d %d", c.config.ID, c.config.Seed, b.parent, b.ref.Height, c.made)
	for _, e := range b.entries {
		fmt.Fprintf(hash, " %s", e.tx.id)
	}
	b.ref.Hash = hex.EncodeToString(hash.Sum(nil))
	c.blocks = append(c.blocks, b)
	c.announce()
}

// settlePool removes transactions from the mempool that are in the new block, conflict with it or have expired.
func (c *Chain) settlePool(b *block) {
	c.waiting = slices.DeleteFunc(c.waiting, func(tx *transaction) bool {
		_, included := c.where[tx.id]
		return included || tx.expires != 0 && tx.expires <= b.ref.Height
	})
	var resources []string
	for _, e := range b.entries {
		resources = append(resources, e.tx.resources...)
	}
	c.evict(resources)
}

// timeOf returns a block's time: its height times Pace after a fixed day, or the present time if that is later.
func (c *Chain) timeOf(height int) time.Time {
	start := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	at := start.Add(time.Duration(height) * c.config.Pace)
	if c.config.Now == nil {
		return at
	}
	if now := c.config.Now(); now.After(at) {
		at = now
	}
	if height > 0 && c.tip().time.After(at) {
		at = c.tip().time
	}
	return at
}

// Reorg replaces the last depth blocks by depth+1 others with the same transactions, each one block later on a chain
// without expiry. Dropped ones are gone as if they had never been sent, and so are transactions that depend on them;
// Restore brings them back.
func (c *Chain) Reorg(depth int, drop ...string) chain.BlockRef {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reorg(depth, nil, drop)
}

// ReorgBack is Reorg, and a transaction that an earlier reorg dropped is included in the first of the new blocks.
func (c *Chain) ReorgBack(depth int, back string, drop ...string) chain.BlockRef {
	c.mu.Lock()
	defer c.mu.Unlock()
	tx, known := c.dropped[back]
	if !known {
		panic("sim: no reorg dropped " + back)
	}
	delete(c.dropped, back)
	return c.reorg(depth, []*transaction{tx}, drop)
}

func (c *Chain) reorg(depth int, first []*transaction, drop []string) chain.BlockRef {
	if depth < 1 || depth >= len(c.blocks) {
		panic(fmt.Sprintf("sim: a reorg of %d blocks in a chain of %d", depth, len(c.blocks)))
	}
	replaced := c.rollBack(depth)
	if c.config.Expiry == 0 {
		replaced = append([]*block{{}}, replaced...)
	} else {
		replaced = append(replaced, &block{})
	}
	for i, old := range replaced {
		var again []*transaction
		if i == 0 {
			again = first
		}
		for _, e := range old.entries {
			if !slices.Contains(drop, e.tx.id) {
				again = append(again, e.tx)
			}
		}
		c.appendBlock(again, old.rate) // a transaction that paid enough once pays enough again
	}
	for _, old := range replaced {
		for _, e := range old.entries {
			if _, included := c.where[e.tx.id]; !included {
				c.dropped[e.tx.id] = e.tx
				c.evict(e.tx.outputs())
			}
		}
	}
	return c.tip().ref
}

// Restore puts transactions that a reorg dropped back into the mempool.
func (c *Chain) Restore(txIDs ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, txID := range txIDs {
		tx, known := c.dropped[txID]
		if !known {
			panic("sim: no reorg dropped " + txID)
		}
		delete(c.dropped, txID)
		if !c.knows(txID) {
			c.waiting = append(c.waiting, tx)
		}
	}
}

// Dropped reports whether a reorg dropped a transaction that Restore can bring back.
func (c *Chain) Dropped(txID string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, is := c.dropped[txID]
	return is
}

// rollBack removes the newest blocks from the chain and undoes them.
func (c *Chain) rollBack(depth int) []*block {
	from := len(c.blocks) - depth
	gone := slices.Clone(c.blocks[from:])
	for i := len(gone) - 1; i >= 0; i-- {
		for j := len(gone[i].entries) - 1; j >= 0; j-- {
			e := gone[i].entries[j]
			c.ledger.undo(e)
			delete(c.where, e.tx.id)
			for _, resource := range e.tx.resources {
				delete(c.used, resource)
			}
		}
	}
	c.blocks = slices.Clone(c.blocks[:from]) // readers may still use the old ones
	return gone
}
