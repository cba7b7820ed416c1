package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

func TestADepositIsCreditedAndPaidOut(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Step()
		w := r.Wallet(0)
		r.Pay(w.Address, 1_000_000_000)
		r.Chain.Mine(1)
		r.Step()
		if got := r.Available(0); !got.IsZero() {
			t.Fatalf("%s is credited before finality, want 0", got)
		}
		r.Chain.Mine(2)
		r.Step()
		if got := r.Available(0); got != bursar.Units(990_000_000) {
			t.Fatalf("available is %s after a fee of 1 %%, want %s", got, bursar.Units(990_000_000))
		}
		to := r.Chain.Named("outside")
		order, err := r.Withdraw(0, 500_000_000, to)
		if err != nil {
			t.Fatal(err)
		}
		r.Settle()
		if got := r.Chain.Balance(to, ""); got != bursar.Units(500_000_000) {
			t.Fatalf("the receiver got %s, want %s", got, bursar.Units(500_000_000))
		}
		rest, _ := bursar.Units(490_000_000).Sub(order.Fee)
		if got := r.Available(0); got != rest {
			t.Fatalf("available is %s, want %s", got, rest)
		}
		done, err := r.Withdrawals.Get(ctx, r.Accounts[0], order.ID)
		if err != nil || done.Status != bursar.WithdrawalConfirmed || done.TxID == "" || done.CompletedAt.IsZero() {
			t.Fatalf("the withdrawal is %+v, %v, want %v and not %q and not zero", done, err,
				bursar.WithdrawalConfirmed, "")
		}
		if err := r.Audit(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAReorgBeforeFinality(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Step()
		w := r.Wallet(0)
		kept, dropped := r.Pay(w.Address, 50_000_000), r.Pay(w.Address, 70_000_000)
		r.Chain.Mine(2)
		r.Step()
		r.Chain.Reorg(2, dropped)
		r.Step()
		r.Chain.Mine(3)
		r.Step()
		if got := r.Available(0); got != bursar.Units(49_500_000) {
			t.Fatalf("available is %s: only %s is on the chain", got, kept)
		}
		r.View(func(tx *store.Tx) error {
			list, err := tx.Deposits().List(ctx, r.Accounts[0], w.ID, store.Page{Limit: 10})
			states := map[string]bursar.DepositStatus{}
			for _, d := range list {
				states[d.TxID] = d.Status
			}
			if len(list) != 2 || states[kept] != bursar.DepositConfirmed || states[dropped] != bursar.DepositOrphaned {
				t.Errorf("the deposits are %v, want 2 of them and %v and %v", states, bursar.DepositConfirmed,
					bursar.DepositOrphaned)
			}
			return err
		})
	})
}

func TestAReorgAfterCredit(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Step()
		w := r.Wallet(0)
		gone := r.Pay(w.Address, 50_000_000)
		r.Chain.Mine(4)
		r.Step()
		r.Chain.Reorg(4, gone)
		r.Step()
		if got := r.Available(0); !got.IsZero() {
			t.Fatalf("available is %s after the reversal, want 0", got)
		}
		if _, err := r.Withdraw(0, 1000, r.Chain.Named("x")); !bursartest.IsCode(err, bursar.CodeWithdrawalsFrozen) {
			t.Fatalf("a withdrawal of a frozen account gave %v, want %v", err, bursar.CodeWithdrawalsFrozen)
		}
		r.View(func(tx *store.Tx) error {
			events, err := tx.Deliveries().List(ctx, r.Accounts[0], store.Page{Limit: 10})
			if len(events) != 2 || events[0].Kind != bursar.EventDepositReversed {
				t.Errorf("%d events, want 2 of them and %v", len(events), bursar.EventDepositReversed)
			}
			alarms, _ := tx.Alarms().List(ctx, 10)
			if len(alarms) != 1 || alarms[0].Kind != "deposit_reversed" {
				t.Errorf("the alarms are %+v, want 1 of them and %q", alarms, "deposit_reversed")
			}
			return err
		})
		r.Chain.Restore(gone)
		r.Chain.Mine(4)
		r.Step()
		if got := r.Available(0); got != bursar.Units(49_500_000) {
			t.Fatalf("available is %s after it came back, want %s", got, bursar.Units(49_500_000))
		}
		if _, err := r.Withdraw(0, 1_000_000, r.Chain.Named("x")); err != nil {
			t.Fatalf("the account stays frozen: %v", err)
		}
		r.Settle()
		if err := r.Audit(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAnUnknownBroadcastIsPaidOnce(t *testing.T) {
	for _, outcome := range []sim.Outcome{sim.TakenUnknown, sim.LostUnknown, sim.LostSilently} {
		both(t, func(t *testing.T, r *harness) {
			r.Step()
			r.Pay(r.Wallet(0).Address, 1_000_000_000)
			r.Pay(bursar.Address{Base: r.Hot.Base}, 1_000_000_000)
			r.Chain.Mine(3)
			r.Step()
			to := r.Chain.Named("outside")
			if _, err := r.Withdraw(0, 300_000_000, to); err != nil {
				t.Fatal(err)
			}
			r.Chain.FailBroadcasts(outcome, 3)
			r.Trouble = true
			r.Step()
			r.Restart()
			r.Step()
			r.Trouble = false
			r.Settle()
			if got := r.Chain.Balance(to, ""); got != bursar.Units(300_000_000) {
				t.Fatalf("the receiver got %s, want %s", got, bursar.Units(300_000_000))
			}
			if err := r.Audit(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A payment that was made before its address was handed out is in blocks that the follower has passed.
func TestARescanFindsWhatWasMissed(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Step()
		early, late := r.FutureAddress(0), r.FutureAddress(1)
		r.Pay(early, 80_000_000)
		r.Chain.Mine(1)
		id := r.Pay(late, 60_000_000)
		r.Chain.Mine(4)
		r.Step()
		if r.Wallet(0).Address != early || r.Wallet(1).Address != late {
			t.Fatal("the addresses are not those that were paid")
		}
		r.Step()
		if a, b := r.Available(0), r.Available(1); !a.IsZero() || !b.IsZero() {
			t.Fatalf("%s and %s are credited without a search, want 0 and 0", a, b)
		}
		if n, err := r.Follower.Rescan(ctx, 1, 1); err != nil || n != 1 {
			t.Fatalf("searched %d blocks, %v, want 1", n, err)
		}
		if ref, err := r.Follower.RescanTx(ctx, id); err != nil || ref.Height != 2 {
			t.Fatalf("found it in %+v, %v, want 2", ref, err)
		}
		for range 2 { // what is known already is not credited again
			r.Step()
			if n, err := r.Follower.Rescan(ctx, 1, 99); err != nil || n != 5 {
				t.Fatalf("searched %d blocks, %v, want 5", n, err)
			}
		}
		r.Step()
		if a, b := r.Available(0), r.Available(1); a != bursar.Units(79_200_000) || b != bursar.Units(59_400_000) {
			t.Fatalf("after the search %s and %s are credited, want %s and %s",
				a, b, bursar.Units(79_200_000), bursar.Units(59_400_000))
		}
	})
}
