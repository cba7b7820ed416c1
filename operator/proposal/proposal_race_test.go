package proposal_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar/operator/proposal"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// Two approve at once: it is done once, and both see that.
func TestTwoApproveAtOnce(t *testing.T) {
	each(t, func(h *harness) {
		p := h.propose(1)
		var group sync.WaitGroup
		errs := make([]error, 2)
		for i, who := range []proposal.Person{bob, carol} {
			group.Go(func() { _, errs[i] = h.approve(who, p) })
		}
		group.Wait()
		for _, err := range errs {
			if err != nil && !errors.Is(err, proposal.ErrEnded) {
				h.Errorf("an approval: got %v, want none or that it has ended", err)
			}
		}
		h.is(p, store.ProposalExecuted, 1)
	})
}

// Two halves that are proposed at once count with each other: one of them sees the other.
func TestTwoHalvesAtOnce(t *testing.T) {
	each(t, func(h *harness) {
		var group sync.WaitGroup
		needs := make([]int, 2)
		for i, who := range []proposal.Person{ann, bob} {
			order := h.order(60)
			order.Object = h.IDs.Next().String()
			group.Go(func() {
				p, err := h.service.Propose(ctx, who, order)
				if err != nil {
					h.Errorf("a half: got %v, want it proposed", err)
				}
				needs[i] = p.Need
			})
		}
		group.Wait()
		if needs[0]+needs[1] != 3 {
			h.Errorf("the halves need %v persons, want 1 and 2", needs)
		}
	})
}

// Two processes carry out what one of them was about to: both begin, and one does it.
func TestTwoProcessesCarryItOut(t *testing.T) {
	each(t, func(h *harness) {
		p := h.propose(1)
		nested := false
		h.before = func() error {
			if !nested {
				nested = true
				return h.service.CarryOut(ctx)
			}
			return nil
		}
		got, err := h.approve(bob, p)
		if err != nil || got.Status != store.ProposalExecuted {
			h.Errorf("the approval: got %s, %v, want executed", got.Status, err)
		}
		h.is(p, store.ProposalExecuted, 1)
	})
}

// A rejection between the last approval and the act stops the act.
func TestARejectionBeforeTheAct(t *testing.T) {
	each(t, func(h *harness) {
		p := h.propose(1)
		h.before = func() error {
			_, err := h.service.Reject(ctx, carol, p.ID, "stop")
			return err
		}
		got, err := h.approve(bob, p)
		if err != nil || got.Status != store.ProposalRejected {
			h.Errorf("the approval: got %s, %v, want rejected", got.Status, err)
		}
		h.is(p, store.ProposalRejected, 0)
	})
}

// An approval counts until the last moment, and not at the end.
func TestTheLastMoment(t *testing.T) {
	each(t, func(h *harness) {
		p := h.propose(1)
		h.clock.Set(p.ExpiresAt.Add(-time.Microsecond))
		_, err := h.approve(bob, p)
		h.Must(err)
		h.is(p, store.ProposalExecuted, 1)
		late := h.propose(1)
		h.clock.Set(late.ExpiresAt)
		_, err = h.approve(bob, late)
		h.fails("at its end", err, proposal.ErrEnded)
		h.is(late, store.ProposalPending, 1)
		h.Must(h.service.CarryOut(ctx))
		h.is(late, store.ProposalExpired, 1)
	})
}

var errCrash = errors.New("the process ends")

// A process that ends between the last approval and the act leaves the record that the act is due: it is done by
// the process that looks next, in time, and never after its end.
func TestACrashBeforeTheAct(t *testing.T) {
	each(t, func(h *harness) {
		crash := func() error { return errCrash }
		p := h.propose(1)
		h.before = crash
		_, err := h.approve(bob, p)
		h.fails("the approval", err, errCrash)
		h.is(p, store.ProposalApproved, 0)
		h.fails("a round that fails too", h.service.CarryOut(ctx), errCrash)
		h.before = nil
		h.clock.Advance(hour)
		h.Must(h.service.CarryOut(ctx))
		h.is(p, store.ProposalExecuted, 1)

		late := h.propose(1)
		h.before = crash
		_, err = h.approve(bob, late)
		h.fails("the approval", err, errCrash)
		h.before = nil
		h.clock.Set(late.ExpiresAt)
		h.Must(h.service.CarryOut(ctx))
		h.is(late, store.ProposalVoid, 1)
	})
}

// Who lost a right between the approval and the act does not count, nor does an assertion that does not verify any
// more.
func TestARightThatIsWithdrawnInBetween(t *testing.T) {
	for what, lose := range map[string]func(h *harness){
		"of who proposed": func(h *harness) { h.refused[ann.ID] = true },
		"of who approved": func(h *harness) { h.refused[bob.ID] = true },
		"the assertion":   func(h *harness) { h.forged = true },
	} {
		t.Run(what, func(t *testing.T) {
			each(t, func(h *harness) {
				p := h.propose(1)
				h.before = func() error {
					h.mu.Lock()
					defer h.mu.Unlock()
					lose(h)
					return nil
				}
				got, err := h.approve(bob, p)
				if err != nil || got.Status != store.ProposalVoid {
					h.Errorf("the approval: got %s, %v, want void", got.Status, err)
				}
				h.is(p, store.ProposalVoid, 0)
			})
		})
	}
}

// A row that was altered after it was proposed is not carried out.
//
// The attack: who can write to the database changes the destination of what others approve.
func TestAnAlteredProposal(t *testing.T) {
	each(t, func(h *harness) {
		p := h.propose(1)
		h.before = func() error {
			got := storetest.Ask(h.T, storetest.AsOwner(h.url),
				`UPDATE proposals SET destination = 'elsewhere' RETURNING destination`)
			if got != "elsewhere" {
				h.Errorf("the destination is %q, want it altered", got)
			}
			return nil
		}
		_, err := h.approve(bob, p)
		h.Must(err)
		h.is(p, store.ProposalVoid, 0)
	})
}

// What its act waits for does not keep a proposal open beyond its end: the same may be proposed again.
func TestWhatCannotBeDoneInTimeIsVoid(t *testing.T) {
	each(t, func(h *harness) {
		p := h.propose(1)
		h.before = func() error { return errors.New("no node answers") }
		if _, err := h.approve(bob, p); err == nil {
			h.Error("an act whose node does not answer: got no error, want one")
		}
		h.clock.Set(p.ExpiresAt)
		h.Must(h.service.CarryOut(ctx))
		h.is(p, store.ProposalVoid, 0)
		h.propose(1)
	})
}
