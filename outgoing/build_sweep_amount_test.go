package outgoing_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store/storetest"
)

// What a transaction may use when it is built: what its address holds then, what other transactions of the address
// take, and the current fee limit.

// collecting is a node that is asked what an address holds before a sweep is built.
type collecting struct {
	*sim.Chain
	head  func(chain.Head) (chain.Head, error)
	held  func([]bursar.Amount) ([]bursar.Amount, error)
	asked int
	built []string // the amounts that the built sweeps should collect
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

func (c *collecting) Build(ctx context.Context, request chain.TxRequest) (chain.UnsignedTx, error) {
	if request.Kind == chain.KindSweep {
		c.built = append(c.built, request.Payments[0].Amount.String())
	}
	return c.Chain.Build(ctx, request)
}

// A sweep collects what the final chain holds when it is built, according to the node or else to the books, although
// less was there when it was requested. Without a node nothing is built.
func TestASweepCollectsWhatTheFinalChainHolds(t *testing.T) {
	away := errors.New("the node keeps no such state")
	says := func(err error, held ...bursar.Amount) func([]bursar.Amount) ([]bursar.Amount, error) {
		return func([]bursar.Amount) ([]bursar.Amount, error) { return held, err }
	}
	for name, c := range map[string]struct {
		head  func(chain.Head) (chain.Head, error)
		held  func([]bursar.Amount) ([]bursar.Amount, error)
		built string // "": nothing
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
		"the node is unavailable": {head: func(h chain.Head) (chain.Head, error) { return h, away }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, storetest.Open(t, storetest.Reused(t)), bursartest.Numbered)
			r.Prepare()
			r.Settle()
			w := r.Wallet(1)
			r.Pay(w.Address, 80_000_000)
			r.Chain.Fail(sim.Build, 1000, nil)
			r.Blocks(5)
			if open := r.Open(); len(open) != 1 || open[0].Kind != string(chain.KindSweep) {
				t.Fatalf("open are %+v, want 1 of them and %v", open, string(chain.KindSweep))
			}
			r.Pay(w.Address, 20_000_000)
			r.Blocks(5)
			r.Chain.ClearFaults()
			node := &collecting{Chain: r.Chain, head: c.head, held: c.held}
			r.Sender.Chain = node
			r.Must(r.Sender.Step(ctx, r.Lease))
			want := []string{}
			if c.built != "" {
				want = append(want, c.built)
			}
			if len(node.built) != len(want) || len(want) > 0 && node.built[0] != want[0] || node.asked != c.asked {
				t.Errorf("the node was asked %d times, built were %q; want %d times, %q",
					node.asked, node.built, c.asked, want)
			}
			r.Sender.Chain = r.Chain
			r.Settle()
			if got := r.Holding(w.Address.Base, ""); !got.Less(bursar.Units(1_000_000)) { // the rest of the fee
				t.Errorf("the books say that %s are left at the address", got)
			}
			r.Must(r.Audit())
		})
	}
}

// A sweep whose fee is bumped takes no more than its first version, whatever has arrived since: the next sweep takes
// that.
func TestABumpedSweepTakesNoMore(t *testing.T) {
	config := bursartest.Numbered
	config.BumpAfter = 2
	each(t, config, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		w := r.Wallet(1)
		r.Pay(w.Address, 80_000_000)
		r.Chain.Mine(3)
		r.CatchUp()
		node := &collecting{Chain: r.Chain}
		r.Sender.Chain = node
		r.Must(r.Sweeper.Step(ctx, r.Lease))
		r.Must(r.Sender.Step(ctx, r.Lease))
		r.Chain.SetRate(1000) // no block includes it, nor anything else of ours
		r.Pay(w.Address, 20_000_000)
		r.Blocks(1)
		r.Blocks(6)
		if len(node.built) < 2 {
			t.Fatalf("built were %q, want at least 2", node.built)
		}
		for _, amount := range node.built {
			if amount != "80000000" {
				t.Errorf("a version of the sweep should collect %s, want 80000000", amount)
			}
		}
		r.Chain.SetRate(10)
		r.SettleAll()
		if got := r.Holding(w.Address.Base, ""); !got.Less(bursar.Units(1_000_000)) { // the rest of the fee
			t.Errorf("the books say that %s are left at the address", got)
		}
		r.Must(r.Audit())
	})
}

// Two payments of one step do not use the same money: the second waits for funds, and is paid once they are there.
func TestTwoPaymentsDoNotUseTheSameFunds(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		r.Pay(r.Wallet(0).Address, 5_000_000_000)
		r.blocksWithoutSweeps(4)
		first, second := r.Order(1_500_000_000, r.Chain.Named("first")), r.Order(1_500_000_000, r.Chain.Named("second"))
		r.Must(r.Sender.Step(ctx, r.Lease))
		if a, b := r.Now(first), r.Now(second); a.Status != bursar.WithdrawalBroadcast || b.TxID != "" {
			t.Errorf("the first is %s, the second %s by %q, want %v and %q", a.Status, b.Status, b.TxID,
				bursar.WithdrawalBroadcast, "")
		}
		r.WantAlarms("funds_low")
		r.SettleAll()
		if got := r.Now(second).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("with the funds that it needs the second is %s, want %s", got, bursar.WithdrawalConfirmed)
		}
		r.WantAlarms()
		r.Must(r.Audit())
	})
}

// The fee limit is the configured one when a payment is built, not when it was requested.
func TestAPaymentIsBuiltWithinTheCurrentFeeLimit(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		r.Sender.MaxFee = bursar.Units(3)
		w := r.Order(300_000_000, r.Chain.Named("outside"))
		r.Step()
		r.WantAlarms("fee_above_limit")
		r.Sender.MaxFee = bursar.Units(1 << 30)
		r.Step()
		if got := r.Now(w).Status; got != bursar.WithdrawalBroadcast {
			t.Errorf("with a higher limit the withdrawal is %s, want %s", got, bursar.WithdrawalBroadcast)
		}
		r.WantAlarms()
	})
}
