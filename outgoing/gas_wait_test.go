package outgoing_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
)

// lackingGas leaves a sweep of a token waiting for gas that cannot be paid.
func (r *harness) lackingGas() bursar.Wallet {
	r.t.Helper()
	r.withTokens()
	r.sender.GasFromCustomers = true
	r.step()
	w := r.walletOf(0, "TOKEN")
	r.give("TOKEN", w.Address, 50_000)
	r.trouble = true
	r.blocks(6)
	return w
}

// sweeping returns the open sweep.
func (r *harness) sweeping() bursar.OutgoingTx {
	r.t.Helper()
	for _, p := range r.open() {
		if p.Share == bursar.ShareSweep {
			return p
		}
	}
	r.t.Fatal("no sweep is open")
	return bursar.OutgoingTx{}
}

// A sweep that waits for gas records how much of the native asset it lacks. The amount follows the network fees, and
// nothing is written while they stay the same.
func TestASweepSaysHowMuchGasItLacks(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		w := r.lackingGas()
		low := r.sweeping()
		if low.WaitsFor != bursar.WaitsForGas || low.Lacks != "COIN" || low.Missing.IsZero() || low.Needed != low.Missing ||
			!strings.Contains(low.Error, "gas") {
			t.Errorf("the sweep waits for %q: it lacks %s %s of %s, and its error is %q",
				low.WaitsFor, low.Missing, low.Lacks, low.Needed, low.Error)
		}
		r.idleStep(t, "a sweep waits for gas")
		r.chain.SetRate(20)
		r.step()
		high := r.sweeping()
		if !low.Missing.Less(high.Missing) || high.Needed != high.Missing || high.WaitsFor != bursar.WaitsForGas {
			t.Errorf("at a higher fee it lacks %s of %s, and lacked %s", high.Missing, high.Needed, low.Missing)
		}
		if got := r.topUps(); len(got) != 1 || got[w.Address.Base] != 1 {
			t.Errorf("top-ups are %v", got)
		}
		r.pay(bursar.Address{Base: r.hot.Base}, 1_000_000_000)
		r.chain.SetRate(10)
		r.blocks(12)
		r.nothingOpen()
	})
}

// Gas that costs more than a sweep may cost is not requested: the sweep waits for lower fees, and its error says so.
func TestGasAboveTheLimitIsNotRequested(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.withTokens().prepare()
		r.settle()
		r.sender.MaxFee = bursar.Units(2_000_000)
		r.chain.SetRate(100)
		w := r.walletOf(0, "TOKEN")
		r.give("TOKEN", w.Address, 50_000)
		r.trouble = true
		r.blocks(6)
		got := r.sweeping()
		if got.WaitsFor != bursar.WaitsForFee || !strings.Contains(got.Error, "fee") || len(r.topUps()) > 0 {
			t.Errorf("the sweep waits for %q, and its error is %q; top-ups are %v", got.WaitsFor, got.Error, r.topUps())
		}
		r.chain.SetRate(10)
		r.blocks(12)
		r.nothingOpen()
	})
}

// Without a configured native asset there is no gas: the sweep waits, and its error says what is missing.
func TestWithoutANativeAssetNoGasIsRequested(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.withTokens().prepare()
		r.settle()
		known := r.sender.Registry
		token, err := known.Get("TOKEN")
		r.must(err)
		r.sender.Registry, err = bursar.NewRegistry([]bursar.Currency{token})
		r.must(err)
		w := r.walletOf(0, "TOKEN")
		r.give("TOKEN", w.Address, 50_000)
		r.trouble = true
		r.blocks(6)
		if got := r.sweeping(); !strings.Contains(got.Error, "no currency is configured for the native asset") ||
			len(r.topUps()) > 0 {
			t.Errorf("the error is %q, top-ups are %v", got.Error, r.topUps())
		}
		r.sender.Registry = known
		r.blocks(12)
		r.nothingOpen()
	})
}

// A sweep of a token has too little gas for a higher fee: gas is sent for that, once, and the sweep is sent again
// If a sweep of a token has too little gas for a higher fee, gas is sent for that, once, and the sweep is sent again
// meanwhile.
func TestASweepThatLacksGasForABumpGetsIt(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.withTokens().prepare()
		r.settle()
		w := r.walletOf(0, "TOKEN")
		r.give("TOKEN", w.Address, 50_000)
		for range 12 {
			r.blocks(1)
			if open := r.open(); len(open) > 0 && open[0].Status == bursar.OutgoingSent {
				break
			}
		}
		open := r.open()
		sweep, first := open[0], open[len(open)-1].ID
		r.chain.SetRate(60)
		node := r.record()
		r.trouble = true
		r.chain.Mine(3)
		r.catchUp()
		r.must(r.sender.Step(ctx, r.lease))
		open = r.open()
		gas, err := outgoing.DecodeRequest(open[len(open)-1])
		r.must(err)
		if gas.Kind != chain.KindGasTopUp || gas.Change.Base != w.Address.Base || gas.ID == first {
			t.Errorf("the last that is open is %+v", gas)
		}
		got := r.spendNow(sweep.ID)
		if !slices.Contains(node.sent, sweep.TxID) || got.Versions != 1 || !strings.Contains(got.Error, "gas") {
			t.Errorf("a node is sent %q; of the sweep with %d versions the error is %q", node.sent, got.Versions, got.Error)
		}
		r.blocks(12)
		if got := r.spendNow(sweep.ID); got.Versions < 2 || got.Status != bursar.OutgoingFinal {
			t.Errorf("with the gas it is %s with %d versions", got.Status, got.Versions)
		}
		r.nothingOpen()
	})
}
