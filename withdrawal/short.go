package withdrawal

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// SettleShort books a payment that its token did not deliver in full. The customer is debited for what arrived, to the
// unit; the operator bears what the token kept. delivered is a text for the customer that says what arrived.
func (p Payouts) SettleShort(
	ctx context.Context, tx *store.Tx, w bursar.Withdrawal, by bursar.ID, short chain.Shortfall, delivered string,
) error {
	reversals, err := tx.Ledger().ReversalNumber(ctx, ledger.KindUnsettled, w.ID.String())
	if err != nil {
		return err
	}
	if short.Delivered.IsZero() {
		err = p.Refund(ctx, tx, w, "the token's contract delivered nothing, though the transaction succeeded")
	} else {
		w.Error = "the token's contract delivered " + delivered + "; the rest was given back"
		err = p.Confirm(ctx, tx, []bursar.Withdrawal{w}, by)
	}
	if err != nil {
		return err
	}
	if back := givenBack(w, short); !back.IsZero() || !short.Elsewhere.IsZero() {
		if err := tx.Ledger().Post(ctx, ledger.PayoutShort(w, back, short.Elsewhere, reversals, tx.Now())); err != nil {
			return err
		}
	}
	return liftUnsettling(ctx, tx, w)
}

// unsettleShort reverses what SettleShort booked in addition to the payment, and reports whether there was anything.
func (p Payouts) unsettleShort(
	ctx context.Context, tx *store.Tx, w bursar.Withdrawal, short *chain.Shortfall, reversals int,
) (bool, error) {
	if short == nil {
		return false, nil
	}
	back := givenBack(w, *short)
	if back.IsZero() && short.Elsewhere.IsZero() {
		return false, nil
	}
	return true, tx.Ledger().Post(ctx, ledger.PayoutShortUndone(w, back, short.Elsewhere, reversals, tx.Now()))
}

// givenBack returns the part of a withdrawal that is refunded together with its settlement; zero where all of it was
// refunded.
func givenBack(w bursar.Withdrawal, short chain.Shortfall) bursar.Amount {
	if short.Delivered.IsZero() {
		return bursar.Amount{}
	}
	return w.Amount.SubOrZero(short.Delivered)
}

// liftUnsettling lifts the freeze that unsettling a withdrawal caused, where its partial refund has brought the account
// back to zero or above. An account that is not frozen for that is left as it is.
func liftUnsettling(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
	b, err := tx.Ledger().Balance(ctx, ledger.Available(w.AccountID), w.Currency)
	if err != nil {
		return err
	}
	if _, overdrawn := b.Net(ledger.Liability); overdrawn {
		return nil
	}
	_, err = tx.Halts().Lift(ctx, store.HaltAccount(w.AccountID), store.HaltByRefundReversal, w.ID.String())
	return err
}
