package deposit_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// payTokens pays the wallet of TOKEN in the token of a name.
func payTokens(f *followtest.Harness, name string, units uint64) string {
	return f.Sim.Pay(chain.Payment{Address: f.Tokens.Address, Contract: f.Sim.Named(name), Amount: bursar.Units(units)})
}

// credited is the balance of the account in a currency.
func credited(f *followtest.Harness, code bursar.CurrencyCode) (amount bursar.Amount) {
	f.T.Helper()
	f.Must(f.DB.View(ctx, func(tx *store.Tx) error {
		balances, err := tx.Ledger().Balances(ctx, ledger.Available(f.Account))
		amount, _ = balances[code].Net(ledger.Liability)
		return err
	}))
	return amount
}

// A transfer of an asset that is not in the registry is ignored and counted, and the chain continues.
func TestAnUnknownAssetIsIgnored(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		payTokens(f, "an unknown token", 5000)
		payTokens(f, "token", 3000)
		f.Pay(2000)
		f.Sim.Mine(3)
		f.CatchUp()
		f.Want("block 3, 2000 credited, map[confirmed:1], 2 events")
		if got := credited(f, "TOKEN"); got != bursar.Units(3000) || f.Deposits.Ignored() != 1 {
			t.Errorf("%s units of TOKEN are credited, %d transfers ignored, want %v and 1", got, f.Deposits.Ignored(),
				bursar.Units(3000))
		}
	})
}

// More than a page of deposits of a suspended currency waits, and no other deposit is delayed.
func TestASuspendedCurrencyHoldsUpNobody(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		suspended := true
		f.Deposits.Suspended = func(code bursar.CurrencyCode) string {
			if suspended && code == "TOKEN" {
				return "of a test"
			}
			return ""
		}
		for range 450 {
			payTokens(f, "token", 1000)
		}
		f.Sim.Mine(1)
		f.Pay(5000)
		f.Sim.Mine(3)
		f.CatchUp()
		f.Want("block 4, 5000 credited, map[confirmed:1], 1 events")
		if got := credited(f, "TOKEN"); !got.IsZero() {
			t.Errorf("%s units of the suspended currency are credited, want zero", got)
		}
		suspended = false
		f.CatchUp()
		if got := credited(f, "TOKEN"); got != bursar.Units(450_000) {
			t.Errorf("%s units are credited once it is not suspended any more", got)
		}
	})
}

// A currency is removed from the configuration while some of its deposits wait and others are credited: a reorg
// reverses them, and the rest of the chain continues.
func TestARemovedCurrencyHoldsUpNobody(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		payTokens(f, "token", 4000)
		f.Sim.Mine(3)
		f.CatchUp()
		gone := payTokens(f, "token", 2000)
		f.Sim.Mine(1)
		f.CatchUp()
		native, err := f.Registry.Get("COIN")
		f.Must(err)
		f.Deposits.Registry, err = bursar.NewRegistry([]bursar.Currency{native})
		f.Must(err)
		f.Sim.Reorg(4, gone)
		f.Pay(5000)
		f.Sim.Mine(3)
		f.CatchUp()
		f.Want("block 8, 5000 credited, map[confirmed:1], 2 events")
		if f.Deposits.Ignored() != 1 {
			t.Errorf("%d transfers are ignored, want 1", f.Deposits.Ignored())
		}
		f.Must(f.Deposits.EvaluatePending(ctx, f.Lease))
	})
}

// A refunded deposit of a currency that is no longer configured is reorged out: the loss raises an alarm, and the chain
// continues.
func TestALossOfARemovedCurrencyHoldsUpNobody(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		id := f.Sim.Pay(chain.Payment{Address: f.Wallet.Address, Contract: f.Sim.Named("token"),
			Amount: bursar.Units(3000)}) // no wallet of its currency
		f.Sim.Mine(3)
		f.CatchUp()
		_, err := resolver(f).Refund(ctx, unattributed.RefundRequest{Deposit: inBlock(f, 1)[0].ID, To: f.Sim.Named("sender")})
		f.Must(err)
		coin, err := f.Registry.Get("COIN")
		f.Must(err)
		f.Deposits.Registry, err = bursar.NewRegistry([]bursar.Currency{coin})
		f.Must(err)
		f.Sim.Reorg(3, id)
		f.Pay(5000)
		f.Sim.Mine(3)
		f.CatchUp()
		f.Want("block 7, 5000 credited, map[confirmed:1], 1 events")
		f.WantAlarm("refund_uncovered", "3000 units of TOKEN was reorged out after it was refunded")
	})
}

// AnyDue is true as soon as a recorded deposit is final, and false while none is: an idle chain writes nothing.
func TestOnlyAFinalDepositIsDue(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		due := func(final uint64) (is bool) {
			f.Must(f.DB.View(ctx, func(tx *store.Tx) (err error) {
				is, err = f.Deposits.AnyDue(ctx, tx, follow.Finality{Final: final, Latest: 2})
				return err
			}))
			return is
		}
		f.Sim.Mine(1)
		f.Pay(5000)
		f.Sim.Mine(1)
		f.CatchUp()
		if due(1) || !due(2) {
			t.Errorf("due is %v before its block is final, and %v then", due(1), due(2))
		}
	})
}
