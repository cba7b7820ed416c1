package deposit_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/deposit"
	"github.com/bursar/bursar/store"
)

// inBlock returns the deposits of a block.
func (f *follower) inBlock(height uint64) (list []bursar.Deposit) {
	f.t.Helper()
	f.must(f.db.View(ctx, func(tx *store.Tx) (err error) {
		list, err = tx.Deposits().InBlock(ctx, bursar.Ethereum, height)
		return err
	}))
	return list
}

// Another asset than a wallet's own is nobody's until an operator decides: no customer sees it, and the operator is asked.
func TestAnotherAssetThanTheWalletsIsNobodysYet(t *testing.T) {
	followAs(t, setting{}, func(t *testing.T, f *follower) {
		f.chain.Pay(chain.Payment{Address: f.wallet.Address, Contract: f.chain.Named("token"), Amount: bursar.Units(3000)})
		f.chain.Mine(3)
		f.catchUp()
		f.want("block 3, 0 credited, map[], 0 events")
		f.wantAlarm("unattributed", "fit no wallet")
		list := f.inBlock(1)
		if len(list) != 1 || list[0].Purpose != bursar.ForUnattributed || !list[0].AccountID.IsZero() || !list[0].WalletID.IsZero() || list[0].Webhook != "" {
			t.Errorf("it is recorded as %+v", list)
		}
		if got := f.credited("TOKEN"); !got.IsZero() {
			t.Errorf("%s units are credited", got)
		}
	})
}

// What reaches the hot address is the operator's own, and no customer's and no alarm.
func TestWhatReachesTheHotAddressIsTheOperators(t *testing.T) {
	followAs(t, setting{}, func(t *testing.T, f *follower) {
		f.Hot = f.chain.Named("hot")
		f.Watch = deposit.NewWatch(f.db, f.chain.Capabilities(), f.Hot)
		f.chain.Pay(chain.Payment{Address: bursar.Address{Base: f.Hot}, Amount: bursar.Units(3000)})
		f.chain.Mine(3)
		f.catchUp()
		f.wantNoAlarm()
		if list := f.inBlock(1); len(list) != 1 || list[0].Purpose != bursar.ForCapital || list[0].Status != bursar.DepositConfirmed {
			t.Errorf("it is recorded as %+v", list)
		}
	})
}

// While blocks of days ago are caught up with, a payment counts from when it was made: a charge that was paid in time is.
func TestAPaymentThatIsReadLateCountsFromItsBlock(t *testing.T) {
	followAs(t, setting{}, func(t *testing.T, f *follower) {
		a := f.age(3000)
		f.chain.Mine(3)
		old := f.pay(2000)
		f.chain.Mine(3000)
		early := f.pay(3000)
		f.chain.Mine(3)
		f.catchUp()
		if got, want := f.depositOf(old).SeenAt, a.now.Add(-2996*time.Minute); !got.Equal(want) {
			t.Errorf("what was paid two days ago counts from %v, want %v", got, want)
		}
		// A block whose time lies ahead of ours does not make a payment later than it is.
		if got := f.depositOf(early).SeenAt; got.After(f.db.Now()) {
			t.Errorf("it counts from %v", got)
		}
	})
}
