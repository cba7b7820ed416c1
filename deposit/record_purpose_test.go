package deposit_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
)

// inBlock returns the deposits of a block.
func inBlock(f *followtest.Harness, height uint64) (list []bursar.Deposit) {
	f.T.Helper()
	f.Must(f.DB.View(ctx, func(tx *store.Tx) (err error) {
		list, err = tx.Deposits().InBlock(ctx, bursar.Ethereum, height)
		return err
	}))
	return list
}

// A transfer of another asset than the wallet's is unattributed until an operator resolves it: no customer sees it, and
// an alarm is raised.
func TestAnotherAssetThanTheWalletsIsUnattributed(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		f.Sim.Pay(chain.Payment{Address: f.Wallet.Address, Contract: f.Sim.Named("token"), Amount: bursar.Units(3000)})
		f.Sim.Mine(3)
		f.CatchUp()
		f.Want("block 3, 0 credited, map[], 0 events")
		f.WantAlarm("unattributed", "belong to no wallet")
		list := inBlock(f, 1)
		if len(list) != 1 || list[0].Purpose != bursar.ForUnattributed || !list[0].AccountID.IsZero() ||
			!list[0].WalletID.IsZero() || list[0].Webhook != "" {
			t.Errorf("it is recorded as %+v", list)
		}
		if got := credited(f, "TOKEN"); !got.IsZero() {
			t.Errorf("%s units are credited, want zero", got)
		}
	})
}

// A transfer to the hot wallet is operator funds: no customer's deposit, and no alarm.
func TestATransferToTheHotWalletIsOperatorFunds(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		f.SetHot(f.Sim.Named("hot"))
		f.Sim.Pay(chain.Payment{Address: bursar.Address{Base: f.Hot}, Amount: bursar.Units(3000)})
		f.Sim.Mine(3)
		f.CatchUp()
		f.WantNoAlarm()
		if list := inBlock(f, 1); len(list) != 1 || list[0].Purpose != bursar.ForOperatorFunds ||
			list[0].Status != bursar.DepositConfirmed {
			t.Errorf("it is recorded as %+v, want 1 of them and %v and %v", list, bursar.ForOperatorFunds,
				bursar.DepositConfirmed)
		}
	})
}

// A watch may match an external address, because it knows fingerprints: a transfer to it is no deposit.
func TestATransferToAnExternalAddressIsNoDeposit(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		f.Chain = misreport{Chain: f.Sim, all: func(b *chain.Block) {
			b.Transfers = append(b.Transfers, chain.Transfer{TxID: b.Ref.Hash,
				Address: bursar.Address{Base: f.Sim.Named("outsider")}, Amount: bursar.Units(3000)})
		}}
		f.Sim.Mine(3)
		f.CatchUp()
		f.WantNoAlarm()
		if list := inBlock(f, 1); len(list) != 0 {
			t.Errorf("recorded is %+v, want none", list)
		}
	})
}
