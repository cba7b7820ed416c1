package proposal_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/operator/proposal"
	"github.com/bursar/bursar/store"
)

// Another person approves, and then it is done, once; each step is recorded.
func TestAnotherPersonApproves(t *testing.T) {
	each(t, func(h *harness) {
		p := h.propose(100)
		_, err := h.approve(ann, p)
		h.fails("who proposed approves", err, proposal.ErrOwn)
		twin := proposal.Person{ID: ann.ID, Name: "Annabel"}
		_, err = h.approve(twin, p)
		h.fails("the same person by another name", err, proposal.ErrOwn)
		h.is(p, store.ProposalPending, 0)
		_, err = h.approve(bob, p)
		h.Must(err)
		if got := h.is(p, store.ProposalExecuted, 1); got.Outcome != "paid rent" {
			h.Errorf("its outcome is %q, want what was done", got.Outcome)
		}
		again, err := h.approve(bob, p)
		if err != nil || again.Status != store.ProposalExecuted {
			h.Errorf("the same approval again: got %s, %v, want executed", again.Status, err)
		}
		_, err = h.approve(carol, p)
		h.fails("a late approval", err, proposal.ErrEnded)
		_, err = h.service.Reject(ctx, bob, p.ID, "no")
		h.fails("a late rejection", err, proposal.ErrEnded)
		h.Must(h.service.CarryOut(ctx))
		h.is(p, store.ProposalExecuted, 1)
		h.recorded(store.ProposalPending, store.ProposalApproved, store.ProposalExecuted)
	})
}

// A large amount needs several persons, and one of them counts once.
func TestALargeAmountNeedsMorePersons(t *testing.T) {
	each(t, func(h *harness) {
		p := h.propose(101)
		for range 2 {
			got, err := h.approve(bob, p)
			if err != nil || got.Status != store.ProposalPending {
				h.Fatalf("Bob approves: got %s, %v, want pending", got.Status, err)
			}
		}
		h.is(p, store.ProposalPending, 0)
		_, err := h.approve(carol, p)
		h.Must(err)
		h.is(p, store.ProposalExecuted, 1)
		h.recorded(store.ProposalPending, store.ProposalPending, store.ProposalApproved, store.ProposalExecuted)
	})
}

// A large amount that is split into many small ones within a day needs as many persons as if it were one: for one
// account and currency, no matter who proposes. What was rejected, or is older than a day, counts no more.
func TestASplitAmountNeedsMorePersons(t *testing.T) {
	each(t, func(h *harness) {
		needs := func(what string, by proposal.Person, want int, change func(*store.Proposal)) store.Proposal {
			h.Helper()
			order := h.order(60)
			order.Object = h.IDs.Next().String()
			if change != nil {
				change(&order)
			}
			p, err := h.service.Propose(ctx, by, order)
			h.Must(err)
			if p.Need != want {
				h.Errorf("%s: it needs %d persons, want %d", what, p.Need, want)
			}
			return p
		}
		first := needs("the first", ann, 1, nil)
		second := needs("the second", ann, 2, nil)
		needs("of another person", bob, 2, nil)
		needs("in another currency", ann, 1, func(p *store.Proposal) { p.Currency = "OTHER" })
		_, err := h.approve(carol, first)
		h.Must(err)
		h.is(first, store.ProposalExecuted, 1) // and still counts
		needs("after one was carried out", ann, 2, nil)
		h.clock.Advance(proposal.Day - time.Hour)
		_, err = h.approve(carol, second)
		h.Must(err)
		h.is(second, store.ProposalPending, 1) // what its text says does not change
		needs("within the day", ann, 2, nil)
		h.clock.Advance(proposal.Day)
		last := needs("after a day", ann, 1, nil)
		_, err = h.service.Reject(ctx, bob, last.ID, "no")
		h.Must(err)
		needs("after a rejection", ann, 1, nil)
	})
}

// A form that is submitted twice proposes once, and nobody proposes the same beside it.
func TestAFormProposesOnce(t *testing.T) {
	each(t, func(h *harness) {
		order := h.order(1)
		first, err := h.service.Propose(ctx, ann, order)
		h.Must(err)
		again, err := h.service.Propose(ctx, ann, order)
		if err != nil || again.ID != first.ID {
			h.Errorf("the form again: got %s, %v, want %s", again.ID, err, first.ID)
		}
		_, err = h.service.Propose(ctx, bob, order)
		h.fails("the form of somebody else", err, proposal.ErrOther)
		_, err = h.service.Propose(ctx, bob, h.order(1))
		h.fails("the same by another form", err, store.ErrOpen)
		h.clock.Advance(proposal.Life)
		second, err := h.service.Propose(ctx, bob, h.order(1))
		h.Must(err)
		h.is(first, store.ProposalExpired, 0)
		h.is(second, store.ProposalPending, 0)
	})
}

