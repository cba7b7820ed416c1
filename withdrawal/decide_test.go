package withdrawal_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/withdrawal"
)

func (d *harness) freeze(account bursar.ID) {
	d.Helper()
	d.Do(func(tx *store.Tx) error {
		return tx.Halts().Put(ctx, store.Halt{Scope: store.HaltAccount(account), Kind: store.HaltByOperator,
			Reason: "police"})
	})
}

// takenUp records that an outgoing transaction pays withdrawals.
func (d *harness) takenUp(status bursar.OutgoingStatus, together ...bursar.Withdrawal) bursar.OutgoingTx {
	d.Helper()
	p := bursar.OutgoingTx{ID: d.IDs.Next(), Chain: bursar.Bitcoin, Kind: "withdrawal", Request: []byte("{}"),
		Currency: "COIN"}
	d.Do(func(tx *store.Tx) error {
		if _, err := tx.Outgoing().Insert(ctx, p); err != nil {
			return err
		}
		for _, w := range together {
			if err := tx.Withdrawals().AssignOutgoing(ctx, w, p.ID); err != nil {
				return err
			}
		}
		p, err := tx.Outgoing().Lock(ctx, p.ID)
		if err != nil || status == bursar.OutgoingNew {
			return err
		}
		return tx.Outgoing().SetStatus(ctx, p, status)
	})
	return p
}

func (d *harness) alarms(kind string) (n int) {
	d.Helper()
	d.Do(func(tx *store.Tx) error {
		list, err := tx.Alarms().OfKind(ctx, kind)
		n = len(list)
		return err
	})
	return n
}

// An approved withdrawal is queued with its money held as before; only what waits for approval can be approved or
// rejected.
func TestOnlyWhatWaitsForApprovalIsApproved(t *testing.T) {
	d := newHarness(t)
	w := d.accept(60_000_000, d.node.Named("outside"))
	available, held := d.available(ann), d.sum(ledger.Held(ann))
	got, err := d.orders.Approve(ctx, w.ID)
	if d.Must(err); got.Status != bursar.WithdrawalQueued || d.current(w).Status != bursar.WithdrawalQueued {
		t.Errorf("it is %s, want %v", d.current(w).Status, bursar.WithdrawalQueued)
	}
	for name, decide := range map[string]func() (bursar.Withdrawal, error){
		"approved again": func() (bursar.Withdrawal, error) { return d.orders.Approve(ctx, w.ID) },
		"rejected":       func() (bursar.Withdrawal, error) { return d.orders.Reject(ctx, w.ID, "no") },
	} {
		if _, err := decide(); !errors.Is(err, withdrawal.ErrTooLate) {
			t.Errorf("%s: %v, want %v", name, err, withdrawal.ErrTooLate)
		}
	}
	if got := d.current(w); got.Status != bursar.WithdrawalQueued || got.Error != "" || d.available(ann) != available ||
		d.sum(ledger.Held(ann)) != held {
		t.Errorf("it is %+v, %s is available, want %v and %q and %v and %v", got, d.available(ann), bursar.WithdrawalQueued,
			"", available, held)
	}
}

// A rejected or cancelled withdrawal refunds its amount and its fee, once, with the time and the reason.
func TestARefusedWithdrawalIsRefundedInFull(t *testing.T) {
	d := newHarness(t)
	rejected, cancelled, waiting := d.accept(60_000_000, d.node.Named("a")), d.accept(10_000_000,
		d.node.Named("b")), d.accept(60_000_000, d.node.Named("c"))
	got, err := d.orders.Reject(ctx, rejected.ID, "no")
	if d.Must(err); got.Status != bursar.WithdrawalRejected || d.current(rejected).Error != "no" ||
		!d.current(rejected).CompletedAt.Equal(d.DB.Now()) {
		t.Errorf("rejected is %+v, want %v and %q and %v", d.current(rejected), bursar.WithdrawalRejected, "no", d.DB.Now())
	}
	for _, w := range []bursar.Withdrawal{cancelled, waiting} {
		got, err := d.orders.Cancel(ctx, w.ID)
		if d.Must(err); got.Status != bursar.WithdrawalCancelled || !got.CompletedAt.Equal(d.DB.Now()) ||
			d.current(w).Status != bursar.WithdrawalCancelled {
			t.Errorf("after cancelling it is %+v, want %v and %v", d.current(w), bursar.WithdrawalCancelled, d.DB.Now())
		}
	}
	for _, w := range []bursar.Withdrawal{rejected, cancelled, waiting} {
		if _, err := d.orders.Cancel(ctx, w.ID); !errors.Is(err, withdrawal.ErrTooLate) {
			t.Errorf("cancelled again: %v, want %v", err, withdrawal.ErrTooLate)
		}
	}
	d.holds(ann, 1_000_000_000, 0)
}

