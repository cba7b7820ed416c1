package outgoing_test

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/unattributed"
	"github.com/bursar/bursar/wire"
)

// unattributed refunds the handler of unattributed deposits over a harness's database.
func (r *harness) unattributed() *unattributed.Service {
	return r.unattributedOver(r.db)
}

func (r *harness) unattributedOver(db *store.DB) *unattributed.Service {
	at := unattributed.ChainContext{Chain: r.chain, Creditor: r.follower.Deposits, Hot: r.hot.Base}
	return &unattributed.Service{DB: db,
		Chains:   map[bursar.ChainID]unattributed.ChainContext{r.chain.Capabilities().ID: at},
		Registry: r.registry, IDs: r.ids, Log: slog.New(slog.DiscardHandler)}
}

// payUnproven pays a wallet in a way that no single transaction proves: it is unattributed.
func (r *harness) payUnproven(to bursar.Wallet, units uint64) string {
	return r.chain.Send(sim.Outside{Payments: []chain.Payment{{Address: to.Address, Amount: bursar.Units(units)}},
		Inferred: true})
}

// stranded makes an inferred payment to a wallet's address, waits until that is final, and returns it.
func (r *harness) stranded(to bursar.Wallet, units uint64) bursar.Deposit {
	r.t.Helper()
	id := r.payUnproven(to, units)
	r.chain.Mine(3)
	r.step()
	return r.strandedBy(id)
}

func (r *harness) strandedBy(txID string) (d bursar.Deposit) {
	r.t.Helper()
	r.view(func(tx *store.Tx) error {
		list, err := tx.Deposits().Unattributed(ctx, true, store.Page{Limit: 1000})
		for _, found := range list {
			if found.TxID == txID {
				d = found
			}
		}
		return err
	})
	if d.ID.IsZero() {
		r.t.Fatalf("nothing unattributed came by %s", txID)
	}
	return d
}

func (r *harness) deposit(id bursar.ID) (d bursar.Deposit) {
	r.t.Helper()
	r.view(func(tx *store.Tx) (err error) {
		d, err = tx.Deposits().ByID(ctx, id)
		return err
	})
	return d
}

// resolution returns the newest resolution about a deposit.
func (r *harness) resolution(d bursar.Deposit) bursar.Resolution {
	r.t.Helper()
	var found map[bursar.ID]bursar.Resolution
	r.view(func(tx *store.Tx) (err error) {
		found, err = tx.Resolutions().About(ctx, []bursar.Deposit{d})
		return err
	})
	return found[d.ID]
}

// book returns the balance of an operator's account.
func (r *harness) book(account ledger.Account) string {
	r.t.Helper()
	var b ledger.Balance
	r.view(func(tx *store.Tx) (err error) {
		b, err = tx.Ledger().Balance(ctx, account, "COIN")
		return err
	})
	amount, negative := b.Net(account.Type())
	if negative {
		return "-" + amount.String()
	}
	return amount.String()
}

// wantEvents checks the kinds of an account's events, newest first.
func (r *harness) wantEvents(account int, kinds ...bursar.EventKind) (events []store.Delivery) {
	r.t.Helper()
	r.view(func(tx *store.Tx) (err error) {
		events, err = tx.Deliveries().List(ctx, r.accounts[account], store.Page{Limit: 100})
		return err
	})
	var got []bursar.EventKind
	for _, e := range events {
		got = append(got, e.Kind)
	}
	if fmt.Sprint(got) != fmt.Sprint(kinds) {
		r.t.Errorf("account %d is told %q, want %q", account, got, kinds)
	}
	return events
}

