package outgoing_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// part is a part of a step: one of its queries, how many queries like it come before, and whether, without that part,
// sent transactions are sent again and new ones are sent.
type part struct {
	query      string
	before     int
	again, new bool
}

var parts = map[string]part{
	"what was forgotten":         {"FROM forgotten_payments WHERE chain = $1 AND put_back_at = 0", 0, true, true},
	"what is final":              {"s.height > 0 AND s.height <= $2", 0, true, true},
	"refunds to senders":         {"FROM halts WHERE scope ", 0, true, true},
	"the queue":                  {"FROM halts WHERE scope ", 1, true, false},
	"the payments that are sent": {"s.number > $3", 0, false, false},
	"the refunds that are sent":  {"s.number > $3", 1, true, true},
	"new payments of a currency": {"s.status = 'new'", 0, true, true},
	"new refunds of a currency":  {"s.status = 'new'", 3, true, true},
	"what payments wait for":     {"waits_for <> '' AND share <> 'sweep'", 0, true, true},
}

// eachPart has one payment sent and another one waiting, and then runs a step whose named part returns an error;
// check also gets the number of database queries after that. A restart makes every step begin with the same share.
func (r *harness) eachPart(failure error, check func(name string, of part, err error, again, fresh bool, after int)) {
	r.T.Helper()
	r.funded()
	for name, of := range parts {
		sent := r.OrderOf(0, "TOKEN", 1_000, r.Chain.Named("one"))
		r.Step()
		r.Chain.SetRate(50)
		fresh := r.OrderOf(0, "TOKEN", 1_000, r.Chain.Named("two"))
		r.Chain.Mine(1)
		r.Restart()
		r.CatchUp()
		node, left, after := r.record(), of.before, 0
		r.Sender.DB = r.DB.As(r.DB.Now, store.Hooks{Before: func(_ context.Context, at store.Point, query string) error {
			switch {
			case at != store.Running:
			case left < 0:
				after++
			case strings.Contains(query, of.query):
				if left--; left < 0 {
					return failure
				}
			}
			return nil
		}})
		err := r.Sender.Step(ctx, r.Lease)
		r.Sender.DB = r.DB
		again, first := slices.Contains(node.sent, r.Now(sent).TxID), slices.Contains(node.sent, r.Now(fresh).TxID)
		check(name, of, err, again, first, after)
		r.Chain.SetRate(10)
		r.Settle()
	}
	r.Must(r.Chain.Check())
}

// If any part of a step fails, the other parts run, and the step's error says so.
func TestAnErrorInOnePartOfAStepHoldsUpNoOther(t *testing.T) {
	refused := errors.New("the database refuses")
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.eachPart(refused, func(name string, of part, err error, again, fresh bool, _ int) {
			if !errors.Is(err, refused) || again != of.again || fresh != of.new {
				t.Errorf("without %s the step returned %v; sent again: %v, sent first: %v", name, err, again, fresh)
			}
		})
	})
}

// An error of the withdrawals does not hold up sweeps.
func TestAnErrorOfWithdrawalsHoldsUpNoSweep(t *testing.T) {
	refused := errors.New("the database refuses")
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Step()
		r.Pay(r.Wallet(0).Address, 400_000_000)
		r.Chain.Mine(3)
		r.Step() // requested
		r.Restart()
		r.CatchUp()
		r.Sender.DB = r.DB.As(r.DB.Now, store.Hooks{Before: func(_ context.Context, at store.Point, query string) error {
			if at == store.Running && strings.Contains(query, "s.number > $3") {
				r.Sender.DB = r.DB
				return refused
			}
			return nil
		}})
		if err := r.Sender.Step(ctx, r.Lease); !errors.Is(err, refused) {
			t.Errorf("the step returned %v, want %v", err, refused)
		}
		if got := r.only(); got.Status != bursar.OutgoingSent {
			t.Errorf("the sweep is %s: %q, want %s", got.Status, got.Error, bursar.OutgoingSent)
		}
	})
}

// If one part of a step finds that the lease is lost, no further part begins.
func TestALostLeaseEndsEveryPartOfAStep(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.eachPart(store.ErrLeaseLost, func(name string, _ part, err error, _, _ bool, after int) {
			if !errors.Is(err, store.ErrLeaseLost) || after > 0 {
				t.Errorf("in %s: the step returned %v, after %d more queries, want %v and at most 0", name, err, after,
					store.ErrLeaseLost)
			}
		})
	})
}

