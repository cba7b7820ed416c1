package outgoing_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// understating is a chain whose node says a number of times that an address has used no nonce, and after that adds some
// to those that it has used.
type understating struct {
	*sim.Chain
	times int
	more  uint64
	asked func() // what happens while the answer is under way
}

func (c *understating) NonceAt(ctx context.Context, base string, at chain.BlockRef) (uint64, error) {
	if c.asked != nil {
		c.asked()
	}
	if c.times > 0 {
		c.times--
		return 0, nil
	}
	used, err := c.Chain.NonceAt(ctx, base, at)
	return used + c.more, err
}

// A node has understated the nonces that a hot wallet used before there was a database, and what was to use them up is
// requested: it ends once the final block shows that they are used, and payments go on. While a node understates them
// again, nothing is paid and nothing is requested.
func TestWhatUsesUpANonceThatWasUsedEnds(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.usedBefore()
		w := r.Order(100_000_000, r.Chain.Named("receiver"))
		r.Step()
		node := &understating{Chain: r.Chain, times: 1}
		r.Sender.Chain = node
		r.Trouble = true
		r.Step()
		if node.times > 0 {
			t.Fatal("the node was not asked")
		}
		next := r.Order(100_000_000, r.Chain.Named("next"))
		r.Step()
		node.times = 1
		last := r.Order(100_000_000, r.Chain.Named("last"))
		r.Step()
		if got := r.filling(r.Hot.Base); len(got) > 0 || r.Now(last).TxID != "" {
			t.Errorf("%d transactions use up nonces that are used, and the last payment is made by %q", len(got),
				r.Now(last).TxID)
		}
		r.Trouble = false
		r.Settle()
		r.holdsOnce(w, next, last)
		r.NothingOpen()
		r.wantNone("nonce_lost")
		r.Must(r.Chain.Check())
	})
}

// A node had understated the nonces, and what was to use one up is signed: no block includes it. An operator ends it
// once the final block shows that the nonce is used, and not before; then payments go on.
func TestAnOperatorEndsWhatUsesUpANonceThatWasUsed(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		g := r.losesANonce()
		r.Trouble = true
		r.Chain.FailBroadcasts(sim.LostUnknown, 1000)
		r.untilFilling(r.Hot.Base)
		r.Step()
		p := r.filling(r.Hot.Base)[0]
		if p.TxID == "" {
			t.Fatal("what uses the nonce up is not signed")
		}
		word := outgoing.Abandonment{Reason: "the explorer shows its nonce", Actor: "ann"}
		if _, err := r.Sender.Abandon(ctx, p.ID, word); !errors.Is(err, outgoing.ErrCannotBeVoid) {
			t.Errorf("while the nonce is not used: %v, want %v", err, outgoing.ErrCannotBeVoid)
		}
		node := &understating{Chain: r.Chain, more: 1, asked: func() { r.setHeight(p.ID, r.tip()) }}
		r.Sender.Chain = node
		if _, err := r.Sender.Abandon(ctx, p.ID, word); !errors.Is(err, outgoing.ErrCannotBeVoid) {
			t.Errorf("if it is in a block by then: %v, want %v", err, outgoing.ErrCannotBeVoid)
		}
		r.setHeight(p.ID, 0)
		node.asked = nil
		by, err := r.Sender.Abandon(ctx, p.ID, word)
		r.Must(err)
		if now := r.spendNow(p.ID).Status; now != bursar.OutgoingAbandoned || !by.IsZero() {
			t.Errorf("it is %s, replaced by %s, want %s by nothing", now, by, bursar.OutgoingAbandoned)
		}
		if _, err := r.Sender.Abandon(ctx, p.ID, word); !errors.Is(err, outgoing.ErrNotOpen) {
			t.Errorf("once more: %v, want %v", err, outgoing.ErrNotOpen)
		}
		r.Step()
		if got := r.Now(g.lost).TxID; got == "" || r.alarmed("nonce_lost") {
			t.Errorf("the payment is made by %q, and the alarms are %q", got, r.says())
		}
	})
}

// setHeight has the database say in which block an outgoing transaction is, or that it is in none.
func (r *harness) setHeight(id bursar.ID, height uint64) {
	r.T.Helper()
	r.Do(func(tx *store.Tx) error {
		p, err := tx.Outgoing().Get(ctx, id)
		if err != nil {
			return err
		}
		if height == 0 {
			_, err = tx.Outgoing().Exclude(ctx, p.Chain, p.Height)
			return err
		}
		return tx.Outgoing().Include(ctx, id, p.TxID, height, false, bursar.Amount{})
	})
}
