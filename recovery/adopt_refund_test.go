package recovery_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// refund records an unattributed deposit that an operator refunds to an address.
func (r *harness) refund(to string, units uint64) bursar.Resolution {
	r.Helper()
	r.n++
	d := bursar.Deposit{ID: r.Assessor.IDs.Next(), Purpose: bursar.ForUnattributed, Currency: "COIN",
		Chain:   r.Capabilities.ID,
		TxID:    fmt.Sprint("came ", r.n),
		Address: bursar.Address{Base: "hot"}, Amount: bursar.Units(units + 1), Status: bursar.DepositPending, Height: 1}
	n := bursar.Resolution{ID: r.Assessor.IDs.Next(), DepositID: d.ID, Chain: r.Capabilities.ID, Currency: "COIN",
		Kind: bursar.ResolutionRefund, Status: bursar.ResolutionQueued,
		Address: bursar.Address{Base: to}, Amount: bursar.Units(units), Fee: bursar.Units(1), ResolvedAt: r.clock.Now()}
	r.Do(func(tx *store.Tx) error {
		if _, _, err := tx.Deposits().Record(ctx, store.NewDeposit{Deposit: d}); err != nil {
			return err
		}
		if err := tx.Ledger().Post(ctx, ledger.TransferReceived(d, ledger.Unattributed, tx.Now()),
			ledger.RefundHeld(n, tx.Now())); err != nil {
			return err
		}
		return tx.Resolutions().Insert(ctx, n)
	})
	return n
}

// refundBy lets an outgoing transaction make a refund.
func (r *harness) refundBy(status bursar.OutgoingStatus, resource string, n bursar.Resolution) bursar.OutgoingTx {
	r.Helper()
	request := chain.TxRequest{Kind: chain.KindWithdrawal,
		Payments: []chain.Payment{pays(n.Address.Base, "", units(n.Amount))}}
	p := r.spend(status, request, []string{resource})
	r.Do(func(tx *store.Tx) error {
		now, err := tx.Resolutions().Standing(ctx, n.DepositID)
		now.OutgoingID = p.ID
		if err != nil {
			return err
		}
		return tx.Resolutions().SetStatus(ctx, now, now.Status)
	})
	return p
}

func (r *harness) standing(n bursar.Resolution) bursar.Resolution {
	r.Helper()
	r.Do(func(tx *store.Tx) (err error) {
		n, err = tx.Resolutions().Standing(ctx, n.DepositID)
		return err
	})
	return n
}

// A refund is adopted like a withdrawal, and nothing of it is left to explain.
func TestARefundIsAdopted(t *testing.T) {
	r := newHarness(t, numbered)
	n, w := r.refund("sender", 400), r.order(ann, "x", "COIN", 500)
	x := r.mineExternal(pays("sender", "", 400), pays("x", "", 500))
	found := r.evaluate(x, false)
	r.paid(found, x, w)
	if got := r.standing(n); got.Status != bursar.ResolutionSigned || got.OutgoingID != found.OutgoingID ||
		got.TxID != x.TxID ||
		!strings.Contains(found.Reason, n.ID.String()) {
		t.Errorf("the refund is %+v, want %v and %v and %v and %v in it", got, bursar.ResolutionSigned, found.OutgoingID,
			x.TxID, n.ID.String())
	}
	r.Do(func(tx *store.Tx) error {
		left, err := recovery.Unexplained(ctx, tx, r.Registry, r.outgoingIn(tx, found.OutgoingID))
		if len(left) > 0 {
			t.Errorf("unexplained is %+v, want none", left)
		}
		return err
	})
	if found := r.evaluate(r.mineExternal(pays("sender", "", 400)), false); found.Verdict != recovery.ExternalTx {
		t.Errorf("a second one is %+v, want %v", found, recovery.ExternalTx)
	}
}

// Whether a refund or an equal withdrawal was paid is ambiguous: a refund has no account, and the withdrawal is a
// customer's.
func TestARefundAndAnEqualWithdrawal(t *testing.T) {
	r := newHarness(t, numbered)
	n, w := r.refund("x", 500), r.order(ann, "x", "COIN", 500)
	if found := r.evaluate(r.mineExternal(pays("x", "", 500)), false); found.Verdict != recovery.ExternalTx {
		t.Errorf("it is %+v, want %v", found, recovery.ExternalTx)
	}
	r.untouched(w)
	if got := r.standing(n); got.Status != bursar.ResolutionQueued {
		t.Errorf("the refund is %+v, want %v", got, bursar.ResolutionQueued)
	}
}