func TestWhatIsNotProposed(t *testing.T) {
	each(t, func(h *harness) {
		var denied *proposal.Denied
		var refused *bursar.Error
		for what, c := range map[string]struct {
			change func(*store.Proposal)
			want   func(error) bool
		}{
			"an unknown verb": {func(p *store.Proposal) { p.Verb = "steal" },
				func(err error) bool { return errors.Is(err, proposal.ErrUnknownVerb) }},
			"no reason": {func(p *store.Proposal) { p.Reason = " \n" },
				func(err error) bool { return errors.Is(err, proposal.ErrReason) }},
			"a reason with a zero byte": {func(p *store.Proposal) { p.Reason = "a\x00b" },
				func(err error) bool { return errors.Is(err, proposal.ErrReason) }},
			"another account": {func(p *store.Proposal) { p.AccountID = bursar.ID{0: 8} },
				func(err error) bool { return errors.As(err, &denied) && denied.Verb == "pay.propose" }},
			"what the act refuses": {func(p *store.Proposal) { p.Object = "" },
				func(err error) bool { return errors.As(err, &refused) }},
		} {
			order := h.order(1)
			c.change(&order)
			if _, err := h.service.Propose(ctx, ann, order); !c.want(err) {
				h.Errorf("%s: got %v, want another refusal", what, err)
			}
		}
		h.View(func(tx *store.Tx) error {
			list, err := tx.Proposals().List(ctx, "", nil, 10)
			if len(list) != 0 {
				h.Errorf("recorded are %+v, want none", list)
			}
			return err
		})
	})
}

// An approval counts for the text that was shown, with an assertion over it, by somebody who may.
func TestAnApprovalThatDoesNotCount(t *testing.T) {
	each(t, func(h *harness) {
		p := h.propose(1)
		shown := proposal.Approval{Proposal: p.ID, Hash: bytes.Repeat([]byte{1}, 32)}
		_, err := h.service.Approve(ctx, bob, shown)
		h.fails("another text", err, proposal.ErrOther)
		shown.Hash = p.Hash
		_, err = h.service.Approve(ctx, bob, shown)
		h.fails("no assertion", err, proposal.ErrEvidence)
		shown.Evidence = "touched by " + carol.ID.String()
		_, err = h.service.Approve(ctx, bob, shown)
		h.fails("an assertion of somebody else", err, proposal.ErrEvidence)
		h.refused[bob.ID] = true
		var denied *proposal.Denied
		if _, err = h.approve(bob, p); !errors.As(err, &denied) || denied.Verb != "pay.approve" {
			h.Errorf("without the right: got %v, want the verb pay.approve denied", err)
		}
		if _, err = h.service.Reject(ctx, bob, p.ID, "no"); !errors.As(err, &denied) {
			h.Errorf("a rejection without the right: got %v, want it denied", err)
		}
		_, err = h.service.Approve(ctx, carol, proposal.Approval{Proposal: bursar.ID{0: 7}})
		h.fails("no proposal", err, bursar.ErrNotFound)
		h.is(p, store.ProposalPending, 0)
		h.recorded(store.ProposalPending)
	})
}

// Who proposed takes it back; others who may approve reject it.
func TestARejectionEndsIt(t *testing.T) {
	each(t, func(h *harness) {
		for _, who := range []proposal.Person{ann, bob} {
			p := h.propose(1)
			_, err := h.service.Reject(ctx, who, p.ID, "")
			h.fails("without a reason", err, proposal.ErrReason)
			_, err = h.service.Reject(ctx, who, p.ID, "wrong address")
			h.Must(err)
			if got := h.is(p, store.ProposalRejected, 0); got.Outcome != "wrong address" {
				h.Errorf("its outcome is %q, want the reason", got.Outcome)
			}
			_, err = h.approve(carol, p)
			h.fails("an approval afterwards", err, proposal.ErrEnded)
		}
	})
}

// What is approved is one text, in which nothing that a person wrote can look like a line of its own.
func TestTheTextSaysAll(t *testing.T) {
	t.Parallel()
	p := store.Proposal{Verb: "pay", Object: "a\nverb: b", Destination: "x", Detail: "d", Reason: "ü\u202e", Currency: "C",
		Amount: bursar.Units(5), Need: 1, PersonID: ann.ID, AccountID: shop}
	text := proposal.Text(p)
	if strings.Count(text, "\n") != 14 || strings.Count(text, "\nverb: ") != 1 {
		t.Errorf("the text is %q, want 14 lines and one verb", text)
	}
	if strings.ContainsFunc(text, func(c rune) bool { return c != '\n' && (c < ' ' || c > '~') }) {
		t.Errorf("the text is %q, want printable ASCII", text)
	}
	for what, change := range map[string]func(*store.Proposal){
		"id": func(p *store.Proposal) { p.ID[3]++ }, "verb": func(p *store.Proposal) { p.Verb += "2" },
		"object": func(p *store.Proposal) { p.Object += "2" }, "account": func(p *store.Proposal) { p.AccountID[3]++ },
		"currency":    func(p *store.Proposal) { p.Currency += "2" },
		"amount":      func(p *store.Proposal) { p.Amount = bursar.Units(6) },
		"destination": func(p *store.Proposal) { p.Destination += "2" },
		"detail":      func(p *store.Proposal) { p.Detail += "2" },
		"reason":      func(p *store.Proposal) { p.Reason += "2" }, "need": func(p *store.Proposal) { p.Need++ },
		"proposer": func(p *store.Proposal) { p.PersonID[3]++ },
		"expiry":   func(p *store.Proposal) { p.ExpiresAt = p.ExpiresAt.Add(hour) },
	} {
		other := p
		change(&other)
		if proposal.Hash(other) == proposal.Hash(p) || proposal.Challenge(other) == proposal.Challenge(p) {
			t.Errorf("another %s: got the same hash or challenge, want others", what)
		}
	}
	if proposal.Hash(p) == proposal.Challenge(p) {
		t.Error("got the challenge equal to the hash, want it apart by its namespace")
	}
}
