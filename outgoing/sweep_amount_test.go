package outgoing_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store/storetest"
)

// What a transaction counts on when it is built: what is at the address of a sweep by then, what other transactions of
// an address take, and the fee limit of the day.

// collecting is a node that is asked what an address holds before a sweep is built.
type collecting struct {
	*sim.Chain
	head  func(chain.Head) (chain.Head, error)
	held  func([]bursar.Amount) ([]bursar.Amount, error)
	asked int
	built []string // what the sweeps that were built should collect
}

func (c *collecting) Head(ctx context.Context) (chain.Head, error) {
	head, err := c.Chain.Head(ctx)
	if err == nil && c.head != nil {
		return c.head(head)
	}
	return head, err
}

func (c *collecting) Holdings(ctx context.Context, bases []string, contract string,
	at chain.BlockRef) ([]bursar.Amount, error) {
	c.asked++
	held, err := c.Chain.Holdings(ctx, bases, contract, at)
	if err == nil && c.held != nil {
		return c.held(held)
	}
	return held, err
}

func (c *collecting) Build(ctx context.Context, order chain.TxRequest) (chain.UnsignedTx, error) {
	if order.Kind == chain.KindSweep {
		c.built = append(c.built, order.Payments[0].Amount.String())
	}
	return c.Chain.Build(ctx, order)
}

// A sweep collects what the final chain holds when it is built, by the node or else by the books, though less was there
// when it was ordered. Without a node nothing is built.
func TestASweepCollectsWhatIsThereByNow(t *testing.T) {
	away := errors.New("the node keeps no such state")
	says := func(err error, held ...bursar.Amount) func([]bursar.Amount) ([]bursar.Amount, error) {
		return func([]bursar.Amount) ([]bursar.Amount, error) { return held, err }
	}
	for name, c := range map[string]struct {
		head  func(chain.Head) (chain.Head, error)
		held  func([]bursar.Amount) ([]bursar.Amount, error)
		built string // "": nothing is
		asked int
	}{
		"the node says it":       {built: "100000000", asked: 1},
		"more than is booked":    {held: says(nil, bursar.Units(100_000_033)), built: "100000033", asked: 1},
		"the node does not know": {held: says(away, bursar.Units(7)), built: "100000000", asked: 1},
		"the node says nothing":  {held: says(nil), built: "100000000", asked: 1},
		"the node says zero":     {held: says(nil, bursar.Amount{}), built: "100000000", asked: 1},
		"no block is final": {
			head:  func(h chain.Head) (chain.Head, error) { return chain.Head{Latest: h.Latest}, nil },
			built: "100000000"},
		"the node is away": {head: func(h chain.Head) (chain.Head, error) { return h, away }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, storetest.Open(t, storetest.SQLite(t)), numbered)
			r.prepare()
			r.settle()
			w := r.wallet(1)
			r.pay(w.Address, 80_000_000)
			r.chain.Fail(sim.Build, 1000, nil)
			r.blocks(5)
			if open := r.open(); len(open) != 1 || open[0].Kind != string(chain.KindSweep) {
				t.Fatalf("open are %+v", open)
			}
			r.pay(w.Address, 20_000_000)
			r.blocks(5)
			r.chain.ClearFaults()
			node := &collecting{Chain: r.chain, head: c.head, held: c.held}
			r.sender.Chain = node
			r.must(r.sender.Step(ctx, r.lease))
			want := []string{}
			if c.built != "" {
				want = append(want, c.built)
			}
			if len(node.built) != len(want) || len(want) > 0 && node.built[0] != want[0] || node.asked != c.asked {
				t.Errorf("the node was asked %d times, built were %q; want %d times, %q", node.asked, node.built, c.asked, want)
			}
			r.sender.Chain = r.chain
			r.settle()
			if got := r.holding(w.Address.Base, ""); !got.Less(bursar.Units(1_000_000)) { // what is left of the fee
				t.Errorf("the books say that %s are left at the address", got)
			}
			r.must(r.audit())
		})
	}
}

// A sweep whose fee is bumped takes no more than its first version, whatever has arrived since: that is swept by the
// next one.
func TestABumpedSweepTakesNoMore(t *testing.T) {
	config := numbered
	config.BumpAfter = 2
	each(t, config, func(t *testing.T, r *harness) {
		r.prepare()
		r.settle()
		w := r.wallet(1)
		r.pay(w.Address, 80_000_000)
		r.chain.Mine(3)
		r.catchUp()
		node := &collecting{Chain: r.chain}
		r.sender.Chain = node
		r.must(r.sweeper.Step(ctx, r.lease))
		r.must(r.sender.Step(ctx, r.lease))
		r.chain.SetRate(1000) // no block takes it, nor anything else of ours
		r.pay(w.Address, 20_000_000)
		r.blocks(1)
		r.blocks(6)
		if len(node.built) < 2 {
			t.Fatalf("built were %q", node.built)
		}
		for _, amount := range node.built {
			if amount != "80000000" {
				t.Errorf("a version of the sweep should collect %s", amount)
			}
		}
		r.chain.SetRate(10)
		r.settleAll()
		if got := r.holding(w.Address.Base, ""); !got.Less(bursar.Units(1_000_000)) { // what is left of the fee
			t.Errorf("the books say that %s are left at the address", got)
		}
		r.must(r.audit())
	})
}

// Two payments of one step do not count on the same money: the second waits for funds, and is paid once they are there.
func TestTwoPaymentsDoNotCountOnTheSameMoney(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.prepare()
		r.settle()
		r.pay(r.wallet(0).Address, 5_000_000_000)
		r.blocksWithoutSweeps(4)
		first, second := r.order(1_500_000_000, r.chain.Named("first")), r.order(1_500_000_000, r.chain.Named("second"))
		r.must(r.sender.Step(ctx, r.lease))
		if a, b := r.now(first), r.now(second); a.Status != bursar.WithdrawalBroadcast || b.TxID != "" {
			t.Errorf("the first is %s, the second %s by %q", a.Status, b.Status, b.TxID)
		}
		r.wantAlarms("funds_low")
		r.settleAll()
		if got := r.now(second).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("with the funds that it needs the second is %s", got)
		}
		r.wantAlarms()
		r.must(r.audit())
	})
}

// The limit of a fee is that of the configuration as it is, not as it was when a payment was taken up.
func TestAPaymentIsBuiltWithinTheLimitOfTheDay(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.prepare()
		r.settle()
		r.sender.MaxFee = bursar.Units(3)
		w := r.order(300_000_000, r.chain.Named("outside"))
		r.step()
		r.wantAlarms("fee_above_limit")
		r.sender.MaxFee = bursar.Units(1 << 30)
		r.step()
		if got := r.now(w).Status; got != bursar.WithdrawalBroadcast {
			t.Errorf("with a higher limit it is %s", got)
		}
		r.wantAlarms()
	})
}
