package reconcile_test

import (
	"context"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/reconcile"
	"github.com/bursar/bursar/store"
)

// emptied is a chain on which an address lost something without an event, which a token's issuer can do.
type emptied struct {
	*sim.Chain
	base string
	lost bursar.Amount
}

func (e emptied) Holdings(
	ctx context.Context, bases []string, contract string, at chain.BlockRef,
) ([]bursar.Amount, error) {
	held, err := e.Chain.Holdings(ctx, bases, contract, at)
	for i, base := range bases {
		if base == e.base && err == nil {
			held[i], err = held[i].Sub(e.lost)
		}
	}
	return held, err
}

// A loss of an address without any event is found, and the address is named.
func TestReconciliationNamesWhereMoneyIsMissing(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		whole, robbed := r.Wallet(0), r.Wallet(1)
		r.Pay(whole.Address, 5_000)
		r.Pay(robbed.Address, 7_000)
		r.Pay(bursar.Address{Base: r.Hot.Base}, 1_000)
		r.Chain.Mine(3)
		for range 2 {
			if _, err := r.Follower.Step(ctx, r.Lease); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Reconcile(); err != nil {
			t.Fatal(err)
		}
		node := emptied{r.Chain, robbed.Address.Base, bursar.Units(2_500)}
		lines, err := (&reconcile.Reconciler{DB: r.DB, Chain: node, Registry: r.Registry, Hot: r.Hot.Base}).Run(ctx)
		if err != nil || len(lines) != 1 || lines[0].Missing != node.lost || lines[0].Balanced() {
			t.Fatalf("the lines are %+v, %v", lines, err)
		}
		want := reconcile.Difference{Address: node.base, Books: bursar.Units(7_000), OnChain: bursar.Units(4_500)}
		if got := lines[0].Differences; len(got) != 1 || got[0] != want || got[0].Size() != node.lost {
			t.Fatalf("the differences are %+v, want %+v", got, want)
		}
		kinds := func() (open []string) {
			r.View(func(tx *store.Tx) error {
				alarms, err := tx.Alarms().List(ctx, 10)
				for _, a := range alarms {
					open = append(open, a.Kind)
				}
				return err
			})
			return open
		}
		if got := kinds(); len(got) != 1 || got[0] != "books_differ" {
			t.Fatalf("the alarms are %v, want 1 of them and %q", got, "books_differ")
		}
		if err := r.Reconcile(); err != nil {
			t.Fatal(err)
		}
		if got := kinds(); len(got) != 0 {
			t.Fatalf("the alarms are %v once all is well again", got)
		}
	})
}

// given is a chain on which an address holds something that no block showed, as when a contract sends it in a block
// that is not traced.
type given struct {
	*sim.Chain
	base  string
	value bursar.Amount
}

func (g given) Holdings(
	ctx context.Context, bases []string, contract string, at chain.BlockRef,
) ([]bursar.Amount, error) {
	held, err := g.Chain.Holdings(ctx, bases, contract, at)
	for i, base := range bases {
		if base == g.base && err == nil {
			held[i], err = held[i].Add(g.value)
		}
	}
	return held, err
}

// Value at an address that was never seen to be paid is found if all addresses are compared.
func TestReconcilingAllFindsWhatNoBlockShowed(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		paid, unseen := r.Wallet(0), r.Wallet(1)
		r.Pay(paid.Address, 5_000)
		r.Chain.Mine(3)
		for range 2 {
			if _, err := r.Follower.Step(ctx, r.Lease); err != nil {
				t.Fatal(err)
			}
		}
		node := given{r.Chain, unseen.Address.Base, bursar.Units(700)}
		for all, surplus := range map[bool]uint64{false: 0, true: 700} {
			lines, err := (&reconcile.Reconciler{DB: r.DB, Chain: node, Registry: r.Registry, Hot: r.Hot.Base,
				All: all}).Run(ctx)
			if err != nil || len(lines) != 1 || lines[0].Surplus != bursar.Units(surplus) {
				t.Fatalf("all %v: the lines are %+v, %v, want 1 of them and %v", all, lines, err, bursar.Units(surplus))
			}
			if all && (len(lines[0].Differences) != 1 || lines[0].Differences[0].Address != node.base) {
				t.Fatalf("the differences are %+v", lines[0].Differences)
			}
		}
	})
}
