package outgoing_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// hold credits account 0 with n UTXOs that arrive at once, each one unit larger than the one before.
func (r *harness) hold(n int, units uint64) {
	r.T.Helper()
	var payments []chain.Payment
	to := r.Wallet(0).Address
	for i := range n {
		payments = append(payments, chain.Payment{Address: to, Amount: bursar.Units(units + uint64(i))})
	}
	r.Chain.Pay(payments...)
	r.Chain.Mine(3)
	r.CatchUp()
}

// consolidations returns the open transactions that consolidate UTXOs.
func (r *harness) consolidations() (list []bursar.OutgoingTx) {
	r.T.Helper()
	for _, p := range r.Open() {
		if p.Kind == string(chain.KindConsolidation) {
			list = append(list, p)
		}
	}
	return list
}

// resources returns what an outgoing transaction uses.
func (r *harness) resources(p bursar.OutgoingTx) []string {
	r.T.Helper()
	var unsigned chain.UnsignedTx
	r.Must(json.Unmarshal(p.Unsigned, &unsigned))
	return unsigned.Reservations
}

// feeMarket counts how often it is asked whether fees are low.
type feeMarket struct {
	*sim.Chain
	asked     int
	meanwhile func()
}

func (c *feeMarket) FeesAreLow(ctx context.Context) (bool, error) {
	c.asked++
	if c.meanwhile != nil {
		c.meanwhile()
	}
	return c.Chain.FeesAreLow(ctx)
}

// UTXOs are consolidated from the configured number on; while a consolidation is in progress, no other one is made; and
// a node is asked once per block whether fees are low, and only if there is something to consolidate.
func TestOneConsolidationIsInProgressAtATime(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		node := &feeMarket{Chain: r.Chain}
		r.Sender.Chain, r.Sender.ConsolidateAbove = node, 10
		r.Step()
		r.hold(9, 200_000)
		r.Blocks(3)
		if n := len(r.consolidations()); n != 0 || node.asked != 0 {
			t.Fatalf("of 9 UTXOs %d consolidations were made, and the node was asked %d times, want 0 and 0", n, node.asked)
		}
		r.Chain.SetRate(40)
		r.hold(1, 300_000)
		for range 3 {
			r.Step()
		}
		if n := len(r.consolidations()); n != 0 || node.asked != 1 {
			t.Fatalf("at a high fee there are %d consolidations, and the node was asked %d times in a block, want 0 and 1",
				n, node.asked)
		}
		wait := func() { // a block that takes nothing of ours, and low fees after it
			r.Chain.SetRate(40)
			r.Chain.Mine(1)
			r.Chain.SetRate(10)
			r.Step()
		}
		wait()
		r.Chain.SetRate(40)
		r.hold(12, 100_000)
		for range 3 {
			wait()
		}
		list := r.consolidations()
		if len(list) != 1 || len(r.resources(list[0])) != 10 || list[0].Versions != 1 {
			t.Fatalf("%d consolidations are in progress, want 1 of them and 10 of them and 1", len(list))
		}
		r.Blocks(12)
		if n := r.utxos(); n != 1 {
			t.Errorf("in the end there are %d UTXOs, want 1", n)
		}
		r.Must(r.Audit())
	})
}

// If there are more UTXOs than one transaction takes, the smallest are consolidated while fees are low, and the
// largest, at any fee, if a payment waits for it.
func TestWhichUTXOsAreConsolidated(t *testing.T) {
	for name, urgent := range map[string]bool{"while fees are low": false, "for a payment": true} {
		t.Run(name, func(t *testing.T) {
			config := bursartest.UTXOModel
			config.MaxInputs = 400
			each(t, config, func(t *testing.T, r *harness) {
				r.Step()
				r.hold(420, 2_000_000)
				first, last := bursar.Units(2_000_000), bursar.Units(2_000_399)
				r.Sender.ConsolidateAbove = 420
				if urgent {
					r.Chain.SetRate(40)
					r.Order(820_000_000, r.Chain.Named("outside"))
					first, last = bursar.Units(2_000_020), bursar.Units(2_000_419)
				}
				r.Step()
				r.Step()
				list := r.consolidations()
				if len(list) != 1 {
					r.LogOpen(5)
					t.Fatalf("%d consolidations are in progress, want 1 of them", len(list))
				}
				resources := r.resources(list[0])
				if len(resources) != 400 {
					t.Fatalf("it takes %d UTXOs, want 400", len(resources))
				}
				least, most := r.worth(resources[0]), r.worth(resources[399])
				if urgent {
					least, most = most, least
				}
				if least != first || most != last {
					t.Errorf("it takes UTXOs from %s to %s, want %s and %s", least, most, first, last)
				}
			})
		})
	}
}

