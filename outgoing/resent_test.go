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

// recorded is a chain that remembers which unsigned transactions were asked of it and what it was sent.
type recorded struct {
	*sim.Chain
	built []chain.TxRequest
	sent  []string
	// build may answer something else than the chain; nil: it does not.
	build func(chain.TxRequest, chain.UnsignedTx, error) (chain.UnsignedTx, error)
}

func (c *recorded) Build(ctx context.Context, order chain.TxRequest) (chain.UnsignedTx, error) {
	c.built = append(c.built, order)
	unsigned, err := c.Chain.Build(ctx, order)
	if c.build != nil {
		return c.build(order, unsigned, err)
	}
	return unsigned, err
}

func (c *recorded) Broadcast(ctx context.Context, tx chain.SignedTx) error {
	c.sent = append(c.sent, tx.TxID)
	return c.Chain.Broadcast(ctx, tx)
}

// since forgets what was asked and sent until now.
func (c *recorded) since() { c.built, c.sent = nil, nil }

// record has the spender ask a chain that remembers.
func (r *harness) record() *recorded {
	c := &recorded{Chain: r.chain}
	r.sender.Chain = c
	return c
}

// wantSent checks what a node was sent since.
func (c *recorded) wantSent(t testing.TB, when string, txIDs ...string) {
	t.Helper()
	if strings.Join(c.sent, " ") != strings.Join(txIDs, " ") {
		t.Errorf("%s a node was sent %q, want %q", when, c.sent, txIDs)
	}
}

// only returns the one outgoing transaction that is open.
func (r *harness) only() bursar.OutgoingTx {
	r.t.Helper()
	open := r.open()
	if len(open) != 1 {
		r.t.Fatalf("open are %+v", open)
	}
	return open[0]
}

// waiting has a payment sent at a fee that no block takes any more.
func (r *harness) waiting() (w bursar.Withdrawal, node *recorded) {
	r.t.Helper()
	r.fund()
	r.settle()
	node = r.record()
	w = r.order(100_000_000, r.chain.Named("outside"))
	r.step()
	w = r.now(w)
	node.wantSent(r.t, "at first", w.TxID)
	r.chain.SetRate(50)
	node.since()
	return w, node
}

// A payment that waits for its block is sent once with every new one, and no more; after as many blocks as its chain
// says its fee is bumped, once, and the bump alone is sent.
func TestAPaymentIsSentOnceABlockAndThenBumped(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		w, node := r.waiting()
		for range 2 {
			node.since()
			r.chain.Mine(1)
			r.step()
			r.step()
			node.wantSent(t, "with the next block", w.TxID)
			if len(node.built) > 0 {
				t.Errorf("before it has waited long enough %d transactions are drafted", len(node.built))
			}
		}
		node.since()
		r.chain.Mine(1)
		r.step()
		bumped := r.only()
		if bumped.Versions != 2 || bumped.TxID == w.TxID || bumped.Error != "" {
			t.Errorf("after three blocks it is %+v", bumped)
		}
		node.wantSent(t, "after three blocks", bumped.TxID)
		r.chain.SetRate(10)
		r.settle()
		r.must(r.audit())
	})
}

// What a node answers to the first sending, to a bump and to sending again is read beside the outgoing transaction.
func TestWhatANodeAnswersIsNotedWhereverItIsAsked(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.fund()
		r.settle()
		noted := func(when string, want ...string) {
			t.Helper()
			for _, text := range want {
				if got := r.only().Error; !strings.Contains(got, text) {
					t.Errorf("%s the operator reads %q, want %q", when, got, text)
				}
			}
		}
		r.trouble = true
		r.chain.Fail(sim.Broadcast, 1, errors.New("no peers"))
		w := r.order(100_000_000, r.chain.Named("outside"))
		r.step()
		noted("when it is sent first,", "no peers")
		r.step()
		if got := r.only(); got.Error != "" || r.now(w).Status != bursar.WithdrawalBroadcast {
			t.Errorf("sent again it is %s, and %q is read", got.Status, got.Error)
		}
		r.chain.SetRate(50)
		r.chain.Mine(3)
		r.catchUp()
		r.chain.Fail(sim.Build, 1, errors.New("no fees known"))
		r.chain.Fail(sim.Broadcast, 1, errors.New("still no peers"))
		r.must(r.sender.Step(ctx, r.lease))
		noted("when it cannot be bumped,", "no fees known", "still no peers")
		r.chain.Fail(sim.Broadcast, 1, errors.New("no peers for the bump"))
		r.must(r.sender.Step(ctx, r.lease))
		noted("when its bump is sent,", "no peers for the bump")
		r.chain.SetRate(10)
		r.settle()
		r.must(r.audit())
	})
}

