package outgoing_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
)

// lackingGas leaves a sweep of a token waiting for gas that cannot be paid.
func (r *harness) lackingGas() bursar.Wallet {
	r.T.Helper()
	r.WithTokens()
	r.Sender.GasFromCustomers = true
	r.Step()
	w := r.WalletOf(0, "TOKEN")
	r.Give("TOKEN", w.Address, 50_000)
	r.Trouble = true
	r.Blocks(6)
	return w
}

// sweeping returns the open sweep.
func (r *harness) sweeping() bursar.OutgoingTx {
	r.T.Helper()
	for _, p := range r.Open() {
		if p.Share == bursar.ShareSweep {
			return p
		}
	}
	r.T.Fatal("no sweep is open")
	return bursar.OutgoingTx{}
}

// A sweep that waits for gas records how much of the native asset it lacks. The amount follows the network fees, and
// nothing is written while they stay the same.
func TestASweepSaysHowMuchGasItLacks(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		w := r.lackingGas()
		low := r.sweeping()
		if low.WaitsFor != bursar.WaitsForGas || low.Lacks != "COIN" || low.Missing.IsZero() || low.Needed != low.Missing ||
			!strings.Contains(low.Error, "gas") {
			t.Errorf("the sweep waits for %q: it lacks %s %s of %s, and its error is %q",
				low.WaitsFor, low.Missing, low.Lacks, low.Needed, low.Error)
		}
		r.idleStep(t, "a sweep waits for gas")
		r.Chain.SetRate(20)
		r.Step()
		high := r.sweeping()
		if !low.Missing.Less(high.Missing) || high.Needed != high.Missing || high.WaitsFor != bursar.WaitsForGas {
			t.Errorf("at a higher fee it lacks %s of %s, and lacked %s", high.Missing, high.Needed, low.Missing)
		}
		if got := r.topUps(); len(got) != 1 || got[w.Address.Base] != 1 {
			t.Errorf("top-ups are %v, want 1 of them and 1", got)
		}
		r.Pay(bursar.Address{Base: r.Hot.Base}, 1_000_000_000)
		r.Chain.SetRate(10)
		r.Blocks(12)
		r.NothingOpen()
	})
}

// Gas that costs more than a sweep may cost is not requested: the sweep waits for lower fees, and its error says so.
func TestGasAboveTheLimitIsNotRequested(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.WithTokens().Prepare()
		r.Settle()
		r.Sender.MaxFee = bursar.Units(2_000_000)
		r.Chain.SetRate(100)
		w := r.WalletOf(0, "TOKEN")
		r.Give("TOKEN", w.Address, 50_000)
		r.Trouble = true
		r.Blocks(6)
		got := r.sweeping()
		if got.WaitsFor != bursar.WaitsForFee || !strings.Contains(got.Error, "fee") || len(r.topUps()) > 0 {
			t.Errorf("the sweep waits for %q, and its error is %q; top-ups are %v, want %v and %q in it and none", got.WaitsFor,
				got.Error, r.topUps(), bursar.WaitsForFee, "fee")
		}
		r.Chain.SetRate(10)
		r.Blocks(12)
		r.NothingOpen()
	})
}

// Without a configured native asset there is no gas: the sweep waits, and its error says what is missing.
func TestWithoutANativeAssetNoGasIsRequested(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.WithTokens().Prepare()
		r.Settle()
		known := r.Sender.Registry
		token, err := known.Get("TOKEN")
		r.Must(err)
		r.Sender.Registry, err = bursar.NewRegistry([]bursar.Currency{token})
		r.Must(err)
		w := r.WalletOf(0, "TOKEN")
		r.Give("TOKEN", w.Address, 50_000)
		r.Trouble = true
		r.Blocks(6)
		if got := r.sweeping(); !strings.Contains(got.Error, "no currency is configured for the native asset") ||
			len(r.topUps()) > 0 {
			t.Errorf("the error is %q, top-ups are %v, want %q in it and none", got.Error, r.topUps(),
				"no currency is configured for the native asset")
		}
		r.Sender.Registry = known
		r.Blocks(12)
		r.NothingOpen()
	})
}

// A sweep of a token has too little gas for a higher fee: gas is sent for that, once, and the sweep is sent again
// If a sweep of a token has too little gas for a higher fee, gas is sent for that, once, and the sweep is sent again
// meanwhile.
func TestASweepThatLacksGasForABumpGetsIt(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.WithTokens().Prepare()
		r.Settle()
		w := r.WalletOf(0, "TOKEN")
		r.Give("TOKEN", w.Address, 50_000)
		for range 12 {
			r.Blocks(1)
			if open := r.Open(); len(open) > 0 && open[0].Status == bursar.OutgoingSent {
				break
			}
		}
		open := r.Open()
		sweep, first := open[0], open[len(open)-1].ID
		r.Chain.SetRate(60)
		node := r.record()
		r.Trouble = true
		r.Chain.Mine(3)
		r.CatchUp()
		r.Must(r.Sender.Step(ctx, r.Lease))
		open = r.Open()
		gas, err := outgoing.DecodeRequest(open[len(open)-1])
		r.Must(err)
		if gas.Kind != chain.KindGasTopUp || gas.Change.Base != w.Address.Base || gas.ID == first {
			t.Errorf("the last that is open is %+v", gas)
		}
		got := r.spendNow(sweep.ID)
		if !slices.Contains(node.sent, sweep.TxID) || got.Versions != 1 || !strings.Contains(got.Error, "gas") {
			t.Errorf("a node is sent %q; of the sweep with %d versions the error is %q, want %v in it and 1 and %q in it",
				node.sent, got.Versions, got.Error, sweep.TxID, "gas")
		}
		r.Blocks(12)
		if got := r.spendNow(sweep.ID); got.Versions < 2 || got.Status != bursar.OutgoingFinal {
			t.Errorf("with the gas it is %s with %d versions, want at least 2 and %v", got.Status, got.Versions,
				bursar.OutgoingFinal)
		}
		r.NothingOpen()
	})
}
