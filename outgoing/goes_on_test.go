package outgoing_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
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
	"refunds to senders":         {"FROM halts WHERE scope IN", 0, true, true},
	"the queue":                  {"FROM halts WHERE scope IN", 1, true, false},
	"the payments that are sent": {"s.number > $3", 0, false, false},
	"the refunds that are sent":  {"s.number > $3", 1, true, true},
	"new payments of a currency": {"s.status = 'new'", 0, true, true},
	"new refunds of a currency":  {"s.status = 'new'", 3, true, true},
	"what payments wait for":     {"waits_for <> '' AND share <> 'sweep'", 0, true, true},
}

// eachPart has one payment sent and another one waiting, and then runs a step whose named part returns an error; judge
// also gets the number of database queries after that. A restart makes every step begin with the same share.
func (r *harness) eachPart(failure error, judge func(name string, of part, err error, again, fresh bool, after int)) {
	r.t.Helper()
	r.funded()
	for name, of := range parts {
		sent := r.orderOf(0, "TOKEN", 1_000, r.chain.Named("one"))
		r.step()
		r.chain.SetRate(50)
		fresh := r.orderOf(0, "TOKEN", 1_000, r.chain.Named("two"))
		r.chain.Mine(1)
		r.restart()
		r.catchUp()
		node, left, after := r.record(), of.before, 0
		r.sender.DB = r.db.As(r.db.Now, store.Conduct{Before: func(_ context.Context, at store.Point, query string) error {
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
		err := r.sender.Step(ctx, r.lease)
		r.sender.DB = r.db
		again, first := slices.Contains(node.sent, r.now(sent).TxID), slices.Contains(node.sent, r.now(fresh).TxID)
		judge(name, of, err, again, first, after)
		r.chain.SetRate(10)
		r.settle()
	}
	r.must(r.chain.Check())
}

// If any part of a step fails, the other parts run, and the step's error says so.
func TestAnErrorInOnePartOfAStepHoldsUpNoOther(t *testing.T) {
	refused := errors.New("the database refuses")
	each(t, numbered, func(t *testing.T, r *harness) {
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
	each(t, numbered, func(t *testing.T, r *harness) {
		r.step()
		r.pay(r.wallet(0).Address, 400_000_000)
		r.chain.Mine(3)
		r.step() // requested
		r.restart()
		r.catchUp()
		r.sender.DB = r.db.As(r.db.Now, store.Conduct{Before: func(_ context.Context, at store.Point, query string) error {
			if at == store.Running && strings.Contains(query, "s.number > $3") {
				r.sender.DB = r.db
				return refused
			}
			return nil
		}})
		if err := r.sender.Step(ctx, r.lease); !errors.Is(err, refused) {
			t.Errorf("the step returned %v", err)
		}
		if got := r.only(); got.Status != bursar.OutgoingSent {
			t.Errorf("the sweep is %s: %q", got.Status, got.Error)
		}
	})
}

// If one part of a step finds that the lease is lost, no further part begins.
func TestALostLeaseEndsEveryPartOfAStep(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.eachPart(store.ErrLeaseLost, func(name string, _ part, err error, _, _ bool, after int) {
			if !errors.Is(err, store.ErrLeaseLost) || after > 0 {
				t.Errorf("in %s: the step returned %v, after %d more queries", name, err, after)
			}
		})
	})
}

// While a chain is not ready for new payments, final transactions are settled, and an error that prevents it is
// returned.
func TestErrorsAreReturnedWhileAChainIsNotReady(t *testing.T) {
	refused := errors.New("the database refuses")
	both(t, func(t *testing.T, r *harness) {
		r.fund()
		r.settle()
		w := r.order(1_000_000, r.chain.Named("outside"))
		r.step()
		r.chain.Mine(4)
		r.catchUp()
		r.restart() // its follower has not caught up
		r.sender.DB = r.db.As(r.db.Now, store.Conduct{Before: func(_ context.Context, at store.Point, query string) error {
			if at == store.Running && strings.Contains(query, "s.height > 0 AND s.height <= $2") {
				return refused
			}
			return nil
		}})
		if err := r.sender.Step(ctx, r.lease); !errors.Is(err, refused) {
			t.Errorf("the step returned %v", err)
		}
		r.sender.DB = r.db
		r.must(r.sender.Step(ctx, r.lease))
		if got := r.now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("the withdrawal is %s", got)
		}
	})
}

// A context that ends while a payment is sent ends the step: nothing else is asked of a node.
func TestAContextThatEndsEndsTheStep(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.fund()
		r.settle()
		for range 3 {
			r.order(1_000_000, r.chain.Named("outside"))
			r.step()
		}
		r.chain.SetRate(50)
		r.chain.Mine(1)
		r.catchUp()
		ending, end := context.WithCancel(ctx)
		node := &asked{Chain: r.chain}
		r.sender.Chain = endsAfterOne{node, end}
		if err := r.sender.Step(ending, r.lease); !errors.Is(err, context.Canceled) || node.sent != 1 {
			t.Errorf("the step returned %v, a node was sent %d", err, node.sent)
		}
		if text := r.errors(); strings.Contains(text, "canceled") {
			t.Errorf("at an outgoing transaction its error is %q", text)
		}
		r.sender.Chain = r.chain
		r.chain.SetRate(10)
		r.settle()
		r.must(r.audit())
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
	each(t, numbered, func(t *testing.T, r *harness) {
		r.funded()
		r.orders(3, "TOKEN")
		r.orders(3, "COIN")
		thief := bursar.Address{Base: r.chain.Named("thief")}
		r.chain.ExternalSpend(r.hot.Base, chain.Payment{Address: thief, Amount: bursar.Units(1)})
		r.chain.Mine(1) // the follower has not read it
		node := r.record()
		if err := r.sender.Step(ctx, r.lease); !errors.Is(err, chain.ErrExternalNonce) || len(node.built) != 1 {
			t.Errorf("the step returned %v, after %d builds", err, len(node.built))
		}
		if got := strings.TrimSpace(r.errors()); got != "" {
			t.Errorf("at an outgoing transaction its error is %q", got)
		}
		r.wantAlarms("external_nonce")
		r.restart()
		node = r.record()
		r.trouble = true
		r.step()
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
		"a build that fails": func(r *harness) { r.orders(3, "TOKEN"); r.step(); r.chain.Fail("draft", 10, nil) },
		"many in vain": func(r *harness) {
			r.trouble = true
			r.chain.Fail("draft", 1000, errors.New("in vain"))
			r.orders(9, "OTHER")
			for range 4 {
				r.step()
			}
		},
	}
	for name, set := range scenes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := storetest.SQLite(t)
			r := newHarness(t, storetest.Open(t, url), numbered)
			r.withTokens()
			r.fund()
			r.give("TOKEN", r.walletOf(0, "TOKEN").Address, 1_000_000)
			r.give("OTHER", r.walletOf(0, "OTHER").Address, 1_000_000)
			r.chain.Mine(4)
			r.catchUp()
			r.must(r.sender.Step(ctx, r.lease))
			set(r)
			r.overthrow()
			before := contents(t, url)
			if err := r.sender.Step(ctx, r.lease); !errors.Is(err, store.ErrLeaseLost) {
				t.Errorf("the step returned %v", err)
			}
			if contents(t, url) != before {
				t.Error("a process without the lease has written something")
			}
		})
	}
}
