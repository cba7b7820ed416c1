package sim

import (
	"context"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// Head returns the newest block and the newest with enough confirmations.
func (c *Chain) Head(ctx context.Context) (chain.Head, error) {
	b, err := c.enterOn(ctx, Head, c.chosen)
	if err != nil {
		return chain.Head{}, err
	}
	defer c.mu.Unlock()
	return c.headOf(b), nil
}

// headOf returns the head of the chain as an endpoint shows it.
func (c *Chain) headOf(b *backend) chain.Head {
	blocks := c.seenThrough(b)
	head := chain.Head{Latest: blocks[len(blocks)-1].ref}
	final := len(blocks) - c.config.Confirmations
	if c.held {
		final = min(c.heldAt, len(blocks)-1)
	}
	if b.frozen != nil {
		final = min(final, b.final)
	}
	if final >= 0 {
		head.Final = blocks[final].ref
	}
	return head
}

// At returns the block at a height.
func (c *Chain) At(ctx context.Context, height uint64) (chain.BlockRef, error) {
	b, err := c.enterOn(ctx, At, c.chosen)
	if err != nil {
		return chain.BlockRef{}, err
	}
	defer c.mu.Unlock()
	blocks := c.seenThrough(b)
	switch {
	case height >= uint64(len(blocks)):
		return chain.BlockRef{}, fmt.Errorf("block at %d: %w", height, chain.ErrNoBlock)
	case height < c.pruned:
		return chain.BlockRef{}, fmt.Errorf("block at %d: %w", height, ErrPruned)
	}
	return blocks[height].ref, nil
}

// Find returns the block of a transaction.
func (c *Chain) Find(ctx context.Context, txID string) (chain.BlockRef, error) {
	if err := c.enter(ctx, Find); err != nil {
		return chain.BlockRef{}, err
	}
	defer c.mu.Unlock()
	height, known := c.where[txID]
	if !known || uint64(height) < c.pruned {
		return chain.BlockRef{}, fmt.Errorf("block of %s: %w", txID, chain.ErrNoBlock)
	}
	return c.blocks[height].ref, nil
}

// After returns the blocks that follow last. The watch is asked without a lock held, so it may call the chain.
func (c *Chain) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	blocks, err := c.blocksAfter(ctx, last, limit)
	if err != nil || len(blocks) == 0 {
		return nil, err
	}
	if err := watch.Sync(ctx); err != nil {
		return nil, fmt.Errorf("sync the watch: %w", err)
	}
	seen := make([]chain.Block, len(blocks))
	for i, b := range blocks {
		seen[i] = b.seenBy(watch)
	}
	return seen, nil
}

func (c *Chain) blocksAfter(ctx context.Context, last chain.BlockRef, limit int) ([]*block, error) {
	b, err := c.enterOn(ctx, After, c.chosen)
	if err != nil {
		return nil, err
	}
	defer c.mu.Unlock()
	blocks := c.seenThrough(b)
	switch {
	case last.Height >= uint64(len(blocks)) && (b.behind > 0 || b.frozen != nil):
		return nil, nil // an endpoint that is behind does not know the block
	case last.Height >= uint64(len(blocks)) || blocks[last.Height].ref != last:
		return nil, fmt.Errorf("blocks after %d: %w", last.Height, chain.ErrOffChain)
	}
	from := int(last.Height) + 1
	if from < len(blocks) && uint64(from) < c.pruned {
		return nil, fmt.Errorf("blocks after %d: %w", last.Height, ErrPruned)
	}
	return blocks[from:min(from+max(limit, 0), len(blocks)):len(blocks)], nil
}

func (c *Chain) onChain(ref chain.BlockRef) bool {
	return ref.Height < uint64(len(c.blocks)) && c.blocks[ref.Height].ref == ref
}

