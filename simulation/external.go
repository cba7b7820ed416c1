package main

import (
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/replicas"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// external is a thief with the hot wallet's key. Where transactions expire, every other one of theirs does too, later
// than one of ours or earlier.
func (h *history) external(e Event) {
	c := h.chain(e.A)
	hot := h.Hot(c.Capabilities().ID).Base
	if c.Balance(hot, "").Less(bursar.Units(2 * replicas.Unit)) {
		return
	}
	thief := bursar.Address{Base: c.Named(fmt.Sprint("thief ", e.B))}
	last := uint64(0)
	if !c.Capabilities().Lifetime.IsZero() && e.C%2 == 1 {
		_, latest := c.Heights()
		last = latest + 1 + uint64(e.C/2%64)
	}
	id := c.ExternalExpiring(hot, last, chain.Payment{Address: thief, Amount: bursar.Units(replicas.Unit / 2)})
	h.externals[c.Capabilities().ID] = append(h.externals[c.Capabilities().ID], id)
	h.stolen++
	h.log("  %s is an external spend", id)
}

// settleExternal resumes the chains that an external spend has halted, as `bursar chain resume` does: the operator
// bears the loss. One that is not final yet stays halted, and so does what may have paid an order that was altered.
func (h *history) settleExternal() {
	for _, c := range h.Chains {
		id := c.Capabilities().ID
		book, err := h.process(0).Service.Assessor(id)
		h.fail(err)
		err = h.process(0).Change(h.ctx, func(tx *store.Tx) error {
			state, err := tx.Chains().Lock(h.ctx, id)
			if err != nil {
				return err
			}
			halts, err := tx.Halts().Of(h.ctx, store.HaltChain(id))
			if err != nil || !halted(halts, store.HaltByExternalSpend) {
				return err
			}
			taken, err := book.TakeAll(h.ctx, tx, state.Final, recovery.Answer{Rest: store.UsedUpAsLoss, Actor: "operator"})
			if err != nil {
				return err
			}
			h.log("  %d external spends of %s are settled", len(taken), id)
			_, err = tx.Halts().Lift(h.ctx, store.HaltChain(id), store.HaltByExternalSpend, "")
			return err
		})
		waits := errors.Is(err, recovery.ErrNotFinal) ||
			h.edited != nil && errors.Is(err, store.ErrAltered) // until the operator has mended the row
		if !waits {
			h.fail(err)
		}
	}
}

func halted(halts []store.Halt, kind store.HaltKind) bool {
	for _, halt := range halts {
		if halt.Kind == kind {
			return true
		}
	}
	return false
}