// The older of two equal refunds is matched.
func TestTheOlderRefundIsMatched(t *testing.T) {
	r := newHarness(t, numbered)
	r.clock.Advance(10 * time.Second)
	younger := r.refund("x", 500)
	r.clock.Advance(-5 * time.Second)
	older := r.refund("x", 500)
	found := r.evaluate(r.mineExternal(pays("x", "", 500)), false)
	if r.standing(older).OutgoingID != found.OutgoingID || !r.standing(younger).OutgoingID.IsZero() {
		t.Errorf("the older refund was not matched")
	}
}

// A refund whose unsigned transaction is replaced waits again; a refund that an external spend has made belongs to
// that.
func TestARefundOfAReplacedTransactionWaitsAgain(t *testing.T) {
	r := newHarness(t, numbered)
	beaten, made, w := r.refund("sender", 400), r.refund("other", 300), r.order(ann, "x", "COIN", 500)
	p, q := r.refundBy(bursar.OutgoingReserved, "hot/5", beaten), r.refundBy(bursar.OutgoingReserved, "hot/6", made)
	x := r.mineExternal(pays("x", "", 500), pays("other", "", 300))
	x.Reservations = []string{"hot/5"}
	found := r.evaluate(x, false)
	r.paid(found, x, w)
	if got := r.standing(beaten); got.Status != bursar.ResolutionQueued || !got.OutgoingID.IsZero() || got.TxID != "" {
		t.Errorf("the replaced one is %+v, want %v and zero and %q", got, bursar.ResolutionQueued, "")
	}
	if got := r.standing(made); got.Status != bursar.ResolutionSigned || got.OutgoingID != found.OutgoingID {
		t.Errorf("the one that is made is %+v, want %v and %v", got, bursar.ResolutionSigned, found.OutgoingID)
	}
	if r.Outgoing(p.ID).Status != bursar.OutgoingAbandoned || r.Outgoing(q.ID).Status != bursar.OutgoingAbandoned {
		t.Error("a transaction is not given up")
	}
}

// A version of a refund's transaction is its transaction.
func TestAVersionOfARefund(t *testing.T) {
	r := newHarness(t, numbered)
	n := r.refund("sender", 400)
	p := r.refundBy(bursar.OutgoingReserved, "hot/5", n)
	x := r.mineExternal(pays("sender", "", 400))
	x.Reservations = []string{"hot/5"}
	if found := r.evaluate(x, false); found.OutgoingID != p.ID {
		t.Fatalf("it is %+v, want %v", found, p.ID)
	}
	if got := r.standing(n); got.Status != bursar.ResolutionSigned || got.OutgoingID != p.ID || got.TxID != x.TxID {
		t.Errorf("the refund is %+v, want %v and %v and %v", got, bursar.ResolutionSigned, p.ID, x.TxID)
	}
}

// An account that was notified of a payment is not notified again because another version of it is in a block.
func TestAPaymentIsAnnouncedOnce(t *testing.T) {
	r := newHarness(t, numbered)
	w := r.order(ann, "x", "COIN", 500)
	r.takenUp(bursar.OutgoingSent, []string{"hot/1"}, w)
	r.Do(func(tx *store.Tx) error {
		for _, next := range []bursar.WithdrawalStatus{bursar.WithdrawalSigned, bursar.WithdrawalBroadcast} {
			now, err := tx.Withdrawals().Lock(ctx, w.ID)
			if err != nil {
				return err
			}
			now.TxID = "before"
			if err := tx.Withdrawals().SetStatus(ctx, now, next); err != nil {
				return err
			}
		}
		return nil
	})
	x := r.mineExternal(pays("x", "", 500))
	x.Reservations = []string{"hot/1"}
	r.paid(r.evaluate(x, false), x, w)
	r.Do(func(tx *store.Tx) error {
		notified, err := tx.Deliveries().List(ctx, ann, store.Page{Limit: 9})
		if len(notified) != 0 {
			t.Errorf("notified are %+v, want none", notified)
		}
		return err
	})
}

// A recovery raises an alarm that closes with it.
func TestARecoveryIsAnAlarm(t *testing.T) {
	r := newHarness(t, numbered)
	open := func() (n int) {
		r.Do(func(tx *store.Tx) error {
			list, err := tx.Alarms().OfKind(ctx, "database_behind")
			n = len(list)
			return err
		})
		return n
	}
	r.Do(func(tx *store.Tx) error { return recovery.Begin(ctx, tx, bursar.Ethereum, "it was restored") })
	if open() != 1 {
		t.Error("there is no alarm")
	}
	r.Do(func(tx *store.Tx) error {
		now, err := tx.Recoveries().Get(ctx, bursar.Ethereum)
		if err != nil {
			return err
		}
		return recovery.End(ctx, tx, now)
	})
	r.Do(func(tx *store.Tx) error {
		if is, err := tx.Recoveries().IsOpen(ctx, bursar.Ethereum); is || err != nil {
			t.Errorf("it is still recovering: %v", err)
		}
		return nil
	})
	if open() != 0 {
		t.Error("the alarm stays open, want 0")
	}
}
