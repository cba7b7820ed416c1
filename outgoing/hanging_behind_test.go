package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
)

// Two sweeps of an address hang, and the deposit of the one with the higher nonce comes back: the one with the lower
// nonce collects it, and nothing waits for a deposit that is gone for good.
func TestASweepDoesNotWaitBehindAHangingOne(t *testing.T) {
	config := bursartest.Numbered
	config.BumpAfter = 8
	each(t, config, func(t *testing.T, r *harness) {
		r.WithTokens().Prepare()
		r.Settle()
		w := r.WalletOf(0, "TOKEN")
		pay := func(code bursar.CurrencyCode) string {
			currency, err := r.Registry.Get(code)
			r.Must(err)
			return r.Chain.Pay(chain.Payment{Address: w.Address, Contract: currency.Contract, Amount: bursar.Units(50_000)})
		}
		gone, back := pay("TOKEN"), pay("OTHER")
		for range 30 {
			r.Chain.Mine(1)
			r.Step()
			if signed := r.sweepsOf(w.Address.Base); len(signed) == 2 {
				break
			} else if len(signed) == 1 {
				r.Chain.SetRate(50) // no block includes it without a bump
			}
		}
		if n := len(r.sweepsOf(w.Address.Base)); n != 2 {
			t.Fatalf("%d sweeps are signed, want 2", n)
		}
		first, second := r.sweepsOf(w.Address.Base)[0], r.sweepsOf(w.Address.Base)[1]
		r.Trouble = true
		r.Chain.Forget()
		r.Undo(gone, gone, back)
		r.Chain.Forget()
		r.Blocks(6)
		if hang, _ := r.hanging(); hang != 2 {
			t.Fatalf("%d sweeps hang, want 2: %+v", hang, r.Open())
		}
		r.Chain.SetRate(1)
		r.Chain.Restore(back)
		r.Blocks(30)
		held := r.spendNow(second.ID)
		if p := r.spendNow(first.ID); p.Status != bursar.OutgoingFinal || p.Currency != second.Currency ||
			held.WaitsFor != bursar.WaitsForDeposit || held.Currency != first.Currency {
			t.Errorf("the first is %s of %s: %s; the second waits for %q of %s", p.Status, p.Currency, p.Error, held.WaitsFor,
				held.Currency)
		}
		contract, _ := r.Registry.Get("OTHER")
		if got := r.Chain.Balance(w.Address.Base, contract.Contract); !got.IsZero() {
			t.Errorf("%s stay at the address, want 0", got)
		}
	})
}
