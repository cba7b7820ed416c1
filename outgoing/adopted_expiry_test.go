package outgoing_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// outlives mines block by block and checks that a lost payment stays open as long as over reports false, and that it
// ends in the same step in which over reports true.
func (r *harness) outlives(lost bursar.ID, blocks int, over func() bool) {
	r.t.Helper()
	for range blocks {
		p := r.spendNow(lost)
		if is := p.Status == bursar.OutgoingAbandoned; is != over() {
			r.t.Fatalf("at height %d it is %s, sent at %d: %s", r.height(), p.Status, p.SentAt, p.Error)
		}
		if p.Status == bursar.OutgoingAbandoned {
			return
		}
		r.blocks(1)
	}
}

// A payment whose bytes are not known ends as soon as the final blocks are past the longest possible lifetime plus a
// quarter, and no block earlier.
func TestAnAdoptedPaymentEndsAfterItsLifetime(t *testing.T) {
	t.Parallel()
	each(t, models["expiring"], func(t *testing.T, r *harness) {
		w, _ := r.lostAdopted()
		lost := r.now(w).OutgoingID
		r.trouble = true
		r.step()
		sent := r.spendNow(lost).SentAt
		r.outlives(lost, 30, func() bool { final, _ := r.chain.Heights(); return uint64(final) > sent+5+1 })
		r.settle()
		r.holdsOnce(w)
	})
}

// A transaction that others may have signed with a longer lifetime stays open past every lifetime: one that an operator
// has resolved, wholly or in part.
func TestATransactionThatOthersMayHaveSignedStaysOpen(t *testing.T) {
	t.Parallel()
	own := func(r *harness, item int64) {
		r.must(r.resolve(recovery.Answer{Item: item, Rest: store.UsedForOperator, Actor: "ann"}))
	}
	for name, explain := range map[string]func(r *harness, item int64){
		"the operator's own": own,
		"the operator's own, by the clock": func(r *harness, item int64) {
			own(r, item)
			r.sender.Chain = &perishable{Chain: r.chain, life: time.Second}
		},
		"unclear": func(*harness, int64) {},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, models["expiring"], func(t *testing.T, r *harness) {
				r.prepare()
				r.settle()
				r.do(func(tx *store.Tx) error {
					return tx.Recoveries().Begin(ctx, r.chain.Capabilities().ID, "the database was restored")
				})
				first := r.chain.ExternalSpend(r.hot.Base,
					chain.Payment{Address: bursar.Address{Base: r.chain.Named("outside")}, Amount: bursar.Units(200_000_000)})
				r.blocks(3)
				explain(r, r.unclear()[0].Number)
				r.undo(first, first)
				r.chain.Forget()
				r.trouble = true
				r.blocks(30)
				lost := r.externalSpend(first).OutgoingID
				if p := r.spendNow(lost); p.Status != bursar.OutgoingSent {
					t.Errorf("it is %s", p.Status)
				}
				if !r.recovering() {
					r.noted(lost,
						"its bytes are not known; it ends once the final blocks are past its lifetime, "+
							"unless it may have been signed by others")
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
	each(t, models["expiring"], func(t *testing.T, r *harness) {
		r.prepare()
		r.settle()
		w := r.order(300_000_000, r.chain.Named("receiver"))
		r.step()
		first, lost := r.now(w).TxID, r.now(w).OutgoingID
		before := r.backup()
		r.trouble = true
		r.chain.SetRate(30)
		for n := 0; n < 5 && r.now(w).TxID == first; n++ {
			r.blocks(1)
		}
		second := r.now(w).TxID
		r.chain.Mine(1)
		r.restore(before)
		r.step()
		if p := r.spendNow(lost); p.TxID != second || p.Height == 0 || r.versionsOf(lost) != 2 ||
			len(r.version(second).Raw) > 0 {
			t.Fatalf("the second version was not adopted: %+v", p)
		}
		r.undo(second, second)
		r.chain.Forget()
		r.chain.SetRate(1 << 20) // nothing enters a block
		r.step()
		sent := r.spendNow(lost).SentAt
		for range 20 {
			final, _ := r.chain.Heights()
			if is, over := r.spendNow(lost).Status == bursar.OutgoingAbandoned, uint64(final) > sent+5+1; is != over {
				t.Fatalf("at height %d it is %s, sent at %d: %s", r.height(), r.spendNow(lost).Status, sent, r.spendNow(lost).Error)
			} else if over {
				break
			}
			r.blocks(1)
		}
		r.chain.SetRate(10)
		r.settle()
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
		r := newHarness(t, db, models["expiring"])
		w, first := r.lostAdopted()
		lost := r.now(w).OutgoingID
		r.trouble = true
		node := &perishable{Chain: r.chain, life: life}
		r.sender.Chain = node
		r.step()
		seen := r.externalSpend(first).MadeAt
		over := func() bool {
			final, _ := r.chain.Heights()
			at, err := r.chain.At(ctx, uint64(final)-1)
			r.must(err)
			blocks, err := r.chain.After(ctx, at, 1, everything{})
			r.must(err)
			return blocks[0].Time.After(seen.Add(life + life/4))
		}
		for n := 0; n < 40 && !over(); n++ {
			if p := r.spendNow(lost); p.Status != bursar.OutgoingSent {
				t.Fatalf("at height %d it is %s", r.height(), p.Status)
			}
			r.chain.Mine(1)
			r.follow()
			if over() {
				break
			}
			r.must(r.sender.Step(ctx, r.lease))
		}
		for name, wrong := range map[string]func([]chain.Block, error) ([]chain.Block, error){
			"no block": func([]chain.Block, error) ([]chain.Block, error) { return nil, nil },
			"an error": func([]chain.Block, error) ([]chain.Block, error) { return nil, errors.New("the node is unavailable") },
			"another":  func(b []chain.Block, err error) ([]chain.Block, error) { b[0].Ref.Hash = "another"; return b, err },
		} {
			node.after = wrong
			r.must(r.sender.Step(ctx, r.lease))
			if p := r.spendNow(lost); p.Status != bursar.OutgoingSent {
				t.Fatalf("after %s it is %s", name, p.Status)
			}
			if name == "an error" {
				r.noted(lost, "the node is unavailable")
			}
		}
		node.after = nil
		r.must(r.sender.Step(ctx, r.lease))
		if p := r.spendNow(lost); p.Status != bursar.OutgoingAbandoned {
			t.Errorf("at height %d it is %s: %s", r.height(), p.Status, p.Error)
		}
		r.sender.Chain = r.chain
		r.settle()
		r.holdsOnce(w)
	})
}

// everything is a watch that matches everything.
type everything struct{}

func (everything) Sync(context.Context) error { return nil }
func (everything) Pays(string) bool           { return true }
func (everything) Sent(string) bool           { return true }