func (b *block) seenBy(watch chain.Watch) chain.Block {
	seen := chain.Block{Ref: b.ref, Parent: b.parent, Time: b.time}
	for _, e := range b.entries {
		before := len(seen.Transfers)
		seen.Spent = append(seen.Spent, e.spentFor(watch)...)
		if !e.failed {
			seen.Transfers = append(seen.Transfers, e.transfers(b.ref.Height, watch)...)
		}
		paid := len(seen.Transfers) > before && e.tx.makesUTXOs
		if paid {
			seen.Previous = append(seen.Previous, chain.PreviousTx{TxID: e.tx.id, Raw: e.tx.raw})
		}
		if watch.Sent(e.tx.id) {
			seen.Included = append(seen.Included, chain.Inclusion{
				TxID:      e.tx.id,
				Failed:    e.failed,
				Fee:       e.fee,
				Delivered: e.moved(),
			})
			continue
		}
		if paid {
			seen.Funding = append(seen.Funding, chain.Funding{TxID: e.tx.id, Inputs: slices.Clone(e.tx.resources)})
		}
		seen.ExternalSpends = append(seen.ExternalSpends, e.external(watch)...)
	}
	return seen
}

// spentFor returns the outputs that a block spent and that a watch asks about.
func (e *entry) spentFor(watch chain.Watch) (spent []chain.Spent) {
	asks, is := watch.(chain.OutputWatch)
	if !is || !asks.AsksSpends() {
		return nil
	}
	for _, resource := range e.tx.resources {
		if asks.Spends(resource) {
			spent = append(spent, chain.Spent{Outpoint: resource, TxID: e.tx.id})
		}
	}
	return spent
}

func (e *entry) transfers(height uint64, watch chain.Watch) []chain.Transfer {
	var transfers []chain.Transfer
	for i, payment := range e.tx.payments {
		if !watch.Pays(payment.Address.Base) || e.arrived(i).IsZero() && !payment.Amount.IsZero() {
			continue
		}
		transfer := chain.Transfer{
			TxID: e.tx.id, Output: uint32(i), Address: payment.Address, Contract: payment.Contract,
			Amount: e.arrived(i), Inferred: e.tx.inferred,
		}
		if e.tx.makesUTXOs {
			transfer.UTXO = e.tx.output(i)
		}
		if e.tx.maturity > 0 {
			transfer.CountsFrom = height + e.tx.maturity
		}
		transfers = append(transfers, transfer)
	}
	return transfers
}

// Holdings returns the balances of bases after a block, by undoing the blocks after it.
func (c *Chain) Holdings(
	ctx context.Context, bases []string, contract string, at chain.BlockRef,
) ([]bursar.Amount, error) {
	if err := c.enter(ctx, Holdings); err != nil {
		return nil, err
	}
	defer c.mu.Unlock()
	return c.holdings(bases, contract, at)
}

// holdings is Holdings with the chain locked.
func (c *Chain) holdings(bases []string, contract string, at chain.BlockRef) ([]bursar.Amount, error) {
	if !c.onChain(at) {
		return nil, fmt.Errorf("holdings at %d: %w", at.Height, chain.ErrOffChain)
	}
	received, paid := map[string]bursar.Amount{}, map[string]bursar.Amount{}
	for _, b := range c.blocks[at.Height+1:] {
		for _, e := range b.entries {
			for _, m := range e.moves {
				if m.contract == contract {
					received[m.to] = must(received[m.to].Add(m.amount))
					paid[m.from] = must(paid[m.from].Add(m.amount))
				}
			}
		}
	}
	held := make([]bursar.Amount, len(bases))
	for i, base := range bases {
		now := c.ledger.balance(holding{contract, base})
		held[i] = must(must(now.Add(paid[base])).Sub(received[base]))
	}
	return held, nil
}

// Balance returns the balance of a base in the newest block.
func (c *Chain) Balance(base, contract string) bursar.Amount {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ledger.balance(holding{contract, base})
}

// Heights returns the height of the newest final block, negative while there is none, and of the newest block.
func (c *Chain) Heights() (final int, latest uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.finalHeight(), c.tip().ref.Height
}

func (c *Chain) tip() *block { return c.blocks[len(c.blocks)-1] }

// finalHeight returns the height of the newest final block, negative while there is none.
func (c *Chain) finalHeight() int {
	if c.held {
		return c.heldAt
	}
	return len(c.blocks) - c.config.Confirmations
}

// final reports whether a height is final.
func (c *Chain) final(height int) bool { return height <= c.finalHeight() }
