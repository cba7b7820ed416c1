package charge

import (
	"context"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// errOtherPayment is the refusal of an order that paid something else before.
var errOtherPayment = bursar.RefuseField(bursar.CodeIdempotencyConflict, "order",
	"the order was taken before, for something else than this refund")

// refundedBefore answers a request whose order was taken before, also after its time and whatever the charge has become
// since.
func (s *Service) refundedBefore(
	ctx context.Context, r Refund, w bursar.Withdrawal, cause error,
) (d bursar.InvoiceDetail, _ bursar.Withdrawal, err error) {
	if cause != nil {
		return d, w, cause
	}
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		v, err := tx.Invoices().Get(ctx, r.Account, r.Charge)
		if err != nil {
			return store.AsRefusal(err)
		}
		if d, err = detailOf(ctx, tx, v); err != nil {
			return err
		}
		before, err := isRecorded(ctx, tx, r, d, w.ID)
		if err == nil && !before {
			err = errOtherPayment
		}
		if err != nil {
			return err
		}
		return r.done(ctx, tx, d, w)
	})
	return d, w, err
}

// isRecorded reports whether a withdrawal is recorded as this refund already: the same signed order came again, perhaps
// at the same time. The error is errOtherPayment where it is the refund of another payment.
func isRecorded(
	ctx context.Context, tx *store.Tx, r Refund, d bursar.InvoiceDetail, withdrawal bursar.ID,
) (bool, error) {
	if r.Order == (SignedOrder{}) {
		return false, nil // each such request is a withdrawal of its own
	}
	i := slices.IndexFunc(d.Refunds, func(f bursar.InvoiceRefund) bool { return f.Withdrawal == withdrawal })
	if i >= 0 && d.Refunds[i].Deposit == r.Deposit {
		return true, nil
	}
	of, err := tx.Invoices().Refunded(ctx, []bursar.ID{withdrawal})
	if _, refunds := of[withdrawal]; err == nil && refunds {
		err = errOtherPayment
	}
	return false, err
}

// done has the caller record the answer.
func (r Refund) done(ctx context.Context, tx *store.Tx, d bursar.InvoiceDetail, w bursar.Withdrawal) error {
	if r.Done == nil {
		return nil
	}
	return r.Done(ctx, tx, d, w)
}