// A frozen account's withdrawal is not approved, with the reason; it may be rejected, which only releases its money.
func TestAFrozenAccountsWithdrawalIsOnlyRejected(t *testing.T) {
	d := newHarness(t)
	w := d.accept(60_000_000, d.node.Named("outside"))
	d.freeze(ann)
	_, err := d.orders.Approve(ctx, w.ID)
	d.refused("frozen", err, bursar.CodeWithdrawalsFrozen, "police")
	if d.current(w).Status != bursar.WithdrawalPendingApproval {
		t.Errorf("the withdrawal is %s, want %s", d.current(w).Status, bursar.WithdrawalPendingApproval)
	}
	_, err = d.orders.Reject(ctx, w.ID, "no")
	d.Must(err)
	d.holds(ann, 1_000_000_000, 0)
}

// A withdrawal on a chain that is no longer configured cannot be paid: approving fails and changes nothing, and the
// money can be refunded.
func TestNothingIsApprovedOnAChainThatIsNotConfigured(t *testing.T) {
	d := newHarness(t)
	w := d.accept(60_000_000, d.node.Named("outside"))
	d.change(func(c *withdrawal.Config) { c.Chains = nil })
	if _, err := d.orders.Approve(ctx, w.ID); err == nil || d.current(w).Status != bursar.WithdrawalPendingApproval {
		t.Errorf("it is %s, %v, want an error and %v", d.current(w).Status, err, bursar.WithdrawalPendingApproval)
	}
	_, err := d.orders.Reject(ctx, w.ID, "no")
	d.Must(err)
	d.holds(ann, 1_000_000_000, 0)
}

// Cancelling a withdrawal abandons the outgoing transaction that pays it, if nothing is reserved for that yet, and
// closes its alarm; other withdrawals of the same transaction are queued again.
func TestCancellingAbandonsTheTransaction(t *testing.T) {
	d := newHarness(t)
	w, other := d.accept(10_000_000, d.node.Named("a")), d.accept(20_000_000, d.node.Named("b"))
	p := d.takenUp(bursar.OutgoingNew, w, other)
	for _, ref := range []string{p.ID.String(), "another"} {
		d.Do(func(tx *store.Tx) error {
			return tx.Alarms().Raise(ctx, store.Alarm{Chain: bursar.Bitcoin, Kind: "signer_refused", Ref: ref,
				Message: "too much"})
		})
	}
	_, err := d.orders.Cancel(ctx, w.ID)
	d.Must(err)
	d.Do(func(tx *store.Tx) error {
		p, err := tx.Outgoing().Get(ctx, p.ID)
		if p.Status != bursar.OutgoingAbandoned {
			t.Errorf("the transaction is %s, want %s", p.Status, bursar.OutgoingAbandoned)
		}
		return err
	})
	if got := d.current(other); got.Status != bursar.WithdrawalQueued || !got.OutgoingID.IsZero() {
		t.Errorf("the other one is %+v, want %v and zero", got, bursar.WithdrawalQueued)
	}
	if n := d.alarms("signer_refused"); n != 1 {
		t.Errorf("%d alarms are open, want the one of another transaction", n)
	}
}

// From its reservation on a transaction may be signed: cancelling is too late, and changes nothing.
func TestAWithdrawalThatMayBeSignedIsNotCancelled(t *testing.T) {
	d := newHarness(t)
	w := d.accept(10_000_000, d.node.Named("a"))
	d.takenUp(bursar.OutgoingReserved, w)
	held := d.sum(ledger.Held(ann))
	if _, err := d.orders.Cancel(ctx, w.ID); !errors.Is(err, withdrawal.ErrTooLate) {
		t.Errorf("it gave %v, want %v", err, withdrawal.ErrTooLate)
	}
	if got := d.current(w); got.Status != bursar.WithdrawalQueued || got.OutgoingID.IsZero() ||
		d.sum(ledger.Held(ann)) != held {
		t.Errorf("it is %+v, %s is held, want %v and not zero and %v", got, d.sum(ledger.Held(ann)), bursar.WithdrawalQueued,
			held)
	}
}

// While a restored database may not know that a withdrawal was paid, it is not refunded.
func TestNothingIsRefundedWhileTheChainRecovers(t *testing.T) {
	d := newHarness(t)
	queued, waiting := d.accept(10_000_000, d.node.Named("a")), d.accept(60_000_000, d.node.Named("b"))
	held := d.sum(ledger.Held(ann))
	d.Do(func(tx *store.Tx) error {
		return tx.Recoveries().Begin(ctx, bursar.Bitcoin, "the database was restored")
	})
	if _, err := d.orders.Cancel(ctx, queued.ID); !errors.Is(err, store.ErrRecovering) {
		t.Errorf("cancelled: %v, want %v", err, store.ErrRecovering)
	}
	if _, err := d.orders.Reject(ctx, waiting.ID, "no"); !errors.Is(err, store.ErrRecovering) {
		t.Errorf("rejected: %v, want %v", err, store.ErrRecovering)
	}
	if d.sum(ledger.Held(ann)) != held || d.current(queued).Status != bursar.WithdrawalQueued {
		t.Errorf("%s is held, of %s", d.sum(ledger.Held(ann)), held)
	}
	registry, err := bursar.NewRegistry([]bursar.Currency{token})
	d.Must(err)
	d.change(func(c *withdrawal.Config) { c.Registry = registry })
	if _, err := d.orders.Cancel(ctx, queued.ID); err != nil { // no follower runs for its chain here
		t.Errorf("of a currency that is not configured: %v", err)
	}
}

