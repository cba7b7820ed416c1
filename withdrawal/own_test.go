package withdrawal_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// cancelOwn cancels a withdrawal for an account, and counts how often that was answered.
func (d *harness) cancelOwn(account, id bursar.ID, answered *int) (bursar.Withdrawal, error) {
	return d.orders.CancelOwn(ctx, withdrawal.Cancellation{Account: account, Withdrawal: id, By: "key-1",
		Done: func(context.Context, *store.Tx, bursar.Withdrawal) error {
			*answered++
			return nil
		}})
}

func TestAnAccountCancelsWhatIsNotSigned(t *testing.T) {
	d := newHarness(t)
	before, answered := d.available(ann), 0
	w := d.accept(10_000_000, d.node.Named("a"))
	got, err := d.cancelOwn(bob, w.ID, &answered)
	d.refused("another account's", err, bursar.CodeNotFound, "")
	if now := d.current(w); now.Status != bursar.WithdrawalQueued {
		t.Errorf("another account made it %s, want queued", now.Status)
	}
	for range 2 { // the second time it is as it is
		got, err = d.cancelOwn(ann, w.ID, &answered)
		d.Must(err)
		if got.Status != bursar.WithdrawalCancelled || got.CompletedAt.IsZero() || d.available(ann) != before {
			t.Errorf("it is %+v with %s in the balance, want it cancelled with %s", got, d.available(ann), before)
		}
	}
	if answered != 2 {
		t.Errorf("%d times its answer was kept, want 2", answered)
	}
	d.takenUp(bursar.OutgoingReserved, d.accept(20_000_000, d.node.Named("b")))
	signed := d.accept(30_000_000, d.node.Named("c"))
	d.takenUp(bursar.OutgoingReserved, signed)
	_, err = d.cancelOwn(ann, signed.ID, &answered)
	d.refused("one that may be signed", err, bursar.CodeTooLate, "")
}

// While it waits for an approval, and while its account is frozen, its money returns to the balance as well; an answer
// that cannot be kept cancels nothing.
func TestAnAccountCancelsWhatWaits(t *testing.T) {
	d := newHarness(t)
	d.currency(func(c *bursar.Currency) { c.ApprovalAbove = bursar.Units(1) })
	before, answered := d.available(ann), 0
	w := d.accept(10_000_000, d.node.Named("a"))
	lost := errors.New("lost")
	_, err := d.orders.CancelOwn(ctx, withdrawal.Cancellation{Account: ann, Withdrawal: w.ID,
		Done: func(context.Context, *store.Tx, bursar.Withdrawal) error { return lost }})
	if now := d.current(w); !errors.Is(err, lost) || now.Status != bursar.WithdrawalPendingApproval {
		t.Errorf("it gave %v and is %s, want %v and %s", err, now.Status, lost, bursar.WithdrawalPendingApproval)
	}
	d.freeze(ann)
	got, err := d.cancelOwn(ann, w.ID, &answered)
	d.Must(err)
	if got.Status != bursar.WithdrawalCancelled || d.available(ann) != before {
		t.Errorf("it is %s with %s in the balance, want it cancelled with %s", got.Status, d.available(ann), before)
	}
	if _, err := d.orders.Approve(ctx, w.ID); !errors.Is(err, withdrawal.ErrTooLate) {
		t.Errorf("its approval afterwards gave %v, want %v", err, withdrawal.ErrTooLate)
	}
}

func TestAQuoteIsWhatARequestCosts(t *testing.T) {
	d := newHarness(t)
	before := d.count()
	q, err := d.orders.Quote(ctx, d.order(10_000_000, d.node.Named("a")))
	d.Must(err)
	w := d.accept(10_000_000, d.node.Named("a"))
	if q.Fee != w.Fee || q.Amount != w.Amount || q.Fixed || q.Internal || q.Fee.IsZero() {
		t.Errorf("the quote is %+v, want the fee %s of the request", q, w.Fee)
	}
	if total, err := w.Amount.Add(w.Fee); err != nil || q.Total != total {
		t.Errorf("the total is %s, want %s", q.Total, total)
	}
	if n := d.count(); n != before+1 {
		t.Errorf("%d withdrawals are there, want %d", n, before+1)
	}
}