func (r *harness) worth(resource string) (amount bursar.Amount) {
	r.T.Helper()
	r.View(func(tx *store.Tx) (err error) {
		amount, err = tx.UTXOs().Worth(ctx, r.Chain.Capabilities().ID, []string{resource})
		return err
	})
	return amount
}

// If a payment waits for it, up to four consolidations are in progress at once, of two UTXOs or more.
func TestConsolidationsForAPaymentAreBounded(t *testing.T) {
	for utxos, want := range map[int]int{1: 0, 2: 4} {
		each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
			r.Step()
			r.hold(utxos, 100_000_000)
			r.Order(50_000_000, r.Chain.Named("outside"))
			r.Chain.Fail(sim.Build, 1, nil)
			r.Trouble = true
			r.Step()
			r.Halt(byAnn(store.HaltCurrency("COIN"))) // nothing new is built
			r.Do(func(tx *store.Tx) error {
				p := r.Open()[0]
				p.WaitsFor = bursar.WaitsForInputs
				return tx.Outgoing().SetWait(ctx, p)
			})
			r.StepAndMine(7)
			if n := len(r.consolidations()); n != want {
				t.Errorf("for %d UTXOs %d consolidations are in progress, want %d", utxos, n, want)
			}
		})
	}
}

// Change that is in no block yet is not consolidated.
func TestUnconfirmedChangeIsNotConsolidated(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Step()
		r.hold(10, 10_000_000)
		w := r.Order(1_000_000, r.Chain.Named("outside"))
		r.Step()
		r.Sender.ConsolidateAbove = 9
		r.Step()
		list, change := r.consolidations(), r.Now(w).TxID
		if len(list) != 1 || change == "" || len(r.resources(list[0])) != 9 ||
			strings.Contains(strings.Join(r.resources(list[0]), " "), change) {
			t.Errorf("the change of %s is among the consolidated UTXOs: %+v", change, list)
		}
	})
}

// A chain that does not know whether fees are low consolidates nothing, except for a payment.
func TestAChainThatKnowsNoLowFeesConsolidatesNothing(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Sender.Chain, r.Sender.ConsolidateAbove = struct{ chain.Chain }{r.Chain}, 2
		r.Step()
		r.hold(5, 100_000)
		r.Blocks(4)
		r.NothingOpen()
		if n := r.utxos(); n != 5 {
			t.Errorf("%d UTXOs are left of 5, want 5", n)
		}
	})
}

// Without a currency for the native asset a chain consolidates nothing, and the error says so.
func TestAChainWithoutANativeAssetConsolidatesNothing(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Sender.ConsolidateAbove = 2
		r.Step()
		r.hold(5, 100_000)
		other := r.Currency
		other.Code, other.Contract = "TOKEN", r.Chain.Named("the contract")
		var err error
		r.Sender.Registry, err = bursar.NewRegistry([]bursar.Currency{other})
		r.Must(err)
		if err := r.Sender.Step(ctx, r.Lease); err == nil ||
			!strings.Contains(err.Error(), "no currency is configured for the native asset") {
			t.Errorf("the step returned %v, want an error and %q in it", err, "no currency is configured for the native asset")
		}
		r.NothingOpen()
	})
}

// A process that loses the lease while it asks whether fees are low requests no consolidation.
func TestALostLeaseConsolidatesNothing(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Sender.Chain, r.Sender.ConsolidateAbove = &feeMarket{Chain: r.Chain, meanwhile: r.overthrow}, 2
		r.Step()
		r.hold(5, 100_000)
		if err := r.Sender.Step(ctx, r.Lease); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("the step returned %v, want %v", err, store.ErrLeaseLost)
		}
		r.NothingOpen()
	})
}
