package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/bursar/bursar/chain"
)

var _ chain.EndpointReader = (*Chain)(nil)

// backend is the node behind one endpoint: it shows the whole chain unless a fault is set.
type backend struct {
	endpoint chain.Endpoint
	down     bool
	hangs    chan struct{} // closed when it answers again; nil: it does not hang
	behind   int
	frozen   []*block // the chain as it was when it was frozen
	final    int      // the final height then
	fork     uint64   // the height from which it shows other blocks; 0: no fork
	forged   map[uint64][]*entry
	censored map[string]bool
}

// Endpoints returns Config.Endpoints.
func (c *Chain) Endpoints() []chain.Endpoint {
	list := make([]chain.Endpoint, len(c.backends))
	for i, b := range c.backends {
		list[i] = b.endpoint
	}
	return list
}

// HeadOn is Head through one endpoint.
func (c *Chain) HeadOn(ctx context.Context, endpoint string) (chain.Head, error) {
	b, err := c.enterOn(ctx, Head, c.named(endpoint))
	if err != nil {
		return chain.Head{}, err
	}
	defer c.mu.Unlock()
	return c.headOf(b), nil
}

// BlockOn reads a block through one endpoint.
func (c *Chain) BlockOn(ctx context.Context, endpoint string, height uint64, watch chain.Watch) (chain.Block, error) {
	b, err := c.enterOn(ctx, BlockOn, c.named(endpoint))
	if err != nil {
		return chain.Block{}, err
	}
	blocks, pruned := c.seenThrough(b), c.pruned
	c.mu.Unlock()
	switch {
	case height >= uint64(len(blocks)):
		return chain.Block{}, fmt.Errorf("block at %d: %w", height, chain.ErrNoBlock)
	case height < pruned:
		return chain.Block{}, fmt.Errorf("block at %d: %w", height, ErrPruned)
	}
	if err := watch.Sync(ctx); err != nil {
		return chain.Block{}, fmt.Errorf("sync the watch: %w", err)
	}
	return blocks[height].seenBy(watch), nil
}

// Down makes an endpoint answer every query with ErrNode, or answer again.
func (c *Chain) Down(endpoint string, down bool) {
	c.control(endpoint, func(b *backend) { b.down = down })
}

// Hang makes an endpoint leave every query unanswered until its context ends or the endpoint answers again; then
// unanswered queries fail with ErrNode.
func (c *Chain) Hang(endpoint string, hangs bool) {
	c.control(endpoint, func(b *backend) {
		b.release()
		if hangs {
			b.hangs = make(chan struct{})
		}
	})
}

func (b *backend) release() {
	if b.hangs != nil {
		close(b.hangs)
		b.hangs = nil
	}
}

// Behind makes an endpoint lack the newest n blocks.
func (c *Chain) Behind(endpoint string, n int) {
	c.control(endpoint, func(b *backend) { b.behind = n })
}

// Freeze makes an endpoint keep showing the chain as it is now, whatever is mined, replaced and made final, or show it
// as it really is again.
func (c *Chain) Freeze(endpoint string, freeze bool) {
	c.control(endpoint, func(b *backend) {
		if b.frozen = nil; freeze {
			b.frozen, b.final = slices.Clone(c.blocks), c.finalHeight()
		}
	})
}

// Fork makes an endpoint show other blocks with the same contents from a height on; 0 ends it.
func (c *Chain) Fork(endpoint string, height uint64) {
	c.control(endpoint, func(b *backend) { b.fork = height })
}

// Forge makes an endpoint report a payment of outsiders in a block, under the block's true hash, that is not in it. It
// returns the payment's id.
func (c *Chain) Forge(endpoint string, height uint64, payment chain.Payment) string {
	return c.forge(endpoint, height, payment, false)
}

// ForgeInferred is Forge with a payment that is seen as a difference of balances only.
func (c *Chain) ForgeInferred(endpoint string, height uint64, payment chain.Payment) string {
	return c.forge(endpoint, height, payment, true)
}

func (c *Chain) forge(endpoint string, height uint64, payment chain.Payment, inferred bool) (id string) {
	c.control(endpoint, func(b *backend) {
		tx := &transaction{
			payments:   []chain.Payment{payment},
			outside:    true,
			inferred:   inferred,
			makesUTXOs: c.config.Spending == chain.UTXOModel,
		}
		c.name(tx, "forged")
		id = tx.id
		b.forged[height] = append(b.forged[height], &entry{tx: tx})
	})
	return id
}

