package deposit_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/wire"
)

// A quorum and confirmations that are configured later apply to pending deposits too; lower ones release them.
func TestNewThresholdsEvaluateWhatIsPending(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		id := f.Pay(60_000)
		f.Sim.Mine(2)
		f.CatchUp()
		restart(f, bursar.Confirmations{Default: 4,
			Above: []bursar.ConfirmationsAbove{{Amount: bursar.Units(50_000), Count: 5}}})
		f.Sim.Mine(2)
		f.CatchUp()
		f.Want("block 4, 0 credited, map[pending:1], 0 events")
		if got := f.DepositOf(id); got.Required != 5 {
			t.Errorf("it needs %d confirmations, want 5", got.Required)
		}
		currency, err := f.Registry.Get("COIN")
		f.Must(err)
		if view := wire.NewDeposit(f.DepositOf(id), currency,
			wire.ConfirmationContext{Latest: 4, Required: 3}); view.Confirmations != 4 || view.RequiredConfirmations != 5 {
			t.Errorf("a client sees %d of %d, want 4 and 5", view.Confirmations, view.RequiredConfirmations)
		}
		restart(f, bursar.Confirmations{})
		f.CatchUp()
		f.Want("block 4, 60000 credited, map[confirmed:1], 1 events")
	})
}

// A payment that is split into small ones is evaluated by their sum after a restart too, block by block.
func TestSplittingEvadesNoThresholdOfARestart(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		f.Pay(30_000)
		f.Pay(30_000)
		f.Sim.Mine(1)
		f.Pay(30_000)
		f.Sim.Mine(1)
		f.CatchUp()
		restart(f, bursar.Confirmations{Default: 3,
			Above: []bursar.ConfirmationsAbove{{Amount: bursar.Units(50_000), Count: 5}}})
		f.Sim.Mine(2)
		f.CatchUp()
		f.Want("block 4, 30000 credited, map[confirmed:1 pending:2], 1 events")
		f.Sim.Mine(1)
		f.CatchUp()
		f.Want("block 5, 90000 credited, map[confirmed:3], 3 events")
	})
}

// restart makes another process acquire the lease, with other settings of COIN, until it has evaluated pending
// deposits.
func restart(f *followtest.Harness, c bursar.Confirmations) {
	f.T.Helper()
	var list []bursar.Currency
	for _, currency := range f.Registry.All() {
		if currency.Code == "COIN" {
			currency.Confirmations = c
		}
		list = append(list, currency)
	}
	registry, err := bursar.NewRegistry(list)
	f.Must(err)
	f.Deposits.Registry, f.Quorum.Registry = registry, registry
	f.Deposits.Begin(ctx, f.Lease)
}