// An assigned deposit is a deposit of its wallet like any other: it is visible, notified once, and can be paid out.
func TestAnAssignedDepositIsAnOrdinaryDeposit(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		at, to := r.wallet(1), r.wallet(0)
		r.pay(bursar.Address{Base: r.hot.Base}, 50_000_000)
		id := r.payUnproven(at, 80_000_000)
		r.chain.Mine(1)
		r.step()
		d := r.strandedBy(id)
		if _, err := r.unattributed().AssignToWallet(ctx, d.ID, to.ID, ""); !errors.Is(err, unattributed.ErrNotFinal) {
			t.Errorf("assigning what is pending gave %v", err)
		}
		r.chain.Mine(2)
		r.step()
		r.wantAlarms("unattributed")
		n, err := r.unattributed().AssignToWallet(ctx, d.ID, to.ID, " ticket 42 ")
		if err != nil || n.Status != bursar.ResolutionDone || n.Note != "ticket 42" || n.AccountID != r.accounts[0] {
			t.Fatalf("the decision is %+v, %v", n, err)
		}
		r.wantAlarms()
		if got := r.available(0); got != bursar.Units(79_200_000) || !r.available(1).IsZero() {
			t.Fatalf("%s is available after a fee of 1 %%", got)
		}
		events := r.wantEvents(0, bursar.EventDeposit)
		if events[0].URL != to.Webhook || events[0].Subject != d.ID {
			t.Errorf("the event goes to %q about %s", events[0].URL, events[0].Subject)
		}
		r.wantEvents(1)
		r.view(func(tx *store.Tx) error {
			list, err := tx.Deposits().List(ctx, r.accounts[0], to.ID, store.Page{Limit: 10})
			if len(list) != 1 || list[0].ID != d.ID || list[0].Status != bursar.DepositConfirmed || list[0].WalletID != to.ID ||
				list[0].Fee != bursar.Units(800_000) || list[0].Address != at.Address {
				t.Errorf("the wallet's deposits are %+v", list)
			}
			left, _ := tx.Deposits().Unattributed(ctx, false, store.Page{Limit: 10})
			all, _ := tx.Deposits().Unattributed(ctx, true, store.Page{Limit: 10})
			if len(left) != 0 || len(all) != 1 {
				t.Errorf("%d are undecided of %d", len(left), len(all))
			}
			return err
		})
		r.must(r.audit())
		if _, err := r.withdraw(0, 70_000_000, r.chain.Named("outside")); err != nil {
			t.Fatal(err)
		}
		r.settle()
		r.wantEvents(0, bursar.EventDeposit)
		r.must(r.audit())
	})
}

// The second of two resolutions is refused and changes nothing.
func TestADepositIsResolvedOnce(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		w := r.wallet(0)
		d := r.stranded(w, 80_000_000)
		operator := r.unattributed()
		r.pay(w.Address, 1_000_000)
		r.chain.Mine(3)
		r.step()
		for name, refused := range map[string]struct {
			err  error
			want error
		}{
			"an unknown wallet":      {second(operator.AssignToWallet(ctx, d.ID, bursar.ID{9}, "")), unattributed.ErrTarget},
			"an unknown account":     {second(operator.AssignToAccount(ctx, d.ID, bursar.ID{9}, "")), unattributed.ErrTarget},
			"an unknown deposit":     {second(operator.Keep(ctx, bursar.ID{9}, "")), bursar.ErrNotFound},
			"a customer's deposit":   {second(operator.Keep(ctx, r.firstDeposit(w).ID, "")), unattributed.ErrNotUnattributed},
			"a note beyond measure":  {second(operator.Keep(ctx, d.ID, string(make([]byte, 1001)))), unattributed.ErrNote},
			"no return to call back": {second(operator.Cancel(ctx, d.ID, "")), unattributed.ErrTooLate},
		} {
			if !errors.Is(refused.err, refused.want) {
				t.Errorf("%s: %v, want %v", name, refused.err, refused.want)
			}
		}
		if _, err := operator.Keep(ctx, d.ID, "mine"); err != nil {
			t.Fatal(err)
		}
		before := r.available(0)
		for name, err := range map[string]error{
			"keep":   second(operator.Keep(ctx, d.ID, "")),
			"assign": second(operator.AssignToWallet(ctx, d.ID, w.ID, "")),
			"return": second(operator.Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: r.chain.Named("outside")})),
		} {
			if !errors.Is(err, store.ErrDecided) {
				t.Errorf("%s a second time: %v", name, err)
			}
		}
		if r.available(0) != before || r.book(ledger.Capital) != "80000000" || r.book(ledger.Unattributed) != "0" {
			t.Errorf("a refused decision changed the books: %s capital, %s unattributed", r.book(ledger.Capital),
				r.book(ledger.Unattributed))
		}
		if n := r.resolution(d); n.Kind != bursar.ResolutionKeep || n.Note != "mine" {
			t.Errorf("the decision is %+v", n)
		}
		r.must(r.audit())
	})
}

func second[T any](_ T, err error) error { return err }

func (r *harness) firstDeposit(w bursar.Wallet) (d bursar.Deposit) {
	r.t.Helper()
	r.view(func(tx *store.Tx) error {
		list, err := tx.Deposits().List(ctx, w.AccountID, w.ID, store.Page{Limit: 1})
		if len(list) == 1 {
			d = list[0]
		}
		return err
	})
	return d
}

