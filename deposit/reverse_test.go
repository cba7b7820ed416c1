package deposit_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
)

// frozen returns the reason why the account is frozen, "" while it is not.
func frozen(f *followtest.Harness) (reason string) {
	f.T.Helper()
	f.Must(f.DB.View(ctx, func(tx *store.Tx) error {
		a, err := tx.Accounts().Get(ctx, f.Account)
		reason = a.Frozen
		return err
	}))
	return reason
}

// events are the kinds of the account's events, oldest first.
func events(f *followtest.Harness) (kinds []string) {
	f.T.Helper()
	for _, h := range notified(f) {
		kinds = append(kinds, h.Event)
	}
	return kinds
}

// Two credits are reversed: the account is frozen, with an event for each. It is frozen until the last of them is
// credited again; other deposits do not lift the freeze.
func TestAnAccountIsFrozenUntilItsLastDepositIsBack(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		one, two := f.Pay(5000), f.Pay(7000)
		f.Sim.Mine(3)
		f.CatchUp()
		f.Want("block 3, 12000 credited, map[confirmed:2], 2 events")
		if why := frozen(f); why != "" {
			t.Errorf("it is frozen: %s, want none", why)
		}
		f.Sim.Reorg(3, one, two)
		f.CatchUp()
		f.Want("block 4, 0 credited, map[reversed:2], 4 events")
		if why := frozen(f); why != bursar.FrozenByReversal {
			t.Errorf("it is frozen by %q, want %v", why, bursar.FrozenByReversal)
		}
		if open := f.Alarms(); len(open) != 2 || !strings.HasPrefix(open[0], "deposit_reversed: ") ||
			!strings.HasPrefix(open[1], "deposit_reversed: ") {
			t.Errorf("the alarms are %q, want 2 of them and %q first", open, "deposit_reversed: ")
		}
		list := notified(f)
		if got := events(f); !slices.Equal(got, []string{"deposit", "deposit", "deposit_reversed",
			"deposit_reversed"}) || list[2].Deposit.Status != "reversed" ||
			list[2].Deposit.DepositID == list[3].Deposit.DepositID {
			t.Errorf("the events are %+v", list)
		}
		f.Sim.Restore(one)
		f.Pay(2000)
		f.Sim.Mine(3)
		f.CatchUp()
		f.Want("block 7, 7000 credited, map[confirmed:2 reversed:1], 6 events")
		if why := frozen(f); why != bursar.FrozenByReversal {
			t.Errorf("with one that is back it is frozen by %q, want %v", why, bursar.FrozenByReversal)
		}
		f.Sim.Restore(two)
		f.Sim.Mine(3)
		f.CatchUp()
		f.Want("block 10, 14000 credited, map[confirmed:3], 7 events")
		if why := frozen(f); why != "" {
			t.Errorf("with both that are back it is frozen by %q, want none", why)
		}
	})
}

// An account that asked for pending events gets one each time that the deposit is in a block again, as the same deposit
// with the wallet's data.
func TestAPendingDepositIsNotifiedEachTimeItIsSeen(t *testing.T) {
	s := followtest.Setting{Before: func(w *bursar.Wallet) { w.Metadata = "order 7" }}
	followtest.RunAs(t, s, func(t *testing.T, f *followtest.Harness) {
		f.Must(f.DB.Do(ctx, func(tx *store.Tx) error {
			_, err := tx.Accounts().SetNotifications(ctx, bursar.Account{ID: f.Account, NotifyPending: true})
			return err
		}))
		id := f.Pay(5000)
		f.Sim.Mine(1)
		f.CatchUp()
		f.Sim.Reorg(1, id)
		f.CatchUp()
		f.Sim.Restore(id)
		f.Sim.Mine(3)
		f.CatchUp()
		list := notified(f)
		if got := events(f); !slices.Equal(got, []string{"deposit_pending", "deposit_pending", "deposit"}) {
			t.Fatalf("the events are %v", got)
		}
		for i, status := range []string{"pending", "pending", "confirmed"} {
			if h := list[i]; h.Deposit.DepositID != f.DepositOf(id).ID.String() || h.Deposit.Status != status ||
				h.Deposit.Metadata != "order 7" ||
				h.URL != f.Wallet.Webhook || (h.Deposit.ConfirmedAt != nil) != (status == "confirmed") {
				t.Errorf("event %d is %+v", i, h)
			}
		}
		f.SetHot(f.Sim.Named("hot")) // operator funds cause no event
		f.Sim.Pay(chain.Payment{Address: bursar.Address{Base: f.Hot}, Amount: bursar.Units(3000)})
		f.Sim.Mine(3)
		f.CatchUp()
		if got := events(f); len(got) != 3 {
			t.Errorf("the events are %v, want 3 of them", got)
		}
	})
}

// A rescan reads the same deposit again, and causes no second event.
func TestARescanNotifiesNothingTwice(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		f.Must(f.DB.Do(ctx, func(tx *store.Tx) error {
			_, err := tx.Accounts().SetNotifications(ctx, bursar.Account{ID: f.Account, NotifyPending: true})
			return err
		}))
		f.Pay(5000)
		f.Sim.Mine(1)
		f.CatchUp()
		for _, want := range []string{"block 1, 0 credited, map[pending:1], 1 events",
			"block 3, 5000 credited, map[confirmed:1], 2 events"} {
			f.Want(want)
			_, err := f.Rescan(ctx, 1, 1)
			f.Must(err)
			f.CatchUp()
			f.Want(want)
			f.Sim.Mine(2)
			f.CatchUp()
		}
	})
}

// A deposit below the minimum is in the books, without an event. If it is reorged out, it leaves nothing there.
func TestAReorgedOutDepositBelowTheMinimumIsNotBooked(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		w := r.Wallet(0)
		small := r.Pay(w.Address, 999)
		r.Chain.Mine(4)
		r.Step()
		if got := r.FirstDeposit(w).Status; got != bursar.DepositBelowMinimum {
			t.Fatalf("the deposit of 999 is %s, want %s", got, bursar.DepositBelowMinimum)
		}
		r.WantEvents(0)
		r.Must(r.Audit())
		r.Undo(small, small)
		r.Chain.Mine(4)
		r.Step()
		if got := r.FirstDeposit(w).Status; got != bursar.DepositOrphaned {
			t.Errorf("after the reorg the deposit is %s, want %s", got, bursar.DepositOrphaned)
		}
		r.Must(r.Audit())
	})
}
