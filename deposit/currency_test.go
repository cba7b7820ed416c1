package deposit_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// payTokens pays the wallet of TOKEN in the token of a name.
func (f *follower) payTokens(name string, units uint64) string {
	return f.chain.Pay(chain.Payment{Address: f.tokens.Address, Contract: f.chain.Named(name), Amount: bursar.Units(units)})
}

// credited is the balance of the account in a currency.
func (f *follower) credited(code bursar.CurrencyCode) (amount bursar.Amount) {
	f.t.Helper()
	f.must(f.db.View(ctx, func(tx *store.Tx) error {
		balances, err := tx.Ledger().Balances(ctx, ledger.Available(f.account))
		amount, _ = balances[code].Net(ledger.Liability)
		return err
	}))
	return amount
}

// A transfer of an asset that the registry does not know is ignored and counted, and the chain goes on.
func TestAnUnknownAssetIsIgnored(t *testing.T) {
	followAs(t, setting{}, func(t *testing.T, f *follower) {
		f.payTokens("an unknown token", 5000)
		f.payTokens("token", 3000)
		f.pay(2000)
		f.chain.Mine(3)
		f.catchUp()
		f.want("block 3, 2000 credited, map[confirmed:1], 2 events")
		if got := f.credited("TOKEN"); got != bursar.Units(3000) || f.Ignored() != 1 {
			t.Errorf("%s units of TOKEN are credited, %d transfers ignored", got, f.Ignored())
		}
	})
}

// A page and more of deposits of a suspended currency waits, and nobody else notices.
func TestASuspendedCurrencyHoldsUpNobody(t *testing.T) {
	followAs(t, setting{}, func(t *testing.T, f *follower) {
		suspended := true
		f.Suspended = func(code bursar.CurrencyCode) string {
			if suspended && code == "TOKEN" {
				return "of a test"
			}
			return ""
		}
		for range 450 {
			f.payTokens("token", 1000)
		}
		f.chain.Mine(1)
		f.pay(5000)
		f.chain.Mine(3)
		f.catchUp()
		f.want("block 4, 5000 credited, map[confirmed:1], 1 events")
		if got := f.credited("TOKEN"); !got.IsZero() {
			t.Errorf("%s units of the suspended currency are credited", got)
		}
		suspended = false
		f.catchUp()
		if got := f.credited("TOKEN"); got != bursar.Units(450_000) {
			t.Errorf("%s units are credited once it is not suspended any more", got)
		}
	})
}

// A currency is removed from the configuration while deposits of it wait and others are credited: a reorg takes them back,
// and the rest of the chain goes on.
func TestARemovedCurrencyHoldsUpNobody(t *testing.T) {
	followAs(t, setting{}, func(t *testing.T, f *follower) {
		f.payTokens("token", 4000)
		f.chain.Mine(3)
		f.catchUp()
		gone := f.payTokens("token", 2000)
		f.chain.Mine(1)
		f.catchUp()
		coin, err := f.Registry.Get("COIN")
		f.must(err)
		f.Registry, err = bursar.NewRegistry([]bursar.Currency{coin})
		f.must(err)
		f.chain.Reorg(4, gone)
		f.pay(5000)
		f.chain.Mine(3)
		f.catchUp()
		f.want("block 8, 5000 credited, map[confirmed:1], 2 events")
		if f.Ignored() != 1 {
			t.Errorf("%d transfers are ignored", f.Ignored())
		}
		f.must(f.JudgePending(ctx, f.lease))
	})
}
