package follow_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
)

// giveOut records that an address may have been given out by a database that was lost.
func giveOut(f *followtest.Harness, base string) {
	f.T.Helper()
	f.Must(f.DB.Do(ctx, func(tx *store.Tx) error {
		return tx.GapAddresses().Add(ctx, "evm", []store.GapAddress{{Index: 77, Base: base}})
	}))
}

// unattributed refunds the unattributed deposits.
func unattributed(f *followtest.Harness) (list []bursar.Deposit) {
	f.T.Helper()
	f.Must(f.DB.View(ctx, func(tx *store.Tx) (err error) {
		list, err = tx.Deposits().Unattributed(ctx, false, store.Page{Limit: 10})
		return err
	}))
	return list
}

// If the database has forgotten to whom it gave an address, a payment to it belongs to no wallet for now and waits for
// the operator, who can still have the key; other payments of the same block are credited.
func TestAPaymentToAForgottenAddressWaitsForTheOperator(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		forgotten := f.Sim.Named("forgotten")
		giveOut(f, forgotten)
		paid := f.Sim.Pay(chain.Payment{Address: bursar.Address{Base: forgotten}, Amount: bursar.Units(9000)})
		f.Pay(5000)
		f.Sim.Mine(3)
		f.CatchUp()
		f.Want("block 3, 5000 credited, map[confirmed:1], 1 events")
		list := unattributed(f)
		if len(list) != 1 || list[0].TxID != paid || list[0].Amount != bursar.Units(9000) || !list[0].AccountID.IsZero() {
			t.Fatalf("unattributed are %+v, want 1 of them and %v and %v and zero", list, paid, bursar.Units(9000))
		}
	})
}

// If a wallet gets an address that counted as forgotten, because a list of such addresses was too long, the address is
// the wallet's.
func TestAWalletsAddressIsNotAForgottenOne(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		giveOut(f, f.Wallet.Address.Base)
		f.Pay(5000)
		f.Sim.Mine(3)
		f.CatchUp()
		f.Want("block 3, 5000 credited, map[confirmed:1], 1 events")
		if list := unattributed(f); len(list) != 0 {
			t.Errorf("unattributed are %+v, want none", list)
		}
	})
}
