package sim

import (
	"context"
	"fmt"

	"github.com/bursar/bursar/chain"
)

var _ chain.NonceReader = (*Chain)(nil)

// NonceAt implements chain.NonceReader.
func (c *Chain) NonceAt(ctx context.Context, base string, at chain.BlockRef) (uint64, error) {
	if err := c.enter(ctx, NonceAt); err != nil {
		return 0, err
	}
	defer c.mu.Unlock()
	if !c.onChain(at) {
		return 0, fmt.Errorf("nonce of %s at %d: %w", base, at.Height, chain.ErrOffChain)
	}
	next := c.ledger.nonces[base]
	for _, b := range c.blocks[at.Height+1:] {
		for _, e := range b.entries {
			if e.tx.numbered() && !e.tx.unnumbered && e.tx.payer == base {
				next = min(next, e.tx.nonce)
			}
		}
	}
	return next, nil
}