// Censor makes an endpoint leave transactions out of their blocks, under the blocks' true hashes.
func (c *Chain) Censor(endpoint string, txIDs ...string) {
	c.control(endpoint, func(b *backend) {
		for _, id := range txIDs {
			b.censored[id] = true
		}
	})
}

// Heal ends all faults of an endpoint.
func (c *Chain) Heal(endpoint string) {
	c.control(endpoint, func(b *backend) {
		b.release()
		*b = newBackend(b.endpoint)
	})
}

// Rotate makes every query that names no endpoint go to the next one, as a load balancer does, or again to the first
// that is not down.
func (c *Chain) Rotate(rotate bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rotates = rotate
}

// Prune makes all endpoints lack the blocks below a height, as pruned nodes do.
func (c *Chain) Prune(height uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pruned = height
}

func newBackend(e chain.Endpoint) backend {
	return backend{endpoint: e, forged: map[uint64][]*entry{}, censored: map[string]bool{}}
}

func (c *Chain) control(endpoint string, change func(*backend)) {
	b := c.named(endpoint)()
	if b == nil {
		panic("sim: there is no endpoint " + endpoint)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	change(b)
}

// named returns an endpoint by its name. The list of endpoints never changes.
func (c *Chain) named(endpoint string) func() *backend {
	return func() *backend {
		for i := range c.backends {
			if c.backends[i].endpoint.Name == endpoint {
				return &c.backends[i]
			}
		}
		return nil
	}
}

// chosen returns the endpoint that answers the next query. The chain must be locked.
func (c *Chain) chosen() *backend {
	if c.rotates {
		c.turn++
		return &c.backends[c.turn%len(c.backends)]
	}
	for i := range c.backends {
		if !c.backends[i].down {
			return &c.backends[i]
		}
	}
	return &c.backends[0]
}

// enterOn is enter for a query to one endpoint: without an error the chain is locked.
func (c *Chain) enterOn(ctx context.Context, method Method, which func() *backend) (*backend, error) {
	if err := c.admit(ctx, method); err != nil {
		return nil, err
	}
	b := which()
	switch {
	case b == nil:
		c.mu.Unlock()
		return nil, fmt.Errorf("%s: there is no such endpoint", method)
	case b.down:
		c.mu.Unlock()
		return nil, fmt.Errorf("%s at %s: %w", method, b.endpoint.Name, ErrNode)
	case b.hangs != nil:
		released := b.hangs
		c.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%s at %s: %w", method, b.endpoint.Name, ctx.Err())
		case <-released:
			return nil, fmt.Errorf("%s at %s: %w", method, b.endpoint.Name, ErrNode)
		}
	}
	return b, nil
}

// seenThrough returns the chain as an endpoint shows it.
func (c *Chain) seenThrough(b *backend) []*block {
	blocks := c.blocks
	if b.frozen != nil {
		blocks = b.frozen
	}
	blocks = blocks[:max(1, len(blocks)-b.behind):max(1, len(blocks)-b.behind)]
	if b.fork == 0 && len(b.forged) == 0 && len(b.censored) == 0 {
		return blocks
	}
	blocks = slices.Clone(blocks)
	for height := range blocks {
		blocks[height] = b.twisted(blocks, uint64(height))
	}
	return blocks
}

// twisted returns the block at a height as the endpoint shows it, on top of the blocks that it was already applied to.
func (b *backend) twisted(blocks []*block, height uint64) *block {
	shown := *blocks[height]
	if b.fork > 0 && height >= b.fork {
		hash := sha256.Sum256([]byte("fork of " + b.endpoint.Name + " " + shown.ref.Hash))
		shown.ref.Hash = hex.EncodeToString(hash[:])
	}
	if height > 0 {
		shown.parent = blocks[height-1].ref.Hash
	}
	shown.entries = slices.DeleteFunc(slices.Clone(shown.entries), func(e *entry) bool { return b.censored[e.tx.id] })
	shown.entries = append(shown.entries, b.forged[height]...)
	return &shown
}
