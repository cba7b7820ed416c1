package tron

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// history is the effect of the blocks after a given one on some addresses.
type history struct {
	at    chain.BlockRef
	token *address
	of    map[address]bool
	steps []step
}

// step is one block of a history.
type step struct {
	ref chain.BlockRef
	movements
}

func newHistory(at chain.BlockRef, q balanceQuestion) *history {
	h := &history{at: at, token: q.token, of: make(map[address]bool, len(q.of))}
	for _, a := range q.of {
		h.of[a] = true
	}
	return h
}

// top returns the last block of the history.
func (h *history) top() chain.BlockRef {
	if len(h.steps) == 0 {
		return h.at
	}
	return h.steps[len(h.steps)-1].ref
}

// window is how many blocks a history has in memory: a block with its results takes up to 2 MB.
const window = 20

// extend reads the blocks up to a given one, a window at a time, and keeps their effects on the addresses.
func (h *history) extend(ctx context.Context, s *rpc.Session, to chain.BlockRef) error {
	if to.Height-h.at.Height > rewindable {
		return fmt.Errorf("%w: %d blocks", errTooOld, to.Height-h.at.Height)
	}
	for h.top().Height < to.Height {
		top := h.top()
		blocks, err := fetchRange(ctx, s, top.Height+1, int(min(window, to.Height-top.Height)), to.Height)
		if err != nil {
			return err
		}
		if len(linked(top.Hash, blocks)) < len(blocks) {
			return errMoved
		}
		for _, b := range blocks {
			m := movements{token: h.token, of: h.of, in: map[address]bursar.Amount{}, out: map[address]bursar.Amount{}}
			if err := m.block(b); err != nil {
				return s.Fail(fmt.Errorf("block %d: %w", b.height(), err))
			}
			h.steps = append(h.steps, step{b.ref(), m})
		}
	}
	return nil
}

// rewind reverses the effects of the blocks up to now on a balance.
func (h *history) rewind(balance bursar.Amount, a address, now chain.BlockRef) (bursar.Amount, error) {
	if now.Height == h.at.Height {
		return balance, nil
	}
	steps := h.steps[:now.Height-h.at.Height]
	if steps[len(steps)-1].ref != now {
		return balance, errMoved
	}
	var in, out bursar.Amount
	var err error
	for _, st := range steps {
		if in, err = in.Add(st.in[a]); err != nil {
			return balance, err
		}
		if out, err = out.Add(st.out[a]); err != nil {
			return balance, err
		}
	}
	before, err := balance.Add(out)
	if err != nil {
		return balance, err
	}
	return before.Sub(in)
}
