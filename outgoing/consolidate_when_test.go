package outgoing_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// hold credits account 0 with n UTXOs that come at once, each of one unit more than the one before.
func (r *harness) hold(n int, units uint64) {
	r.t.Helper()
	var payments []chain.Payment
	to := r.wallet(0).Address
	for i := range n {
		payments = append(payments, chain.Payment{Address: to, Amount: bursar.Units(units + uint64(i))})
	}
	r.chain.Pay(payments...)
	r.chain.Mine(3)
	r.catchUp()
}

// consolidations are the open transactions that make one UTXO of many.
func (r *harness) consolidations() (list []bursar.OutgoingTx) {
	r.t.Helper()
	for _, p := range r.open() {
		if p.Kind == string(chain.KindConsolidation) {
			list = append(list, p)
		}
	}
	return list
}

// resources are what an outgoing transaction uses up.
func (r *harness) resources(p bursar.OutgoingTx) []string {
	r.t.Helper()
	var unsigned chain.UnsignedTx
	r.must(json.Unmarshal(p.Unsigned, &unsigned))
	return unsigned.Reservations
}

// thrifty counts how often it is asked whether fees are low.
type thrifty struct {
	*sim.Chain
	asked     int
	meanwhile func()
}

func (c *thrifty) Cheap(ctx context.Context) (bool, error) {
	c.asked++
	if c.meanwhile != nil {
		c.meanwhile()
	}
	return c.Chain.Cheap(ctx)
}

// As many UTXOs as are configured are made one, and fewer are not; while that is under way nothing else is made one;
// and a node is asked once in a block whether fees are low, and only where there is something to do.
func TestOneConsolidationIsUnderWayAtATime(t *testing.T) {
	each(t, coined, func(t *testing.T, r *harness) {
		node := &thrifty{Chain: r.chain}
		r.sender.Chain, r.sender.ConsolidateAbove = node, 10
		r.step()
		r.hold(9, 200_000)
		r.blocks(3)
		if n := len(r.consolidations()); n != 0 || node.asked != 0 {
			t.Fatalf("of 9 UTXOs %d consolidations were made, and the node was asked %d times", n, node.asked)
		}
		r.chain.SetRate(40)
		r.hold(1, 300_000)
		for range 3 {
			r.step()
		}
		if n := len(r.consolidations()); n != 0 || node.asked != 1 {
			t.Fatalf("at a high fee there are %d consolidations, and the node was asked %d times in a block", n, node.asked)
		}
		wait := func() { // a block that takes nothing of ours, and low fees after it
			r.chain.SetRate(40)
			r.chain.Mine(1)
			r.chain.SetRate(10)
			r.step()
		}
		wait()
		r.chain.SetRate(40)
		r.hold(12, 100_000)
		for range 3 {
			wait()
		}
		list := r.consolidations()
		if len(list) != 1 || len(r.resources(list[0])) != 10 || list[0].Versions != 1 {
			t.Fatalf("%d consolidations are under way", len(list))
		}
		r.blocks(12)
		if n := r.utxos(); n != 1 {
			t.Errorf("in the end there are %d UTXOs", n)
		}
		r.must(r.audit())
	})
}

// Of more UTXOs than one transaction takes the smallest are made one while fees are low, and the largest, at any fee,
// where a payment waits for it.
func TestWhichUTXOsAreMadeOne(t *testing.T) {
	for name, urgent := range map[string]bool{"while fees are low": false, "for a payment": true} {
		t.Run(name, func(t *testing.T) {
			config := coined
			config.MaxInputs = 400
			each(t, config, func(t *testing.T, r *harness) {
				r.step()
				r.hold(420, 2_000_000)
				first, last := bursar.Units(2_000_000), bursar.Units(2_000_399)
				r.sender.ConsolidateAbove = 420
				if urgent {
					r.chain.SetRate(40)
					r.order(820_000_000, r.chain.Named("outside"))
					first, last = bursar.Units(2_000_020), bursar.Units(2_000_419)
				}
				r.step()
				r.step()
				list := r.consolidations()
				if len(list) != 1 {
					r.logOpen(5)
					t.Fatalf("%d consolidations are under way", len(list))
				}
				resources := r.resources(list[0])
				if len(resources) != 400 {
					t.Fatalf("it takes %d UTXOs", len(resources))
				}
				least, most := r.worth(resources[0]), r.worth(resources[399])
				if urgent {
					least, most = most, least
				}
				if least != first || most != last {
					t.Errorf("it takes UTXOs from %s to %s", least, most)
				}
			})
		})
	}
}

