package outgoing_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// outlives mines block by block and checks that a lost payment stays open as long as over reports false, and that it
// ends in the same step in which over reports true.
func (r *harness) outlives(lost bursar.ID, blocks int, over func() bool) {
	r.T.Helper()
	for range blocks {
		p := r.spendNow(lost)
		if is := p.Status == bursar.OutgoingAbandoned; is != over() {
			r.T.Fatalf("at height %d it is %s, sent at %d: %s", r.height(), p.Status, p.SentAt, p.Error)
		}
		if p.Status == bursar.OutgoingAbandoned {
			return
		}
		r.Blocks(1)
	}
}

// A payment whose bytes are not known ends as soon as the final blocks are past the longest possible lifetime plus a
// quarter, and no block earlier.
func TestAnAdoptedPaymentEndsAfterItsLifetime(t *testing.T) {
	t.Parallel()
	each(t, bursartest.Models["expiring"], func(t *testing.T, r *harness) {
		w, _ := r.lostAdopted()
		lost := r.Now(w).OutgoingID
		r.Trouble = true
		r.Step()
		sent := r.spendNow(lost).SentAt
		r.outlives(lost, 30, func() bool { final, _ := r.Chain.Heights(); return uint64(final) > sent+5+1 })
		r.Settle()
		r.holdsOnce(w)
	})
}

// A transaction that others may have signed with a longer lifetime stays open past every lifetime: one that an operator
// has resolved, wholly or in part.
func TestATransactionThatOthersMayHaveSignedStaysOpen(t *testing.T) {
	t.Parallel()
	own := func(r *harness, item int64) {
		r.Must(r.Resolve(recovery.Answer{Item: item, Rest: store.UsedForOperator, Actor: "ann"}))
	}
	for name, explain := range map[string]func(r *harness, item int64){
		"the operator's own": own,
		"the operator's own, by the clock": func(r *harness, item int64) {
			own(r, item)
			r.Sender.Chain = &perishable{Chain: r.Chain, life: time.Second}
		},
		"unclear": func(*harness, int64) {},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, bursartest.Models["expiring"], func(t *testing.T, r *harness) {
				r.Prepare()
				r.Settle()
				r.Do(func(tx *store.Tx) error {
					return tx.Recoveries().Begin(ctx, r.Chain.Capabilities().ID, "the database was restored")
				})
				first := r.Chain.ExternalSpend(r.Hot.Base,
					chain.Payment{Address: bursar.Address{Base: r.Chain.Named("outside")}, Amount: bursar.Units(200_000_000)})
				r.Blocks(3)
				explain(r, r.Unclear()[0].Number)
				r.Undo(first, first)
				r.Chain.Forget()
				r.Trouble = true
				r.Blocks(30)
				lost := r.externalSpend(first).OutgoingID
				if p := r.spendNow(lost); p.Status != bursar.OutgoingSent {
					t.Errorf("the outgoing transaction is %s, want %s", p.Status, bursar.OutgoingSent)
				}
				if !r.Recovering() {
					r.noted(lost, "its bytes are not known; it ends once the final blocks are past its lifetime",
						"if it names none and may have been signed by others, it stays open")
				} else if name != "unclear" {
					t.Error("the chain still recovers")
				}
			})
		})
	}
}

// If one of two versions is known and has expired, and the bytes of the other one are not known, both must be over
// before another transaction pays.
func TestAVersionThatIsNotKnownIsOutlivedToo(t *testing.T) {
	t.Parallel()
	each(t, bursartest.Models["expiring"], func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		r.Step()
		first, lost := r.Now(w).TxID, r.Now(w).OutgoingID
		before := r.Backup()
		r.Trouble = true
		r.Chain.SetRate(30)
		for n := 0; n < 5 && r.Now(w).TxID == first; n++ {
			r.Blocks(1)
		}
		second := r.Now(w).TxID
		r.Chain.Mine(1)
		r.Restore(before)
		r.Step()
		if p := r.spendNow(lost); p.TxID != second || p.Height == 0 || r.versionsOf(lost) != 2 ||
			len(r.version(second).Raw) > 0 {
			t.Fatalf("the second version was not adopted: %+v", p)
		}
		r.Undo(second, second)
		r.Chain.Forget()
		r.Chain.SetRate(1 << 20) // nothing enters a block
		r.Step()
		sent := r.spendNow(lost).SentAt
		for range 20 {
			final, _ := r.Chain.Heights()
			if is, over := r.spendNow(lost).Status == bursar.OutgoingAbandoned, uint64(final) > sent+5+1; is != over {
				t.Fatalf("at height %d it is %s, sent at %d: %s, want %v",
					r.height(), r.spendNow(lost).Status, sent, r.spendNow(lost).Error, over)
			} else if over {
				break
			}
			r.Blocks(1)
		}
		r.Chain.SetRate(10)
		r.Settle()
		r.holdsOnce(w)
	})
}

