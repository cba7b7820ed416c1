package chaintest

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func testHoldingsEqualTheNodesBalances(t *testing.T, h Harness) {
	d := newHarness(t, h)
	hot := d.hot().Base
	unused := d.own(chain.KeyRef{Family: d.capabilities.Family, Branch: chain.OwnBranch, Index: 9}).Base
	bases := []string{unused, hot}
	if !d.capabilities.SharedAddress {
		bases = append(bases, d.deposit(1).Base)
		d.fund(d.deposit(1).Base, d.times(d.unit, 2))
	}
	d.fund(hot, d.times(d.unit, 3), d.unit)
	final := d.head().Final
	d.wantHoldings(bases, final)
	earlier, err := h.Chain.Holdings(t.Context(), nil, "", final)
	if err != nil || len(earlier) != 0 {
		t.Fatalf("holdings of no addresses are %v (%v), want none", earlier, err)
	}

	d.send(d.request(chain.Payment{Address: d.outsider(), Amount: d.unit}))
	d.settle()
	d.wantHoldings(bases, d.head().Final)
	d.wantAmount("an unused address", d.balance(unused), bursar.Amount{})
}

func (d *harness) wantHoldings(bases []string, at chain.BlockRef) {
	d.t.Helper()
	held, err := d.chain.Holdings(d.ctx, bases, "", at)
	d.check(err, "holdings")
	if len(held) != len(bases) {
		d.t.Fatalf("got %d holdings for %d addresses", len(held), len(bases))
	}
	for i, base := range bases {
		d.wantAmount("holding of "+base, held[i], d.balance(base))
	}
}
