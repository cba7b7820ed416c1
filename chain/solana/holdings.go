package solana

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

const (
	// atOnce is how many accounts a node returns in one call.
	atOnce = 100
	// maxRewind is how many slots a node's state may be past the requested block for the difference to be reversed.
	maxRewind = 64
	// rewindAtOnce is how many of these blocks are in memory at a time while they are fetched.
	rewindAtOnce = 16
)

// Holdings requests balances from one node in its newest final state, since a node keeps no other, and reverses the
// effects of the blocks after the given one. If the state is more than 64 slots past that block, it is returned as it
// is: the amounts are then those of some moment after the block, and become exact when a newer block is requested.
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
	h := &holder{session: s, at: at, upTo: at}
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

// holder computes balances back to one block. It keeps the blocks that it has read after that one.
type holder struct {
	session *node
	at      chain.BlockRef
	upTo    chain.BlockRef // the last of line, or at
	line    []held
}

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
	lamports := make([]uint64, len(bases))
	places := make(map[string][]int, len(bases))
	for i, a := range found.Value {
		if a != nil {
			lamports[i] = a.Lamports
		}
		places[bases[i]] = append(places[bases[i]], i)
	}
	if slot-h.at.Height > maxRewind {
		return lamports, nil
	}
	if err := h.read(ctx, slot); err != nil {
		return nil, err
	}
	return lamports, h.rewind(slot, places, lamports)
}

// read extends the line to a slot.
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
		more, err := follow(ctx, h.session, h.upTo, slots)
		if err != nil {
			return err
		}
		h.line = append(h.line, more...)
		h.upTo = more[len(more)-1].ref()
	}
	return nil
}

// rewind sets every account to its balance before the first transaction of the line, up to a slot, that changed it.
func (h *holder) rewind(slot uint64, places map[string][]int, lamports []uint64) error {
	done := map[string]bool{}
	for _, b := range h.line {
		if b.slot > slot {
			break
		}
		for i := range b.Txs {
			for _, a := range b.accountsOf(&b.Txs[i]) {
				if done[a.base] {
					continue
				}
				for _, place := range places[a.base] {
					lamports[place], done[a.base] = a.before, true
				}
			}
		}
	}
	return nil
}
