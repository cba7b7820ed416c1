package signer

import (
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursar/bursar/roster"
)

// The attack: many small payments in place of a large one. Each counts with the most that it can cost.
func TestWindowsOfThePolicyAreKept(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, nil)
	d.list("alice", false)
	d.clock.Advance(time.Hour)
	d.wantReason(d.ordered(1, 10), "")
	d.wantReason(d.ordered(2, 10), "")
	d.file = d.reopen(d.path)
	d.wantReason(d.ordered(3, 6), ReasonWindow, "it is worth 6 EUR and may cost 1, and 22 of 25 have left within 1h")
	d.wantReason(d.ordered(4, 2), "")           // with its fee of 1
	d.wantReason(d.ordered(5, 6, ann, bob), "") // beyond what leaves alone, persons decide
	d.wantReason(d.ordered(6, 1), ReasonWindow)
	d.clock.Advance(time.Hour + time.Second)
	d.wantReason(d.ordered(7, 10), "")
}

func TestAHoldBeginsAtTheSigner(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, func(p *roster.Policy) { p.Rules[1].Hold = 2 * time.Hour })
	r := d.ordered(1, 11, ann, bob)
	d.clock.Advance(time.Hour) // while nobody shows the approvals to the signer
	d.wantReason(d.ordered(1, 11, ann), ReasonApproved)
	d.wantReason(r, ReasonHold, "it is held for 2h from now on")
	d.clock.Advance(time.Hour)
	d.file = d.reopen(d.path)
	d.wantReason(r, ReasonHold, "it is held until")
	d.clock.Advance(time.Hour)
	r.unsigned.Orders[0].Approvals = r.unsigned.Orders[0].Approvals[:1]
	d.wantReason(r, ReasonApproved) // it needs them still
}

func TestAHoldEnds(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, func(p *roster.Policy) { p.Rules[1].Hold, p.Rules[1].Hours = 2*time.Hour, "Mon-Sun 00-24" })
	r := d.ordered(1, 11, ann, bob)
	d.wantReason(r, ReasonHold)
	d.clock.Advance(2*time.Hour - time.Second)
	d.wantReason(r, ReasonHold)
	d.clock.Advance(time.Second)
	d.wantReason(r, "")
}

// Killed at any statement, the signer has either not taken the approvals or signs the same transaction again; never
// another one by them.
func TestACrashTakesApprovalsOnceAtMost(t *testing.T) {
	t.Parallel()
	steps := 0
	for n := 1; ; n++ {
		d := newPolicyFixture(t, nil)
		r := d.ordered(1, 11, ann, bob)
		left, step := "", 0
		d.file.OnStep(func(string) error {
			if step++; step != n {
				return nil
			}
			left = copyState(t, d.path)
			return errKilled
		})
		_, err := d.sign(r)
		if left == "" {
			break
		}
		if steps = n; !errors.Is(err, errKilled) {
			t.Fatalf("killed at step %d it returns %v, want %v", n, err, errKilled)
		}
		d.file.OnStep(nil)
		d.file = d.reopen(left)
		d.wantReason(r, "")
		beside := r
		beside.contents.Reservations = []string{"hot/7"}
		d.wantReason(beside, ReasonApproved, "used before: the approval")
	}
	if steps < 9 {
		t.Errorf("it was killed at %d steps, want more", steps)
	}
}

// However many ask at once, no more leaves than the window holds.
func TestManyOrdersAgainstOneWindow(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, nil)
	d.list("alice", false)
	d.clock.Advance(time.Hour)
	var list []request
	for n := range byte(40) {
		r := d.ordered(n+1, 10)
		unsigned, err := json.Marshal(r.contents)
		d.must(err)
		r.unsigned.Bytes = unsigned
		list = append(list, r)
	}
	var signed atomic.Int64
	var group sync.WaitGroup
	for _, r := range list {
		group.Go(func() {
			if _, err := d.signer.Sign(t.Context(), r.chain, r.request, r.unsigned); err == nil {
				signed.Add(1)
			}
		})
	}
	group.Wait()
	if got := signed.Load(); got != 2 {
		t.Errorf("got %d payments of 10 signed, want 2 within a window of 25", got)
	}
}
