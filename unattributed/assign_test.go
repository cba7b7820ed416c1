package unattributed_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/unattributed"
	"github.com/bursar/bursar/wire"
)

// stranded makes an inferred payment to a wallet's address, waits until that is final, and returns it.
func stranded(r *bursartest.OneChain, to bursar.Wallet, units uint64) bursar.Deposit {
	r.T.Helper()
	id := r.PayUnproven(to, units)
	r.Chain.Mine(3)
	r.Step()
	return r.StrandedBy(id)
}

// An assigned deposit is a deposit of its wallet like any other: it is visible, notified once, and can be paid out.
func TestAnAssignedDepositIsAnOrdinaryDeposit(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		at, to := r.Wallet(1), r.Wallet(0)
		r.Pay(bursar.Address{Base: r.Hot.Base}, 50_000_000)
		id := r.PayUnproven(at, 80_000_000)
		r.Chain.Mine(1)
		r.Step()
		d := r.StrandedBy(id)
		if _, err := r.Unattributed().AssignToWallet(ctx, d.ID, to.ID, ""); !errors.Is(err, unattributed.ErrNotFinal) {
			t.Errorf("assigning what is pending gave %v, want %v", err, unattributed.ErrNotFinal)
		}
		r.Chain.Mine(2)
		r.Step()
		r.WantAlarms("unattributed")
		n, err := r.Unattributed().AssignToWallet(ctx, d.ID, to.ID, " ticket 42 ")
		if err != nil || n.Status != bursar.ResolutionDone || n.Note != "ticket 42" || n.AccountID != r.Accounts[0] {
			t.Fatalf("the decision is %+v, %v, want %v and %q and %v", n, err, bursar.ResolutionDone, "ticket 42", r.Accounts[0])
		}
		r.WantAlarms()
		if got := r.Available(0); got != bursar.Units(79_200_000) || !r.Available(1).IsZero() {
			t.Fatalf("%s is available after a fee of 1 %%, want %v and zero", got, bursar.Units(79_200_000))
		}
		events := r.WantEvents(0, bursar.EventDeposit)
		if events[0].URL != to.Webhook || events[0].Subject != d.ID {
			t.Errorf("the event goes to %q about %s, want %q and %s", events[0].URL, events[0].Subject, to.Webhook, d.ID)
		}
		r.WantEvents(1)
		r.View(func(tx *store.Tx) error {
			list, err := tx.Deposits().List(ctx, r.Accounts[0], to.ID, store.Page{Limit: 10})
			if len(list) != 1 || list[0].ID != d.ID || list[0].Status != bursar.DepositConfirmed || list[0].WalletID != to.ID ||
				list[0].Fee != bursar.Units(800_000) || list[0].Address != at.Address {
				t.Errorf("the wallet's deposits are %+v", list)
			}
			left, _ := tx.Deposits().Unattributed(ctx, false, store.Page{Limit: 10})
			all, _ := tx.Deposits().Unattributed(ctx, true, store.Page{Limit: 10})
			if len(left) != 0 || len(all) != 1 {
				t.Errorf("%d are undecided of %d, want none and 1 of them", len(left), len(all))
			}
			return err
		})
		r.Must(r.Audit())
		if _, err := r.Withdraw(0, 70_000_000, r.Chain.Named("outside")); err != nil {
			t.Fatal(err)
		}
		r.Settle()
		r.WantEvents(0, bursar.EventDeposit)
		r.Must(r.Audit())
	})
}

// The second of two resolutions is refused and changes nothing.
func TestADepositIsResolvedOnce(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		w := r.Wallet(0)
		d := stranded(r, w, 80_000_000)
		operator := r.Unattributed()
		r.Pay(w.Address, 1_000_000)
		r.Chain.Mine(3)
		r.Step()
		for name, refused := range map[string]struct {
			err  error
			want error
		}{
			"an unknown wallet":      {second(operator.AssignToWallet(ctx, d.ID, bursar.ID{9}, "")), unattributed.ErrTarget},
			"an unknown account":     {second(operator.AssignToAccount(ctx, d.ID, bursar.ID{9}, "")), unattributed.ErrTarget},
			"an unknown deposit":     {second(operator.Keep(ctx, bursar.ID{9}, "")), bursar.ErrNotFound},
			"a customer's deposit":   {second(operator.Keep(ctx, r.FirstDeposit(w).ID, "")), unattributed.ErrNotUnattributed},
			"a note beyond measure":  {second(operator.Keep(ctx, d.ID, string(make([]byte, 10_001)))), unattributed.ErrNote},
			"no return to call back": {second(operator.Cancel(ctx, d.ID, "")), unattributed.ErrTooLate},
		} {
			if !errors.Is(refused.err, refused.want) {
				t.Errorf("%s: %v, want %v", name, refused.err, refused.want)
			}
		}
		if _, err := operator.Keep(ctx, d.ID, "mine"); err != nil {
			t.Fatal(err)
		}
		before := r.Available(0)
		for name, err := range map[string]error{
			"keep":   second(operator.Keep(ctx, d.ID, "")),
			"assign": second(operator.AssignToWallet(ctx, d.ID, w.ID, "")),
			"return": second(operator.Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: r.Chain.Named("outside")})),
		} {
			if !errors.Is(err, store.ErrResolved) {
				t.Errorf("%s a second time: %v, want %v", name, err, store.ErrResolved)
			}
		}
		if r.Available(0) != before || r.Book(ledger.Capital) != "80000000" || r.Book(ledger.Unattributed) != "0" {
			t.Errorf("a refused decision changed the books: %s capital, %s unattributed, want %v and %q and %q",
				r.Book(ledger.Capital),
				r.Book(ledger.Unattributed), before, "80000000", "0")
		}
		if n := r.Resolution(d); n.Kind != bursar.ResolutionKeep || n.Note != "mine" {
			t.Errorf("the decision is %+v, want %v and %q", n, bursar.ResolutionKeep, "mine")
		}
		r.Must(r.Audit())
	})
}