// Replicas that resolve a deposit at the same time resolve it once between them.
func TestReplicasResolveADepositOnce(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		w := r.wallet(0)
		d := r.stranded(w, 80_000_000)
		var won atomic.Int64
		var group sync.WaitGroup
		for range 2 {
			db, err := store.Open(ctx, store.Config{URL: storetest.URL(r.db)})
			r.must(err)
			t.Cleanup(func() { db.Close() })
			operator := r.unattributedOver(db)
			for i := range 6 {
				group.Go(func() {
					var err error
					switch i % 3 {
					case 0:
						_, err = operator.AssignToWallet(ctx, d.ID, w.ID, "")
					case 1:
						_, err = operator.Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: r.chain.Named("outside")})
					default:
						_, err = operator.Keep(ctx, d.ID, "")
					}
					if err == nil {
						won.Add(1)
					} else if !errors.Is(err, store.ErrDecided) {
						t.Error(err)
					}
				})
			}
		}
		group.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d decisions about one deposit", won.Load())
		}
		r.pay(bursar.Address{Base: r.hot.Base}, 90_000_000)
		r.settle()
		if r.book(ledger.Unattributed) != "0" || r.book(ledger.Refunding) != "0" {
			t.Errorf("%s is unattributed, %s under way", r.book(ledger.Unattributed), r.book(ledger.Refunding))
		}
		r.must(r.audit())
	})
}

// A deposit may be credited to an account that has no wallet for it; the account's own webhook is notified.
func TestAnAccountNeedsNoWallet(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		d := r.stranded(r.wallet(1), 80_000_000)
		r.do(func(tx *store.Tx) error {
			_, err := tx.Wallets().SetWebhookRule(ctx, r.accounts[0], "", "https://receiver.example/all")
			return err
		})
		if _, err := r.unattributed().AssignToAccount(ctx, d.ID, r.accounts[0], ""); err != nil {
			t.Fatal(err)
		}
		if events := r.wantEvents(0, bursar.EventDeposit); events[0].URL != "https://receiver.example/all" {
			t.Errorf("the event goes to %q", events[0].URL)
		}
		got := r.deposit(d.ID)
		if view := wire.NewDeposit(got, r.currency, wire.ConfirmationContext{}); view.WalletID != nil ||
			view.Status != bursar.DepositConfirmed || got.AccountID != r.accounts[0] {
			t.Errorf("it is seen as %+v", view)
		}
		if got := r.available(0); got != bursar.Units(79_200_000) {
			t.Errorf("%s is available", got)
		}
		r.must(r.audit())
	})
}

// A charge is paid by a deposit that is assigned to it, if the deposit was seen in time.
func TestAnAssignedDepositPaysACharge(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		w := r.charge(0, 60_000_000)
		d := r.stranded(w, 80_000_000)
		if _, err := r.unattributed().AssignToWallet(ctx, d.ID, w.ID, ""); err != nil {
			t.Fatal(err)
		}
		r.wantEvents(0, bursar.EventPaid)
		r.view(func(tx *store.Tx) error {
			c, err := tx.Charges().Get(ctx, r.accounts[0], w.ID)
			if c.PaidBy != d.ID {
				t.Errorf("the charge is paid by %s", c.PaidBy)
			}
			return err
		})
	})
}

// A reorg deeper than finality reverses an assigned deposit like any other, and it is credited again when it is
// included again, also if it is below the minimum, and without asking the operator again.
func TestAnAssignedDepositMayBeReorgedOut(t *testing.T) {
	for _, units := range []uint64{80_000_000, 900} { // 1000 is the minimum
		both(t, func(t *testing.T, r *harness) {
			r.step()
			w := r.wallet(0)
			d := r.stranded(r.wallet(1), units)
			if _, err := r.unattributed().AssignToWallet(ctx, d.ID, w.ID, ""); err != nil {
				t.Fatal(err)
			}
			credited := r.available(0)
			r.chain.Mine(1)
			r.step()
			r.chain.Reorg(4, d.TxID)
			r.step()
			if got := r.available(0); !got.IsZero() || r.book(ledger.DepositFees) != "0" {
				t.Fatalf("%s is available after the reversal, %s are fees", got, r.book(ledger.DepositFees))
			}
			if _, err := r.withdraw(0, 1000, r.chain.Named("x")); !isCode(err, bursar.CodeWithdrawalsFrozen) {
				t.Fatalf("a withdrawal of a frozen account gave %v", err)
			}
			r.wantAlarms("deposit_reversed")
			r.must(r.audit())
			r.chain.Restore(d.TxID)
			r.chain.Mine(4)
			r.step()
			if got := r.available(0); got != credited || credited.IsZero() {
				t.Fatalf("%s is available after it came back, want %s", got, credited)
			}
			r.wantEvents(0, bursar.EventDeposit, bursar.EventDepositReversed, bursar.EventDeposit)
			r.wantAlarms("deposit_reversed")
			r.must(r.audit())
			if _, err := r.withdraw(0, 1000, r.chain.Named("x")); isCode(err, bursar.CodeWithdrawalsFrozen) {
				t.Error("the account stays frozen")
			}
		})
	}
}
