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
)

// Of payments that an adapter refuses for an unforeseen reason, no more are assigned than one currency has places, and
// one step tries to build eight of them. Others are paid meanwhile.
func TestFailedBuildsOfAStepAreBounded(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.funded()
		token, err := r.Registry.Get("TOKEN")
		r.Must(err)
		node := r.record()
		node.build = func(request chain.TxRequest, unsigned chain.UnsignedTx, err error) (chain.UnsignedTx, error) {
			if request.Payments[0].Contract == token.Contract {
				return chain.UnsignedTx{}, errors.New("the issuer has frozen it")
			}
			return unsigned, err
		}
		r.Trouble = true
		stuck := r.orders(30, "TOKEN")
		for range 5 {
			node.since()
			r.Step()
			if n := len(node.built); n > 8 {
				t.Errorf("one step drafts %d, want at most 8", n)
			}
		}
		if n := len(r.Open()); n != 10 {
			t.Errorf("%d are taken up, want 10", n)
		}
		tried := map[bursar.ID]bool{}
		for range 3 {
			node.since()
			r.Step()
			for _, request := range node.built {
				tried[request.ID] = true
			}
		}
		if len(tried) != 10 {
			t.Errorf("in three steps %d are built, want 10", len(tried))
		}
		other := r.orders(3, "OTHER")
		r.Step()
		if got := r.statuses(other...); got[bursar.WithdrawalBroadcast] != 3 {
			t.Errorf("the others are %v, want 3", got)
		}
		r.Sender.Chain = r.Chain
		r.Settle()
		if got := r.statuses(stuck...); got[bursar.WithdrawalConfirmed] != 30 {
			t.Errorf("in the end they are %v, want 30", got)
		}
	})
}

// However many transactions are in progress, each step handles some of them, goes on behind those in the next step, and
// begins again at the end.
func TestEveryTransactionInProgressIsReached(t *testing.T) {
	config := bursartest.Numbered
	config.MaxPending = 120
	each(t, config, func(t *testing.T, r *harness) {
		const n, most = 70, 64
		r.Fund()
		r.Settle()
		for range n {
			r.Order(1_000, r.Chain.Named("outside"))
		}
		r.Step()
		r.Step()
		if got := r.underWay(chain.KindWithdrawal); got != n {
			t.Fatalf("%d are sent, want %d", got, n)
		}
		r.Chain.SetRate(1000)
		r.Chain.Mine(1)
		r.CatchUp()
		node := r.record()
		r.Must(r.Sender.Step(ctx, r.Lease))
		if len(node.sent) > most || len(node.sent) == 0 {
			t.Errorf("one step sends %d again", len(node.sent))
		}
		r.Must(r.Sender.Step(ctx, r.Lease))
		slices.Sort(node.sent)
		if all := len(slices.Compact(slices.Clone(node.sent))); all != n || len(node.sent) != n {
			t.Errorf("two steps send %d, of them %d again", len(node.sent), all)
		}
	})
}

// Each of two payments that no node accepts is sent once per step, also if one of them is new.
func TestARefusedTransactionIsSentOncePerStep(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Fund()
		r.Settle()
		node := &sentNowhere{asked{Chain: r.Chain}}
		tries := map[string]int{}
		r.Sender.Chain = refusingAll{node, tries}
		r.Trouble = true
		for range 3 {
			w := r.Order(1_000_000, r.Chain.Named("outside"))
			clear(tries)
			r.Check(r.Sender.Step(ctx, r.Lease)) // builds the next one, and sends it
			r.Check(r.Sender.Step(ctx, r.Lease))
			open := r.Open()
			for _, p := range open {
				if n := tries[p.TxID]; p.TxID != r.Now(w).TxID && n != 2 || n == 0 || n > 2 {
					t.Errorf("of %d that are open one is sent %d times in two steps", len(open), n)
				}
			}
		}
		r.Sender.Chain = r.Chain
		r.Settle()
		r.Must(r.Audit())
	})
}

// refusingAll is a chain whose node accepts nothing; it counts what it is sent.
type refusingAll struct {
	*sentNowhere
	tries map[string]int
}

func (c refusingAll) Broadcast(ctx context.Context, tx chain.SignedTx) error {
	c.tries[tx.TxID]++
	return c.sentNowhere.Broadcast(ctx, tx)
}

// A step in which nothing waits takes no lock.
func TestAStepWithoutWorkLocksNothing(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Fund()
		r.Settle()
		r.Sender.DB = r.DB.As(r.DB.Now, store.Hooks{Before: func(_ context.Context, _ store.Point, query string) error {
			if strings.Contains(query, "holder = $2 AND token = $3") {
				t.Error("a step locks its chain though nothing is to do")
			}
			return nil
		}})
		r.Must(r.Sender.Step(ctx, r.Lease))
	})
}