// Replicas that resolve a deposit at the same time resolve it once between them.
func TestReplicasResolveADepositOnce(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		w := r.Wallet(0)
		d := stranded(r, w, 80_000_000)
		var won atomic.Int64
		var group sync.WaitGroup
		for range 2 {
			operator := r.UnattributedOver(storetest.Open(t, storetest.URL(r.DB)))
			for i := range 6 {
				group.Go(func() {
					var err error
					switch i % 3 {
					case 0:
						_, err = operator.AssignToWallet(ctx, d.ID, w.ID, "")
					case 1:
						_, err = operator.Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: r.Chain.Named("outside")})
					default:
						_, err = operator.Keep(ctx, d.ID, "")
					}
					if err == nil {
						won.Add(1)
					} else if !errors.Is(err, store.ErrResolved) {
						t.Error(err)
					}
				})
			}
		}
		group.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d decisions about one deposit, want 1", won.Load())
		}
		r.Pay(bursar.Address{Base: r.Hot.Base}, 90_000_000)
		r.Settle()
		if r.Book(ledger.Unattributed) != "0" || r.Book(ledger.Refunding) != "0" {
			t.Errorf("%s is unattributed, %s under way, want 0 and 0",
				r.Book(ledger.Unattributed), r.Book(ledger.Refunding))
		}
		r.Must(r.Audit())
	})
}

// A deposit may be credited to an account that has no wallet for it; the account's own webhook is notified.
func TestAnAccountNeedsNoWallet(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		d := stranded(r, r.Wallet(1), 80_000_000)
		r.Do(func(tx *store.Tx) error {
			_, err := tx.Wallets().SetWebhookRule(ctx, r.Accounts[0], "", "https://receiver.example/all")
			return err
		})
		if _, err := r.Unattributed().AssignToAccount(ctx, d.ID, r.Accounts[0], ""); err != nil {
			t.Fatal(err)
		}
		if events := r.WantEvents(0, bursar.EventDeposit); events[0].URL != "https://receiver.example/all" {
			t.Errorf("the event goes to %q, want \"https://receiver.example/all\"", events[0].URL)
		}
		got := r.Deposit(d.ID)
		if view := wire.NewDeposit(got, r.Currency, wire.ConfirmationContext{}); view.WalletID != nil ||
			view.Status != bursar.DepositConfirmed || got.AccountID != r.Accounts[0] {
			t.Errorf("it is seen as %+v, want nil and %v and %v", view, bursar.DepositConfirmed, r.Accounts[0])
		}
		if got := r.Available(0); got != bursar.Units(79_200_000) {
			t.Errorf("%s is available, want %s", got, bursar.Units(79_200_000))
		}
		r.Must(r.Audit())
	})
}

// A charge is paid by a deposit that is assigned to it, if the deposit was seen in time.
func TestAnAssignedDepositPaysACharge(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		w := r.Charge(0, 60_000_000)
		d := stranded(r, w, 80_000_000)
		if _, err := r.Unattributed().AssignToWallet(ctx, d.ID, w.ID, ""); err != nil {
			t.Fatal(err)
		}
		r.WantEvents(0, bursar.EventPaid)
		r.View(func(tx *store.Tx) error {
			c, err := tx.Charges().Get(ctx, r.Accounts[0], w.ID)
			if c.PaidBy != d.ID {
				t.Errorf("the charge is paid by %s, want %s", c.PaidBy, d.ID)
			}
			return err
		})
	})
}

// A reorg deeper than finality reverses an assigned deposit like any other, and it is credited again when it is
// included again, also if it is below the minimum, and without asking the operator again.
func TestAnAssignedDepositMayBeReorgedOut(t *testing.T) {
	for _, units := range []uint64{80_000_000, 900} { // 1000 is the minimum
		bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
			r.Step()
			w := r.Wallet(0)
			d := stranded(r, r.Wallet(1), units)
			if _, err := r.Unattributed().AssignToWallet(ctx, d.ID, w.ID, ""); err != nil {
				t.Fatal(err)
			}
			credited := r.Available(0)
			r.Chain.Mine(1)
			r.Step()
			r.Chain.Reorg(4, d.TxID)
			r.Step()
			if got := r.Available(0); !got.IsZero() || r.Book(ledger.DepositFees) != "0" {
				t.Fatalf("%s is available after the reversal, %s are fees, want 0 and 0", got, r.Book(ledger.DepositFees))
			}
			if _, err := r.Withdraw(0, 1000, r.Chain.Named("x")); !bursartest.IsCode(err, bursar.CodeWithdrawalsFrozen) {
				t.Fatalf("a withdrawal of a frozen account gave %v, want %v", err, bursar.CodeWithdrawalsFrozen)
			}
			r.WantAlarms("deposit_reversed")
			r.Must(r.Audit())
			r.Chain.Restore(d.TxID)
			r.Chain.Mine(4)
			r.Step()
			if got := r.Available(0); got != credited || credited.IsZero() {
				t.Fatalf("%s is available after it came back, want %s", got, credited)
			}
			r.WantEvents(0, bursar.EventDeposit, bursar.EventDepositReversed, bursar.EventDeposit)
			r.WantAlarms("deposit_reversed")
			r.Must(r.Audit())
			if _, err := r.Withdraw(0, 1000, r.Chain.Named("x")); bursartest.IsCode(err, bursar.CodeWithdrawalsFrozen) {
				t.Error("the account stays frozen")
			}
		})
	}
}
