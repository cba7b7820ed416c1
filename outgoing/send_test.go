package outgoing_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

// recorded is a chain that records the requests to build and the transactions that it was sent.
type recorded struct {
	*sim.Chain
	built []chain.TxRequest
	sent  []string
	// build may return something else than the chain; nil: it does not.
	build func(chain.TxRequest, chain.UnsignedTx, error) (chain.UnsignedTx, error)
}

func (c *recorded) Build(ctx context.Context, request chain.TxRequest) (chain.UnsignedTx, error) {
	c.built = append(c.built, request)
	unsigned, err := c.Chain.Build(ctx, request)
	if c.build != nil {
		return c.build(request, unsigned, err)
	}
	return unsigned, err
}

func (c *recorded) Broadcast(ctx context.Context, tx chain.SignedTx) error {
	c.sent = append(c.sent, tx.TxID)
	return c.Chain.Broadcast(ctx, tx)
}

// since clears the record of requests and sent transactions.
func (c *recorded) since() { c.built, c.sent = nil, nil }

// record gives the sender a chain that records.
func (r *harness) record() *recorded {
	c := &recorded{Chain: r.Chain}
	r.Sender.Chain = c
	return c
}

// wantSent checks what a node was sent since the last call of since.
func (c *recorded) wantSent(t testing.TB, when string, txIDs ...string) {
	t.Helper()
	if strings.Join(c.sent, " ") != strings.Join(txIDs, " ") {
		t.Errorf("%s a node was sent %q, want %q", when, c.sent, txIDs)
	}
}

// only returns the one outgoing transaction that is open.
func (r *harness) only() bursar.OutgoingTx {
	r.T.Helper()
	open := r.Open()
	if len(open) != 1 {
		r.T.Fatalf("open are %+v", open)
	}
	return open[0]
}

// waiting has a payment sent at a fee that no block includes any more.
func (r *harness) waiting() (w bursar.Withdrawal, node *recorded) {
	r.T.Helper()
	r.Fund()
	r.Settle()
	node = r.record()
	w = r.Order(100_000_000, r.Chain.Named("outside"))
	r.Step()
	w = r.Now(w)
	node.wantSent(r.T, "at first", w.TxID)
	r.Chain.SetRate(50)
	node.since()
	return w, node
}

// A payment that waits for its block is sent once with every new block, and no more; after as many blocks as its chain
// sets, its fee is bumped, once, and only the bump is sent.
func TestAPaymentIsSentOnceABlockAndThenBumped(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		w, node := r.waiting()
		for range 2 {
			node.since()
			r.Chain.Mine(1)
			r.Step()
			r.Step()
			node.wantSent(t, "with the next block", w.TxID)
			if len(node.built) > 0 {
				t.Errorf("before it has waited long enough %d transactions are drafted, want none", len(node.built))
			}
		}
		node.since()
		r.Chain.Mine(1)
		r.Step()
		bumped := r.only()
		if bumped.Versions != 2 || bumped.TxID == w.TxID || bumped.Error != "" {
			t.Errorf("after three blocks it is %+v", bumped)
		}
		node.wantSent(t, "after three blocks", bumped.TxID)
		r.Chain.SetRate(10)
		r.Settle()
		r.Must(r.Audit())
	})
}

// A node's answers to the first sending, to a bump and to sending again are stored with the outgoing transaction.
func TestANodesAnswersAreStored(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Fund()
		r.Settle()
		noted := func(when string, want ...string) {
			t.Helper()
			for _, text := range want {
				if got := r.only().Error; !strings.Contains(got, text) {
					t.Errorf("%s its error is %q, want %q", when, got, text)
				}
			}
		}
		r.Trouble = true
		r.Chain.Fail(sim.Broadcast, 1, errors.New("no peers"))
		w := r.Order(100_000_000, r.Chain.Named("outside"))
		r.Step()
		noted("when it is sent first,", "no peers")
		r.Step()
		if got := r.only(); got.Error != "" || r.Now(w).Status != bursar.WithdrawalBroadcast {
			t.Errorf("sent again it is %s, and its error is %q", got.Status, got.Error)
		}
		r.Chain.SetRate(50)
		r.Chain.Mine(3)
		r.CatchUp()
		r.Chain.Fail(sim.Build, 1, errors.New("no fees known"))
		r.Chain.Fail(sim.Broadcast, 1, errors.New("still no peers"))
		r.Must(r.Sender.Step(ctx, r.Lease))
		noted("when it cannot be bumped,", "no fees known", "still no peers")
		r.Chain.Fail(sim.Broadcast, 1, errors.New("no peers for the bump"))
		r.Must(r.Sender.Step(ctx, r.Lease))
		noted("when its bump is sent,", "no peers for the bump")
		r.Chain.SetRate(10)
		r.Settle()
		r.Must(r.Audit())
	})
}

// If a node refuses the fee of the first version, the fee is bumped at once, and the transaction counts as sent with
// the next block.
func TestAFeeThatANodeRefusesIsBumpedAtOnce(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Fund()
		r.Settle()
		r.Trouble = true
		r.Chain.SetFloor(100)
		w := r.Order(100_000_000, r.Chain.Named("outside"))
		node := r.record()
		node.build = func(request chain.TxRequest, unsigned chain.UnsignedTx, err error) (chain.UnsignedTx, error) {
			if request.Replaces != nil {
				return chain.UnsignedTx{}, errors.New("no fees known")
			}
			return unsigned, err
		}
		r.Step()
		if got := r.only(); got.Versions != 1 || !strings.Contains(got.Error, "no fees known") {
			t.Errorf("when it cannot be bumped it has %d versions, and its error is %q, want 1 and one with %q",
				got.Versions, got.Error, "no fees known")
		}
		first := r.Now(w).TxID
		node.build = nil
		r.Chain.SetFloor(1)
		r.Chain.SetRate(50)
		r.Chain.Fail(sim.Broadcast, 1, chain.ErrUnderpriced)
		node.since()
		r.Step()
		bumped := r.only()
		node.wantSent(t, "when its fee is refused", first, bumped.TxID)
		if bumped.Versions != 2 {
			t.Fatalf("it has %d versions, want 2", bumped.Versions)
		}
		r.Chain.SetRate(200)
		r.Chain.Mine(1)
		r.Step()
		if got := r.only(); got.Status != bursar.OutgoingSent || got.SentAt == 0 || got.Error != "" {
			t.Errorf("with the next block it is %+v, want %v and not 0 and %q", got, bursar.OutgoingSent, "")
		}
		if got := r.Now(w).Status; got != bursar.WithdrawalBroadcast {
			t.Errorf("with the next block the withdrawal is %s, want %s", got, bursar.WithdrawalBroadcast)
		}
		r.Chain.SetRate(10)
		r.Settle()
		r.Must(r.Audit())
	})
}