func (r *harness) worth(resource string) (amount bursar.Amount) {
	r.t.Helper()
	r.view(func(tx *store.Tx) (err error) {
		amount, err = tx.UTXOs().Worth(ctx, r.chain.Capabilities().ID, []string{resource})
		return err
	})
	return amount
}

// Where a payment waits for it, up to four consolidations are under way at once, of two UTXOs or more.
func TestConsolidationsForAPaymentAreBounded(t *testing.T) {
	for utxos, want := range map[int]int{1: 0, 2: 4} {
		each(t, coined, func(t *testing.T, r *harness) {
			r.step()
			r.hold(utxos, 100_000_000)
			r.order(50_000_000, r.chain.Named("outside"))
			r.chain.Fail(sim.Build, 1, nil)
			r.trouble = true
			r.step()
			r.halt(byAnn(store.HaltCurrency("COIN"))) // nothing new is built
			r.do(func(tx *store.Tx) error {
				p := r.open()[0]
				p.WaitsFor = bursar.WaitsForInputs
				return tx.Outgoing().SetWait(ctx, p)
			})
			r.stepAndMine(7)
			if n := len(r.consolidations()); n != want {
				t.Errorf("for %d UTXOs %d consolidations are under way", utxos, n)
			}
		})
	}
}

// Change that is in no block yet is not made one with others.
func TestChangeInNoBlockIsNotMadeOneWithOthers(t *testing.T) {
	each(t, coined, func(t *testing.T, r *harness) {
		r.step()
		r.hold(10, 10_000_000)
		w := r.order(1_000_000, r.chain.Named("outside"))
		r.step()
		r.sender.ConsolidateAbove = 9
		r.step()
		list, change := r.consolidations(), r.now(w).TxID
		if len(list) != 1 || change == "" || len(r.resources(list[0])) != 9 ||
			strings.Contains(strings.Join(r.resources(list[0]), " "), change) {
			t.Errorf("the change of %s is among what is made one: %+v", change, list)
		}
	})
}

// A chain that cannot say whether fees are low has nothing made one, but for a payment.
func TestAChainThatKnowsNoLowFeesConsolidatesNothing(t *testing.T) {
	each(t, coined, func(t *testing.T, r *harness) {
		r.sender.Chain, r.sender.ConsolidateAbove = struct{ chain.Chain }{r.chain}, 2
		r.step()
		r.hold(5, 100_000)
		r.blocks(4)
		r.nothingOpen()
		if n := r.utxos(); n != 5 {
			t.Errorf("%d UTXOs are left of 5", n)
		}
	})
}

// Without a currency of its own a chain has nothing made one, and the error says so.
func TestAChainWithoutItsOwnCurrencyConsolidatesNothing(t *testing.T) {
	each(t, coined, func(t *testing.T, r *harness) {
		r.sender.ConsolidateAbove = 2
		r.step()
		r.hold(5, 100_000)
		other := r.currency
		other.Code, other.Contract = "TOKEN", r.chain.Named("the contract")
		var err error
		r.sender.Registry, err = bursar.NewRegistry([]bursar.Currency{other})
		r.must(err)
		if err := r.sender.Step(ctx, r.lease); err == nil || !strings.Contains(err.Error(), "no currency of its own") {
			t.Errorf("the step ends with %v", err)
		}
		r.nothingOpen()
	})
}

// One that loses the lead while it asks whether fees are low orders no consolidation.
func TestOneThatLostTheLeaseConsolidatesNothing(t *testing.T) {
	each(t, coined, func(t *testing.T, r *harness) {
		r.sender.Chain, r.sender.ConsolidateAbove = &thrifty{Chain: r.chain, meanwhile: r.overthrow}, 2
		r.step()
		r.hold(5, 100_000)
		if err := r.sender.Step(ctx, r.lease); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("the step ends with %v", err)
		}
		r.nothingOpen()
	})
}
