package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/replicas"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// restRounds bounds how long a history may take to come to rest.
const restRounds = 150

// rest ends all faults, and lets everything in progress come to its end.
func (h *history) rest() {
	h.log("REST")
	h.resting, h.SignerAway, h.Receivers.Well, h.Screener.Well = true, false, true, true
	for i := range h.Processes {
		h.Processes[i].Kill()
	}
	h.Scheduler.Tick()
	h.fail(h.paceHolds())
	h.Unlimit() // the operator raises what is larger than any hourly limit
	for _, c := range h.Chains {
		h.heal(c)
		c.Rotate(false)
		c.SetRate(5)
		for _, o := range h.orders {
			if o.currency.Chain == c.Capabilities().ID {
				c.Open(o.to.Base)
			}
		}
	}
	for i := range h.Processes {
		h.start(i)
	}
	h.Clock.Advance(3 * time.Hour)
	for _, c := range h.Chains {
		h.takeLease(0, c)
	}
	h.calmTokens()
	h.fund()
	h.mendEdit()
	for round := range restRounds {
		if h.failure != nil {
			return
		}
		over := h.settle(round)
		h.sum()
		if over {
			return
		}
	}
	h.fail(fmt.Errorf("the simulated service does not come to rest: %s", h.unfinished()))
}

// fund makes the operator pay what reorgs and fees have cost.
func (h *history) fund() {
	for _, currency := range h.Registry.All() {
		c := h.Chain(currency.Chain)
		h.pay(c, bursar.Address{Base: h.Hot(currency.Chain).Base}, currency.Contract, 1000*replicas.Unit)
	}
}

// settle makes every worker do once what is due, and reports whether nothing is left.
func (h *history) settle(round int) bool {
	for _, r := range append([]*request(nil), h.open...) {
		h.send(0, r, nil)
	}
	h.resumeAll()
	h.approveAll()
	h.keepAll()
	h.releaseAll()
	h.explainAll()
	h.endHeld()
	h.abandonLost(round)
	h.giveUpForgotten(round)
	for _, c := range h.Chains {
		c.Mine(2)
		p := h.leaseHolder(c)
		h.screens(p, c)
		for _, worker := range []replicas.Worker{replicas.Follower, replicas.Quorum, replicas.Follower,
			replicas.Sender, replicas.Sweeper} {
			h.step(p, c, worker, nil)
		}
	}
	h.hooks(h.process(0), nil)
	h.audit(Event{})
	h.Clock.Advance(time.Duration(20+round*round*10) * time.Second)
	h.fail(h.Scheduler.Drain(func() { h.Clock.Advance(20 * time.Second) }))
	return round > 1 && len(h.open)+len(h.held) == 0 && h.unfinished() == ""
}

// keepAll makes the operator keep what came to a shared address without a tag, because operator funds arrive like
// that.
func (h *history) keepAll() {
	for _, d := range h.unattributed(false) {
		if h.Chain(d.Chain).Capabilities().SharedAddress && !d.Address.HasMemo && d.Status == bursar.DepositConfirmed {
			_, err := h.process(0).Service.Unattributed.Keep(h.ctx, d.ID, "")
			h.log("  keep %s: %v", d.ID, err)
		}
	}
}

func (h *history) approveAll() {
	list, err := h.process(0).Service.Withdrawals.List(h.ctx, bursar.ID{}, store.Page{Limit: 1000})
	h.fail(err)
	for _, w := range list {
		if w.Status == bursar.WithdrawalPendingApproval {
			_, err := h.process(0).Service.Withdrawals.Approve(h.ctx, w.ID)
			h.log("  approve %s: %v", w.ID, err)
		}
		if w.CompletedAt.IsZero() && h.frozen(w.AccountID) {
			_, err := h.process(0).Service.Withdrawals.Cancel(h.ctx, w.ID)
			h.log("  cancel %s, for its account is frozen: %v", w.ID, err)
		}
	}
}