// While a chain is not ready for new payments, final transactions are settled, and an error that prevents it is
// returned.
func TestErrorsAreReturnedWhileAChainIsNotReady(t *testing.T) {
	refused := errors.New("the database refuses")
	both(t, func(t *testing.T, r *harness) {
		r.Fund()
		r.Settle()
		w := r.Order(1_000_000, r.Chain.Named("outside"))
		r.Step()
		r.Chain.Mine(4)
		r.CatchUp()
		r.Restart() // its follower has not caught up
		r.Sender.DB = r.DB.As(r.DB.Now, store.Hooks{Before: func(_ context.Context, at store.Point, query string) error {
			if at == store.Running && strings.Contains(query, "s.height > 0 AND s.height <= $2") {
				return refused
			}
			return nil
		}})
		if err := r.Sender.Step(ctx, r.Lease); !errors.Is(err, refused) {
			t.Errorf("the step returned %v, want %v", err, refused)
		}
		r.Sender.DB = r.DB
		r.Must(r.Sender.Step(ctx, r.Lease))
		if got := r.Now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("the withdrawal is %s, want %s", got, bursar.WithdrawalConfirmed)
		}
	})
}

// A context that ends while a payment is sent ends the step: nothing else is asked of a node.
func TestAContextThatEndsEndsTheStep(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Fund()
		r.Settle()
		for range 3 {
			r.Order(1_000_000, r.Chain.Named("outside"))
			r.Step()
		}
		r.Chain.SetRate(50)
		r.Chain.Mine(1)
		r.CatchUp()
		ending, end := context.WithCancel(ctx)
		node := &asked{Chain: r.Chain}
		r.Sender.Chain = endsAfterOne{node, end}
		if err := r.Sender.Step(ending, r.Lease); !errors.Is(err, context.Canceled) || node.sent != 1 {
			t.Errorf("the step returned %v, a node was sent %d, want %v and 1", err, node.sent, context.Canceled)
		}
		if text := r.errors(); strings.Contains(text, "canceled") {
			t.Errorf("at an outgoing transaction its error is %q, want no %q", text, "canceled")
		}
		r.Sender.Chain = r.Chain
		r.Chain.SetRate(10)
		r.Settle()
		r.Must(r.Audit())
	})
}

// endsAfterOne cancels a context with the first transaction that is sent.
type endsAfterOne struct {
	*asked
	end func()
}

func (c endsAfterOne) Broadcast(ctx context.Context, tx chain.SignedTx) error {
	defer c.end()
	return errors.Join(c.asked.Broadcast(ctx, tx), context.Canceled)
}

// If somebody else has used a nonce of ours, the step ends with that error, and nothing else is built or recorded
// before an operator has looked.
func TestAnExternalNonceEndsTheStep(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.funded()
		r.orders(3, "TOKEN")
		r.orders(3, "COIN")
		thief := bursar.Address{Base: r.Chain.Named("thief")}
		r.Chain.ExternalSpend(r.Hot.Base, chain.Payment{Address: thief, Amount: bursar.Units(1)})
		r.Chain.Mine(1) // the follower has not read it
		node := r.record()
		if err := r.Sender.Step(ctx, r.Lease); !errors.Is(err, chain.ErrExternalNonce) || len(node.built) != 1 {
			t.Errorf("the step returned %v, after %d builds, want %v and 1 of them", err, len(node.built),
				chain.ErrExternalNonce)
		}
		if got := strings.TrimSpace(r.errors()); got != "" {
			t.Errorf("at an outgoing transaction its error is %q, want \"\"", got)
		}
		r.WantAlarms("external_nonce")
		r.Restart()
		node = r.record()
		r.Trouble = true
		r.Step()
		if len(node.built) > 0 {
			t.Error("the chain is not halted")
		}
	})
}

// A process that lost the lease between two steps writes nothing in its next one: nothing about queued withdrawals,
// about transactions that cannot be built or signed, or about those that are passed over.
func TestAProcessWithoutTheLeaseWritesNothing(t *testing.T) {
	scenes := map[string]func(r *harness){
		"the queue":          func(r *harness) { r.orders(3, "TOKEN") },
		"a build that fails": func(r *harness) { r.orders(3, "TOKEN"); r.Step(); r.Chain.Fail("draft", 10, nil) },
		"many in vain": func(r *harness) {
			r.Trouble = true
			r.Chain.Fail("draft", 1000, errors.New("in vain"))
			r.orders(9, "OTHER")
			for range 4 {
				r.Step()
			}
		},
	}
	for name, set := range scenes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := storetest.Reused(t)
			r := newHarness(t, storetest.Open(t, url), bursartest.Numbered)
			r.WithTokens()
			r.Fund()
			r.Give("TOKEN", r.WalletOf(0, "TOKEN").Address, 1_000_000)
			r.Give("OTHER", r.WalletOf(0, "OTHER").Address, 1_000_000)
			r.Chain.Mine(4)
			r.CatchUp()
			r.Must(r.Sender.Step(ctx, r.Lease))
			set(r)
			r.overthrow()
			before := contents(t, url)
			if err := r.Sender.Step(ctx, r.Lease); !errors.Is(err, store.ErrLeaseLost) {
				t.Errorf("the step returned %v, want %v", err, store.ErrLeaseLost)
			}
			if contents(t, url) != before {
				t.Error("a process without the lease has written something")
			}
		})
	}
}