// Between a restore and the service's next check of the database no chain recovers yet: no withdrawal is approved,
// rejected or cancelled until then, and nothing changes.
func TestNothingIsDecidedBeforeTheDatabaseIsChecked(t *testing.T) {
	d := newHarness(t)
	queued, waiting := d.accept(10_000_000, d.node.Named("a")), d.accept(60_000_000, d.node.Named("b"))
	held, why := d.sum(ledger.Held(ann)), "the database has stepped back"
	d.change(func(c *withdrawal.Config) { c.Behind = func(context.Context) (string, error) { return why, nil } })
	for name, decide := range map[string]func() error{
		"cancel":  func() error { _, err := d.orders.Cancel(ctx, queued.ID); return err },
		"reject":  func() error { _, err := d.orders.Reject(ctx, waiting.ID, "no"); return err },
		"approve": func() error { _, err := d.orders.Approve(ctx, waiting.ID); return err },
	} {
		if err := decide(); !errors.Is(err, store.ErrRecovering) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %v and %v in it", name, err, store.ErrRecovering, why)
		}
	}
	if d.sum(ledger.Held(ann)) != held || d.current(queued).Status != bursar.WithdrawalQueued ||
		d.current(waiting).Status != bursar.WithdrawalPendingApproval {
		t.Errorf("%s is held, of %s", d.sum(ledger.Held(ann)), held)
	}
	why = ""
	if _, err := d.orders.Cancel(ctx, queued.ID); err != nil {
		t.Errorf("once it is looked at: %v", err)
	}
}

// Every decision locks the chain before the withdrawal, and the outgoing transaction after both: the order of
// ARCHITECTURE.md, so that no decision and no step of a sender wait for each other.
func TestDecisionsLockInTheCommonOrder(t *testing.T) {
	d := newHarness(t)
	w := d.accept(10_000_000, d.node.Named("a"))
	d.takenUp(bursar.OutgoingNew, w)
	var got []string
	lock := regexp.MustCompile(`FROM (chains|withdrawals|outgoing_txs)(?: \w)? WHERE (?:\w\.)?(?:chain|id) = \$1`)
	d.points = func(at store.Point, query string) error {
		if found := lock.FindStringSubmatch(query); at == store.Running && found != nil &&
			!strings.HasPrefix(query, "SELECT chain FROM withdrawals") { // which finds the chain, and locks nothing
			got = append(got, found[1])
		}
		return nil
	}
	_, err := d.orders.Cancel(ctx, w.ID)
	d.points = nil
	d.Must(err)
	want := []string{"chains", "withdrawals", "outgoing_txs"}
	if !slices.Equal(got[:min(len(got), 3)], want) {
		t.Errorf("the tables are locked as %q, want %q first", got, want)
	}
}

// A status says nothing about money that the books do not hold: of what was paid within the service at once, and of
// what was given back, nothing is paid or given back once more, although the account has other money held.
func TestAWithdrawalWhoseMoneyIsNotHeldIsNeitherPaidNorGivenBack(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newHarnessOver(t, db)
		paid := d.accept(10_000_000, d.wallet(bob, "COIN", "bob's", 0).Address.Base)
		ended := d.accept(60_000_000, d.node.Named("outside"))
		_, err := d.orders.Reject(ctx, ended.ID, "no")
		d.Must(err)
		d.accept(90_000_000, d.node.Named("outside")) // it waits, and its money is held
		available, held := d.available(ann), d.sum(ledger.Held(ann))
		for name, w := range map[string]bursar.Withdrawal{"paid within the service": paid, "given back": ended} {
			for _, status := range []bursar.WithdrawalStatus{bursar.WithdrawalPendingApproval, bursar.WithdrawalQueued} {
				set := storetest.AsOwner(storetest.URL(db))
				if got := storetest.Ask(t, set, `UPDATE withdrawals SET status = '`+string(status)+`', completed_at = 0
					WHERE number = `+fmt.Sprint(d.current(w).Number)+` RETURNING status`); got != string(status) {
					t.Fatalf("it was made %s", got)
				}
				for decision, decide := range map[string]func() error{
					"approve": func() error { _, err := d.orders.Approve(ctx, w.ID); return err },
					"reject":  func() error { _, err := d.orders.Reject(ctx, w.ID, "no"); return err },
					"cancel":  func() error { _, err := d.orders.Cancel(ctx, w.ID); return err },
				} {
					if err := decide(); !errors.Is(err, withdrawal.ErrTooLate) {
						t.Errorf("%s what was %s and is %s: %v, want %v", decision, name, status, err, withdrawal.ErrTooLate)
					}
				}
			}
		}
		if d.available(ann) != available || d.sum(ledger.Held(ann)) != held {
			t.Errorf("%s is available and %s held, want %s and %s", d.available(ann), d.sum(ledger.Held(ann)), available, held)
		}
	})
}