// frozen reports whether the withdrawals of an account wait because a reorganisation took what it had.
func (h *history) frozen(id bursar.ID) (is bool) {
	h.fail(h.DB.View(h.ctx, func(tx *store.Tx) error {
		halts, err := tx.Halts().Of(h.ctx, store.HaltAccount(id))
		is = slices.ContainsFunc(halts, func(halt store.Halt) bool {
			return len(h.gone) > 0 || halt.Kind == store.HaltByRefundReversal
		})
		return err
	}))
	return is
}

// paidAfterAll reports whether an account is frozen because a payment whose refund it has spent was paid after all: the
// operator asks the customer for that, and the freeze ends only if the payment fails again.
func (h *history) paidAfterAll(tx *store.Tx, halt store.Halt) bool {
	if halt.Kind != store.HaltByRefundReversal {
		return false
	}
	id, err := bursar.ParseID(halt.Ref)
	h.fail(err)
	w, err := tx.Withdrawals().ByID(h.ctx, id)
	h.fail(err)
	return w.Status == bursar.WithdrawalConfirmed
}

// lostForGood reports whether an outgoing transaction is an external spend that others may have signed, in a block
// that was reorged out since: its bytes are lost, and it may come back at any time, as it names no last height.
func (h *history) lostForGood(tx *store.Tx, c *sim.Chain, p bursar.OutgoingTx) (bool, error) {
	if p.Height > 0 || p.Status != bursar.OutgoingSent || c.Capabilities().Lifetime.IsZero() {
		return false, nil
	}
	x, err := tx.ExternalSpends().Behind(h.ctx, p.ID)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil && x.LastHeight == 0 && (x.Status == store.ExternalSettled || x.Booked != ""), err
}

// bytesLost reports whether an outgoing transaction was recognized in a block that was reorged out since, and its
// bytes are lost.
func (h *history) bytesLost(tx *store.Tx, p bursar.OutgoingTx) (bool, error) {
	if h.restored == 0 || p.Height > 0 || p.Status != bursar.OutgoingSent {
		return false, nil
	}
	versions, err := tx.Outgoing().Versions(h.ctx, p.ID)
	return !slices.ContainsFunc(versions, func(v store.Version) bool { return len(v.Raw) > 0 }), err
}

// unfinished lists what is in progress, "" if nothing is.
func (h *history) unfinished() (what string) {
	err := h.DB.View(h.ctx, func(tx *store.Tx) error {
		for _, c := range h.Chains {
			id := c.Capabilities().ID
			state, err := tx.Chains().State(h.ctx, id)
			if err != nil {
				return err
			}
			if final, _ := c.Heights(); state.Final < uint64(final) { // a step undoes a bounded number of blocks
				what += fmt.Sprintf("%s is followed to %d of %d; ", id, state.Final, final)
			}
			open, err := tx.Outgoing().Open(h.ctx, id, 5)
			if err != nil {
				return err
			}
			for _, p := range open {
				if p.WaitsFor == bursar.WaitsForDeposit {
					continue // nothing moves until the address is paid again
				}
				if gone, err := h.lostForGood(tx, c, p); err != nil || gone {
					h.fail(err)
					continue
				}
				what += fmt.Sprintf("%s %s of %s is %s at %d: %s; ", p.Kind, p.ID, id, p.Status, p.Height, p.Error)
			}
			pending, err := tx.Deposits().PendingOn(h.ctx, id, 0, 5)
			if err != nil {
				return err
			}
			for _, d := range pending {
				what += fmt.Sprintf("deposit %s of %s is %s; ", d.ID, id, d.Status)
			}
		}
		halts, err := tx.Halts().List(h.ctx)
		if err != nil {
			return err
		}
		for _, halt := range halts {
			if _, account := halt.Scope.Account(); !account {
				what += fmt.Sprintf("%s is halted by %s; ", halt.Scope, halt.Kind)
			}
		}
		list, err := tx.Withdrawals().Unfinished(h.ctx, 5)
		for _, w := range list {
			what += fmt.Sprintf("withdrawal %s is %s; ", w.ID, w.Status)
		}
		if at, waits, nextErr := tx.Deliveries().NextDue(h.ctx); waits && nextErr == nil {
			what += fmt.Sprintf("a webhook is due at %s; ", at.Format(time.RFC3339))
		}
		return err
	})
	h.fail(err)
	return what
}
