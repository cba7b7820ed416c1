package deposit_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// holdings are the amounts at addresses that sweeps can collect.
func holdings(f *followtest.Harness) (list []store.Holding) {
	f.T.Helper()
	f.Must(f.DB.View(ctx, func(tx *store.Tx) error {
		return tx.Holdings().Each(ctx, bursar.Ethereum,
			func(h store.Holding) error { list = append(list, h); return nil })
	}))
	return list
}

// holds checks what the wallet of COIN holds, and whether that is due to be swept.
func holds(f *followtest.Harness, units uint64, due bool) {
	f.T.Helper()
	want := store.Holding{Base: f.Wallet.Address.Base, Branch: chain.DepositBranch, Index: f.Wallet.Index,
		Amount: bursar.Units(units), Due: due}
	if list := holdings(f); len(list) != 1 || list[0] != want {
		f.T.Errorf("addresses hold %+v, want %+v", list, want)
	}
}

// Final deposits at an address add up there, dust as well, and a sweep is due once they reach the minimum.
func TestASweepIsDueAtTheMinimum(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		f.Pay(600)
		f.Sim.Mine(2)
		f.CatchUp()
		if list := holdings(f); len(list) != 0 {
			t.Errorf("before it is final addresses hold %+v, want none", list)
		}
		f.Sim.Mine(1)
		f.CatchUp()
		holds(f, 600, false)
		f.Pay(399)
		f.Sim.Mine(3)
		f.CatchUp()
		holds(f, 999, false)
		f.Pay(1)
		f.Sim.Mine(3)
		f.CatchUp()
		holds(f, 1000, true)
	})
}

// A reorged-out deposit cannot be swept. What is left stays due, and an empty address is not.
func TestAReorgedOutDepositIsNotSwept(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		f.Pay(600)
		f.Sim.Mine(3)
		first := f.Pay(400)
		f.Sim.Mine(3)
		f.CatchUp()
		holds(f, 1000, true)
		comes := leaves(f, first)
		holds(f, 600, true)
		comes()
		holds(f, 1000, true)

		last := f.Sim.Pay(chain.Payment{Address: f.Tokens.Address, Contract: f.Sim.Named("token"),
			Amount: bursar.Units(5000)})
		f.Sim.Mine(3)
		f.CatchUp()
		token := store.Holding{Base: f.Tokens.Address.Base, Contract: f.Sim.Named("token"), Branch: chain.DepositBranch,
			Index: f.Tokens.Index, Amount: bursar.Units(5000), Due: true}
		if list := holdings(f); len(list) != 2 || list[0] != token && list[1] != token {
			t.Errorf("addresses hold %+v, want %+v among it", list, token)
		}
		leaves(f, last)
		token.Amount, token.Due = bursar.Amount{}, false
		if list := holdings(f); len(list) != 2 || list[0] != token && list[1] != token {
			t.Errorf("addresses hold %+v, want %+v among it", list, token)
		}
	})
}

// A sweep that could not be made pauses. A later deposit to its address ends the pause.
func TestADepositEndsThePauseOfASweep(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		f.Pay(5000)
		f.Sim.Mine(3)
		f.CatchUp()
		f.Must(f.DB.Do(ctx, func(tx *store.Tx) error {
			h, err := tx.Holdings().Get(ctx, bursar.Ethereum, f.Wallet.Address.Base, "")
			if err != nil {
				return err
			}
			h.Due, h.Rests = false, tx.Now().Add(time.Hour)
			return tx.Holdings().Put(ctx, bursar.Ethereum, h)
		}))
		f.Pay(5000)
		f.Sim.Mine(3)
		f.CatchUp()
		holds(f, 10_000, true)
	})
}

// Nothing is swept where no sweep is needed: on a chain of the UTXO model, on one whose wallets share an address, and
// at the hot wallet. Nor is anything recorded there when a deposit is reorged out.
func TestNothingIsHeldWhereNothingIsSwept(t *testing.T) {
	for name, c := range map[string]struct {
		setting followtest.Setting
		hot     bool
	}{
		"UTXOs":            {setting: followtest.Setting{UTXO: true}},
		"a shared address": {setting: followtest.Setting{Chain: sim.Config{SharedAddress: true}}},
		"the hot wallet":   {hot: true},
	} {
		t.Run(name, func(t *testing.T) {
			followtest.RunAs(t, c.setting, func(t *testing.T, f *followtest.Harness) {
				to, account := f.Wallet.Address, ledger.Available(f.Account)
				if c.hot {
					f.SetHot(f.Sim.Named("hot"))
					to, account = bursar.Address{Base: f.Hot}, ledger.Capital
				}
				id := f.Sim.Pay(chain.Payment{Address: to, Amount: bursar.Units(5000)})
				f.Sim.Mine(3)
				f.CatchUp()
				books(f, account, 5000)
				leaves(f, id)
				books(f, account, 0)
				if list := holdings(f); len(list) != 0 {
					t.Errorf("addresses hold %+v, want none", list)
				}
			})
		})
	}
}

// An address that a lost database may have given out belongs to the service all the same: a transfer to it waits for an
// operator and is swept with the address's own key.
func TestADepositToAGapAddressIsSweptWithItsKey(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		gap := store.GapAddress{Index: 77, Base: f.Sim.Named("forgotten")}
		f.Must(f.DB.Do(ctx, func(tx *store.Tx) error {
			return tx.GapAddresses().Add(ctx, "evm", []store.GapAddress{gap})
		}))
		f.SetHot(f.Sim.Named("hot"))
		f.Sim.Pay(chain.Payment{Address: bursar.Address{Base: gap.Base}, Amount: bursar.Units(5000)})
		f.Sim.Mine(3)
		f.CatchUp()
		f.WantAlarm("unattributed", "0.00005000 COIN at "+gap.Base)
		books(f, ledger.Unattributed, 5000)
		books(f, ledger.Capital, 0)
		want := store.Holding{Base: gap.Base, Branch: chain.DepositBranch, Index: 77, Amount: bursar.Units(5000),
			Due: true}
		if list := holdings(f); len(list) != 1 || list[0] != want {
			t.Errorf("addresses hold %+v, want %+v", list, want)
		}
	})
}