// perishable is a chain whose transactions live for a time, and that may answer wrongly about its blocks.
type perishable struct {
	*sim.Chain
	life  time.Duration
	after func([]chain.Block, error) ([]chain.Block, error)
}

func (p perishable) Capabilities() chain.Capabilities {
	c := p.Chain.Capabilities()
	c.Lifetime.Time = p.life
	return c
}

func (p perishable) After(
	ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch,
) ([]chain.Block, error) {
	blocks, err := p.Chain.After(ctx, last, limit, watch)
	if p.after != nil {
		return p.after(blocks, err)
	}
	return blocks, err
}

// If transactions live for a time, the time of the final blocks counts in addition to their number. An answer about
// another block, no answer, or an error ends nothing.
func TestAnAdoptedPaymentEndsAfterItsTime(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		const life = 10 * time.Second // and the same number of blocks
		r := newHarness(t, db, bursartest.Models["expiring"])
		w, first := r.lostAdopted()
		lost := r.Now(w).OutgoingID
		r.Trouble = true
		node := &perishable{Chain: r.Chain, life: life}
		r.Sender.Chain = node
		r.Step()
		seen := r.externalSpend(first).MadeAt
		over := func() bool {
			final, _ := r.Chain.Heights()
			at, err := r.Chain.At(ctx, uint64(final)-1)
			r.Must(err)
			blocks, err := r.Chain.After(ctx, at, 1, everything{})
			r.Must(err)
			return blocks[0].Time.After(seen.Add(life + life/4))
		}
		for n := 0; n < 40 && !over(); n++ {
			if p := r.spendNow(lost); p.Status != bursar.OutgoingSent {
				t.Fatalf("at height %d the outgoing transaction is %s, want %s", r.height(), p.Status, bursar.OutgoingSent)
			}
			r.Chain.Mine(1)
			r.follow()
			if over() {
				break
			}
			r.Must(r.Sender.Step(ctx, r.Lease))
		}
		for name, wrong := range map[string]func([]chain.Block, error) ([]chain.Block, error){
			"no block": func([]chain.Block, error) ([]chain.Block, error) { return nil, nil },
			"an error": func([]chain.Block, error) ([]chain.Block, error) { return nil, errors.New("the node is unavailable") },
			"another":  func(b []chain.Block, err error) ([]chain.Block, error) { b[0].Ref.Hash = "another"; return b, err },
		} {
			node.after = wrong
			r.Must(r.Sender.Step(ctx, r.Lease))
			if p := r.spendNow(lost); p.Status != bursar.OutgoingSent {
				t.Fatalf("after %s the outgoing transaction is %s, want %s", name, p.Status, bursar.OutgoingSent)
			}
			if name == "an error" {
				r.noted(lost, "the node is unavailable")
			}
		}
		node.after = nil
		r.Must(r.Sender.Step(ctx, r.Lease))
		if p := r.spendNow(lost); p.Status != bursar.OutgoingAbandoned {
			t.Errorf("at height %d the outgoing transaction is %s: %s, want %s",
				r.height(), p.Status, p.Error, bursar.OutgoingAbandoned)
		}
		r.Sender.Chain = r.Chain
		r.Settle()
		r.holdsOnce(w)
	})
}

// everything is a watch that matches everything.
type everything struct{}

func (everything) Sync(context.Context) error { return nil }
func (everything) Pays(string) bool           { return true }
func (everything) Sent(string) bool           { return true }