// A node refuses the fee of what it is sent first: that is bumped at once, and counts as sent with the next block.
func TestAFeeThatANodeRefusesIsBumpedAtOnce(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.fund()
		r.settle()
		r.trouble = true
		r.chain.SetFloor(100)
		w := r.order(100_000_000, r.chain.Named("outside"))
		node := r.record()
		node.build = func(order chain.TxRequest, unsigned chain.UnsignedTx, err error) (chain.UnsignedTx, error) {
			if order.Replaces != nil {
				return chain.UnsignedTx{}, errors.New("no fees known")
			}
			return unsigned, err
		}
		r.step()
		if got := r.only(); got.Versions != 1 || !strings.Contains(got.Error, "no fees known") {
			t.Errorf("when it cannot be bumped it has %d versions, and %q is read", got.Versions, got.Error)
		}
		first := r.now(w).TxID
		node.build = nil
		r.chain.SetFloor(1)
		r.chain.SetRate(50)
		r.chain.Fail(sim.Broadcast, 1, chain.ErrUnderpriced)
		node.since()
		r.step()
		bumped := r.only()
		node.wantSent(t, "when its fee is refused", first, bumped.TxID)
		if bumped.Versions != 2 {
			t.Fatalf("it has %d versions", bumped.Versions)
		}
		r.chain.SetRate(200)
		r.chain.Mine(1)
		r.step()
		if got := r.only(); got.Status != bursar.OutgoingSent || got.SentAt == 0 || got.Error != "" {
			t.Errorf("with the next block it is %+v", got)
		}
		if got := r.now(w).Status; got != bursar.WithdrawalBroadcast {
			t.Errorf("with the next block the withdrawal is %s", got)
		}
		r.chain.SetRate(10)
		r.settle()
		r.must(r.audit())
	})
}

// A node takes a payment and its answer is lost, and the block that includes it is reorged out. It is sent again then,
// not bumped: how long it waits counts from there.
func TestAPaymentThatNobodyIsKnownToHaveBeenSentIsSentBeforeItIsBumped(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.fund()
		r.settle()
		r.trouble = true
		r.chain.FailBroadcasts(sim.TakenUnknown, 1)
		w := r.order(100_000_000, r.chain.Named("outside"))
		r.step()
		first := r.now(w).TxID
		r.chain.Mine(1)
		r.catchUp()
		if p := r.only(); p.Height == 0 || p.SentAt != 0 {
			t.Fatalf("it is %+v", p)
		}
		r.chain.Reorg(1, first)
		r.chain.SetRate(50)
		r.chain.Mine(3)
		r.catchUp()
		node := r.record()
		r.must(r.sender.Step(ctx, r.lease))
		node.wantSent(t, "when its block is gone", first)
		_, latest := r.chain.Heights()
		if p := r.only(); p.Versions != 1 || p.SentAt != latest {
			t.Errorf("it has %d versions and counts as sent at %d of %d", p.Versions, p.SentAt, latest)
		}
		r.chain.Mine(3)
		r.step()
		if p := r.only(); p.Versions != 2 {
			t.Errorf("three blocks later it has %d versions", p.Versions)
		}
		r.chain.SetRate(10)
		r.settle()
		r.must(r.audit())
	})
}

// Where nothing is replaced, nothing is bumped, however long it waits.
func TestNothingIsBumpedWhereNothingIsReplaced(t *testing.T) {
	each(t, tronlike, func(t *testing.T, r *harness) {
		w, node := r.waiting()
		for range 3 {
			r.chain.Mine(1)
			r.step()
		}
		node.wantSent(t, "with three blocks", w.TxID, w.TxID, w.TxID)
		if len(node.built) > 0 || r.only().Error != "" {
			t.Errorf("%d transactions are drafted, and %q is read", len(node.built), r.only().Error)
		}
		r.chain.SetRate(10)
		r.settle()
	})
}

// The database has lost the bytes of what was sent. It is not taken for one that can never be included: nothing else
// pays instead, and the operator reads what is missing.
func TestAPaymentWhoseBytesAreMissingIsNotGivenUp(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		w, node := r.waiting()
		r.forged = true
		intruder(t, r.db)(`DELETE FROM outgoing_versions`)
		r.trouble = true
		r.chain.Mine(1)
		r.step()
		if got := r.only(); got.ID != w.OutgoingID || got.Status != bursar.OutgoingSent ||
			!strings.Contains(got.Error, "no stored transaction") {
			t.Errorf("it is %s, and %q is read", got.Status, got.Error)
		}
		node.wantSent(t, "without bytes")
		if got := r.now(w); got.Status != bursar.WithdrawalBroadcast || len(node.built) > 0 {
			t.Errorf("the withdrawal is %s, %d transactions are drafted", got.Status, len(node.built))
		}
	})
}

// Of a bumped payment a block brought the first version, and is reorged out: that version is what is sent again, and
// what counts.
func TestTheVersionThatWasInABlockIsSentAgain(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		w, node := r.waiting()
		low := r.version(w.TxID)
		r.chain.Mine(3)
		r.step()
		if r.only().Versions != 2 {
			t.Fatal("it is not bumped")
		}
		r.chain.Forget()
		r.chain.SetRate(10)
		r.must(r.chain.Broadcast(ctx, low))
		r.chain.Mine(1)
		r.step()
		if r.only().TxID != low.TxID {
			t.Fatal("the first version is in no block")
		}
		r.chain.Reorg(1, low.TxID)
		r.chain.Forget()
		r.catchUp()
		node.since()
		r.must(r.sender.Step(ctx, r.lease))
		node.wantSent(t, "when its block is gone", low.TxID)
		r.settle()
		if got := r.now(w).TxID; got != low.TxID {
			t.Errorf("it is paid by %s", got)
		}
		r.must(r.audit())
	})
}
