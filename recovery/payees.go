package recovery

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// payees are the recipients of a forgotten transaction, as far as the database knows them.
type payees struct {
	withdrawals []bursar.Withdrawal
	refund      bursar.Resolution
	missing     []journaled
	// other is a refund of the same deposit that was requested since, for another address or amount, and is not signed:
	// the forgotten one may be out, and only one of the two may be made.
	other bursar.Resolution
}

// payees looks up the recipients of a forgotten transaction. The error is errPaidElse if any of them is paid, or may
// be, by another transaction that the entry does not replace.
func (a Assessor) payees(
	ctx context.Context, tx *store.Tx, f store.ForgottenPayment, c content,
) (found payees, err error) {
	for _, j := range c.Withdrawals {
		w, err := tx.Withdrawals().Lock(ctx, j.ID)
		switch {
		case errors.Is(err, store.ErrNotFound) && f.Sure:
			found.missing = append(found.missing, j)
			continue
		case errors.Is(err, store.ErrNotFound):
			return found, fmt.Errorf("%w: withdrawal %s is unknown", errPaidElse, j.ID)
		case err != nil:
			return found, err
		case !w.CompletedAt.IsZero() || w.Address != j.Address || w.Amount != j.Amount:
			return found, fmt.Errorf("%w: withdrawal %s is %s", errPaidElse, w.ID, w.Status)
		}
		if err := a.takeOver(ctx, tx, f, w.OutgoingID); err != nil {
			return found, fmt.Errorf("withdrawal %s: %w", w.ID, err)
		}
		found.withdrawals = append(found.withdrawals, w)
	}
	if c.Refund == nil {
		return found, nil
	}
	if recalled, err := isRecalled(ctx, tx, f, *c.Refund); err != nil || recalled {
		return found, err
	}
	n, err := tx.Resolutions().Standing(ctx, c.Refund.Deposit)
	switch {
	case errors.Is(err, store.ErrNotFound) && f.Sure:
		found.missing = append(found.missing, *c.Refund)
		return found, nil
	case errors.Is(err, store.ErrNotFound):
		return found, fmt.Errorf("%w: refund %s is unknown", errPaidElse, c.Refund.ID)
	case err != nil:
		return found, err
	case !isRefund(n, *c.Refund) && n.Kind == bursar.ResolutionRefund && n.Status == bursar.ResolutionQueued && f.Sure:
		found.missing, found.other = append(found.missing, *c.Refund), n
		return found, nil
	case !isRefund(n, *c.Refund) || n.Status != bursar.ResolutionQueued && n.Status != bursar.ResolutionSigned:
		return found, fmt.Errorf("%w: deposit %s has another resolution", errPaidElse, c.Refund.Deposit)
	}
	found.refund = n
	return found, a.takeOver(ctx, tx, f, n.OutgoingID)
}

// takePayees is payees for a transaction that is put back: it ends another refund of the same deposit.
func (a Assessor) takePayees(
	ctx context.Context, tx *store.Tx, f store.ForgottenPayment, c content,
) (found payees, err error) {
	if found, err = a.payees(ctx, tx, f, c); err != nil {
		return found, err
	}
	return found, a.endOther(ctx, tx, f, found.other)
}

// endOther ends a refund that was requested since for another address or amount, because the forgotten one of the same
// deposit is sent again.
func (a Assessor) endOther(ctx context.Context, tx *store.Tx, f store.ForgottenPayment, n bursar.Resolution) error {
	if n.ID.IsZero() {
		return nil
	}
	if err := a.takeOver(ctx, tx, f, n.OutgoingID); err != nil {
		return fmt.Errorf("refund %s: %w", n.ID, err)
	}
	n, err := tx.Resolutions().Standing(ctx, n.DepositID)
	if err != nil {
		return err
	}
	return unattributed.FailForEarlier(ctx, tx, n)
}

// isRefund reports whether a refund of the journal's deposit is the one that was signed for, or one that was requested
// again for the same payment, because the request was forgotten too.
func isRefund(n bursar.Resolution, j journaled) bool {
	return n.ID == j.ID || n.Address == j.Address && n.Currency == j.Currency && n.Amount == j.Amount
}

// isRecalled reports whether the database knows the refund of a forgotten transaction, and an operator called it back
// before the bytes were stored. The bytes may be out: the transaction goes on, nothing else pays for the deposit until
// it ends, and the refund counts if it is paid after all.
func isRecalled(ctx context.Context, tx *store.Tx, f store.ForgottenPayment, refund journaled) (bool, error) {
	n, err := tx.Resolutions().RefundPaidBy(ctx, f.OutgoingID)
	return err == nil && n.ID == refund.ID && n.Status == bursar.ResolutionFailed, store.IgnoreNotFound(err)
}

// takeOver releases the payments of a forgotten transaction from another one that was to make them. An unsigned
// transaction is given up. A signed one can never be included if no other marks were used, because the journal's entry
// was made when that was proven; otherwise it is unknown.
func (a Assessor) takeOver(ctx context.Context, tx *store.Tx, f store.ForgottenPayment, other bursar.ID) error {
	if other.IsZero() || other == f.OutgoingID {
		return nil
	}
	p, err := tx.Outgoing().Lock(ctx, other)
	if err != nil {
		return err
	}
	switch {
	case p.Status == bursar.OutgoingNew || p.Status == bursar.OutgoingReserved:
		return a.giveUp(ctx, tx, other, chain.ExternalSpend{})
	case p.Height > 0 || !f.Sure:
		return fmt.Errorf("%w: %s", errPaidElse, p.TxID)
	}
	return nil
}

func (a Assessor) assignPayees(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, found payees) error {
	for _, w := range found.withdrawals {
		if err := a.Payouts.SignedAgain(ctx, tx, w.ID, p); err != nil {
			return err
		}
	}
	if found.refund.ID.IsZero() {
		return nil
	}
	return unattributed.Adopted(ctx, tx, found.refund.DepositID, p)
}
