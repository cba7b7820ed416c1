package bitcoin

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// maxRewind is how many blocks the tip may be ahead of the block that Holdings is asked for.
const maxRewind = 1000

var errManyBases = errors.New("more than 100,000 addresses")

// Holdings scans all unspent outputs, which takes a mainnet node a minute or more and works for one caller at a time.
// Nodes can scan at their tip only, so Holdings reads the blocks after at and reverses what they created and spent: the
// answer is exact for at. It returns an error if at is not on the node's best chain, or more than 1,000 blocks below
// its tip.
func (c *Chain) Holdings(
	ctx context.Context, bases []string, contract string, at chain.BlockRef,
) ([]bursar.Amount, error) {
	if contract != "" {
		return nil, fmt.Errorf("holdings: %w: this chain has no contracts", bursar.ErrBadAddress)
	}
	if len(bases) == 0 {
		return nil, nil
	}
	balances, err := c.holdings(ctx, bases, at)
	if err != nil {
		return nil, fmt.Errorf("holdings at %d: %w", at.Height, err)
	}
	amounts := make([]bursar.Amount, len(bases))
	for i, base := range bases {
		amounts[i] = bursar.Units(balances[base])
	}
	return amounts, nil
}

func (c *Chain) holdings(ctx context.Context, bases []string, at chain.BlockRef) (map[string]uint64, error) {
	if len(bases) > 100_000 {
		return nil, errManyBases
	}
	balances := make(map[string]uint64, len(bases))
	var descriptors []string
	for _, base := range bases {
		if err := c.Followable(base); err != nil {
			return nil, err
		}
		if _, twice := balances[base]; !twice {
			balances[base] = 0
			descriptors = append(descriptors, "addr("+base+")")
		}
	}
	s, err := c.scanner.Pin(ctx)
	if err != nil {
		return nil, err
	}
	tip, err := c.addUnspent(ctx, s, descriptors, at.Height, balances)
	if err != nil {
		return nil, err
	}
	if tip.Height < at.Height || tip.Height-at.Height > maxRewind {
		return nil, fmt.Errorf("the node is at block %d, more than 1,000 blocks ahead or behind", tip.Height)
	}
	return balances, c.addRewound(ctx, s, at, tip, balances)
}

type unspentOutputs struct {
	Success bool   `json:"success"`
	Height  uint64 `json:"height"`
	Best    string `json:"bestblock"`
	Outputs []struct {
		Script string  `json:"scriptPubKey"`
		Amount satoshi `json:"amount"`
		Height uint64  `json:"height"`
	} `json:"unspents"`
}

// addUnspent adds the outputs that are unspent at the tip and were created at or below a height, and returns that tip.
func (c *Chain) addUnspent(
	ctx context.Context, s *rpc.Session, descriptors []string, height uint64, balances map[string]uint64,
) (chain.BlockRef, error) {
	var scan unspentOutputs
	if err := s.Call(ctx, "scantxoutset", []any{"start", descriptors}, &scan); err != nil {
		return chain.BlockRef{}, err
	}
	if !scan.Success || !isHash(scan.Best) {
		return chain.BlockRef{}, errors.New("the node did not finish its scan")
	}
	for _, out := range scan.Outputs {
		if out.Height > height {
			continue
		}
		script, err := hex.DecodeString(out.Script)
		if err != nil {
			return chain.BlockRef{}, fmt.Errorf("script of an unspent output: %w", err)
		}
		base, err := c.network.base(script)
		if err != nil {
			return chain.BlockRef{}, err
		}
		if _, asked := balances[base]; !asked {
			return chain.BlockRef{}, fmt.Errorf("the node returned address %s, which was not requested", base)
		}
		balances[base] += uint64(out.Amount)
	}
	return chain.BlockRef{Height: scan.Height, Hash: scan.Best}, nil
}

// addRewound adds the outputs that existed at a block and were spent between it and the tip, and proves by parent links
// that the block is on the tip's chain.
func (c *Chain) addRewound(ctx context.Context, s *rpc.Session, at, tip chain.BlockRef,
	balances map[string]uint64) error {
	last := at.Hash
	for height := at.Height + 1; height <= tip.Height; {
		blocks, err := c.fetch(ctx, s, height, int(min(maxInMemory, tip.Height-height+1)))
		if err != nil {
			return err
		}
		if len(blocks) == 0 {
			return chain.ErrOffChain
		}
		for _, b := range blocks {
			if b.parent.String() != last {
				return chain.ErrOffChain
			}
			err := c.addSpent(ctx, s, b, at.Height, balances)
			last = b.hash.String()
			c.release(b)
			if err != nil {
				return err
			}
		}
		height += uint64(len(blocks))
	}
	if last != tip.Hash {
		return chain.ErrOffChain
	}
	return nil
}

// addSpent adds the UTXOs that a block spent from the given addresses and that were created at or below a height.
func (c *Chain) addSpent(ctx context.Context, s *rpc.Session, b *block, height uint64,
	balances map[string]uint64) error {
	places, err := c.spenders(b, balances)
	if err != nil {
		return err
	}
	for _, place := range places {
		tx, err := b.transaction(place)
		if err != nil {
			return err
		}
		outputs, err := c.network.spentBy(ctx, s, &tx, b.hash.String())
		if err != nil {
			return fmt.Errorf("UTXOs spent by %s: %w", tx.id, err)
		}
		for _, output := range outputs {
			if output.height > height {
				continue
			}
			base, err := c.network.base(output.script)
			if _, asked := balances[base]; err == nil && asked {
				balances[base] += output.value
			}
		}
	}
	return nil
}

// spenders returns the places of a block's transactions that show a key or a witness script of a requested address.
func (c *Chain) spenders(b *block, balances map[string]uint64) (places []int, err error) {
	bases := newBaseEncoder(c.network.HRP)
	for _, key := range b.keys {
		if _, asked := balances[bases.encode(key.hash)]; asked && !slices.Contains(places, key.tx) {
			places = append(places, key.tx)
		}
	}
	if !c.network.hasScripts(balances) {
		return places, nil
	}
	for place := range b.places {
		tx, err := b.transaction(place)
		if err != nil {
			return nil, err
		}
		for _, in := range tx.inputs {
			if len(in.script) == 0 || slices.Contains(places, place) {
				continue
			}
			base, err := c.network.base(witnessOf(in.script))
			if _, asked := balances[base]; err == nil && asked {
				places = append(places, place)
			}
		}
	}
	return places, nil
}

// hasScripts reports whether an address is of another form than P2WPKH.
func (n Network) hasScripts(balances map[string]uint64) bool {
	for base := range balances {
		if _, err := n.keyHash(base); err != nil {
			return true
		}
	}
	return false
}
