package solana

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

const (
	// atOnce is how many accounts a node returns in one call.
	atOnce = 100
	// maxRewind is how many slots a node's state may be past the requested block for the difference to be reversed:
	// some seven minutes, in which a hundred thousand addresses and more are read.
	maxRewind = 1000
	// rewindAtOnce is how many of these blocks are in memory at a time while they are fetched.
	rewindAtOnce = 16
)

var errFarBehind = errors.New("the block is too far behind the node's final state, which has present balances only")

// Holdings requests balances from one node in its newest final state, since a node keeps no other, and reverses the
// effects of the blocks after the given one: the answer is exact for that block. It returns an error if the node's
// state is older than the block, more than 1,000 slots past it, or on another chain.
func (c *Chain) Holdings(
	ctx context.Context, bases []string, contract string, at chain.BlockRef,
) ([]bursar.Amount, error) {
	if contract != "" {
		return nil, fmt.Errorf("holdings of %.60q: %w", contract, bursar.ErrBadAddress)
	}
	for _, base := range bases {
		if _, err := parseKey(base); err != nil {
			return nil, fmt.Errorf("holdings of %.60q: %w", base, err)
		}
	}
	if len(bases) == 0 {
		return nil, nil
	}
	s, err := c.pin(ctx)
	if err != nil {
		return nil, fmt.Errorf("holdings: %w", err)
	}
	h := &holder{session: s, at: at, upTo: at, first: make(map[string]change, len(bases))}
	for _, base := range bases {
		h.first[base] = change{slot: never}
	}
	balances := make([]bursar.Amount, 0, len(bases))
	for len(bases) > 0 {
		n := min(len(bases), atOnce)
		lamports, err := h.holdings(ctx, bases[:n])
		if err != nil {
			return nil, fmt.Errorf("holdings at slot %d: %w", at.Height, err)
		}
		for _, amount := range lamports {
			balances = append(balances, bursar.Units(amount))
		}
		bases = bases[n:]
	}
	return balances, nil
}

// holder computes balances back to one block. Of the blocks that it has read after that one it keeps what they changed
// first at each requested address, and no block: a thousand of them would not fit in memory.
type holder struct {
	session *node
	at      chain.BlockRef
	upTo    chain.BlockRef // the last block that was read, or at
	first   map[string]change
}

// change is the first change of a balance after the requested block.
type change struct {
	slot   uint64 // never: there is none
	before uint64
}

const never = math.MaxUint64

var errBehind = errors.New("the node's final state is older than the block")

func (h *holder) holdings(ctx context.Context, bases []string) ([]uint64, error) {
	var found accounts
	ask := askAccounts(bases, finalized, &found)
	if err := h.session.Call(ctx, ask.Method, ask.Params, ask.Out); err != nil {
		return nil, err
	}
	if len(found.Value) != len(bases) {
		return nil, h.session.Fail(errAccounts)
	}
	slot := found.Context.Slot
	if slot < h.at.Height {
		return nil, h.session.Fail(fmt.Errorf("%w: slot %d", errBehind, slot))
	}
	if slot-h.at.Height > maxRewind {
		return nil, fmt.Errorf("%w: slot %d", errFarBehind, slot)
	}
	if err := h.read(ctx, slot); err != nil {
		return nil, err
	}
	lamports := make([]uint64, len(bases))
	for i, a := range found.Value {
		if first := h.first[bases[i]]; first.slot <= slot {
			lamports[i] = first.before
		} else if a != nil {
			lamports[i] = a.Lamports
		}
	}
	return lamports, nil
}

// read reads the blocks up to a slot.
func (h *holder) read(ctx context.Context, slot uint64) error {
	for h.upTo.Height < slot {
		slots, err := h.session.slotsAfter(ctx, h.upTo.Height, rewindAtOnce)
		for len(slots) > 0 && slots[len(slots)-1] > slot {
			slots = slots[:len(slots)-1]
		}
		if err == nil && len(slots) == 0 {
			err = errNothing
		}
		if err != nil {
			return err
		}
		line, err := follow(ctx, h.session, h.upTo, slots)
		if err != nil {
			return err
		}
		for _, b := range line {
			h.note(b)
		}
		h.upTo = line[len(line)-1].ref()
	}
	return nil
}

// note keeps what a block changed first.
func (h *holder) note(b held) {
	for i := range b.Txs {
		for _, a := range b.accountsOf(&b.Txs[i]) {
			if first, asked := h.first[a.base]; asked && first.slot == never {
				h.first[a.base] = change{b.slot, a.before}
			}
		}
	}
}
