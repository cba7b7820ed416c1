package recovery

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// payees are what a forgotten transaction pays, by what the database knows of it.
type payees struct {
	withdrawals []bursar.Withdrawal
	refund      bursar.Resolution
	missing     []journaled
}

// payees looks up what a forgotten transaction pays. errPaidElse where any of that is paid, or may be, by another one
// that the entry does not make void.
func (k Book) payees(ctx context.Context, tx *store.Tx, f store.Forgotten, c content) (found payees, err error) {
	for _, j := range c.Withdrawals {
		w, err := tx.Withdrawals().Lock(ctx, j.ID)
		switch {
		case errors.Is(err, store.ErrNotFound) && f.Sure:
			found.missing = append(found.missing, j)
			continue
		case errors.Is(err, store.ErrNotFound):
			return found, fmt.Errorf("%w: withdrawal %s is not known", errPaidElse, j.ID)
		case err != nil:
			return found, err
		case !w.CompletedAt.IsZero() || w.Address != j.Address || w.Amount != j.Amount:
			return found, fmt.Errorf("%w: withdrawal %s is %s", errPaidElse, w.ID, w.Status)
		}
		if err := k.takeOver(ctx, tx, f, w.OutgoingID); err != nil {
			return found, fmt.Errorf("withdrawal %s: %w", w.ID, err)
		}
		found.withdrawals = append(found.withdrawals, w)
	}
	if c.Refund == nil {
		return found, nil
	}
	n, err := tx.Resolutions().Standing(ctx, c.Refund.Deposit)
	switch {
	case errors.Is(err, store.ErrNotFound) && f.Sure:
		found.missing = append(found.missing, *c.Refund)
		return found, nil
	case errors.Is(err, store.ErrNotFound):
		return found, fmt.Errorf("%w: refund %s is not known", errPaidElse, c.Refund.ID)
	case err != nil:
		return found, err
	case n.ID != c.Refund.ID || n.Status != bursar.ResolutionQueued && n.Status != bursar.ResolutionSigned:
		return found, fmt.Errorf("%w: deposit %s is decided otherwise", errPaidElse, c.Refund.Deposit)
	}
	found.refund = n
	return found, k.takeOver(ctx, tx, f, n.OutgoingID)
}

// takeOver frees what a forgotten transaction pays from another one that was to pay it. An unsigned one is given up. A
// signed one is dead where no other marks were used, for the journal's entry was made when it was proven to be; else
// nobody can tell.
func (k Book) takeOver(ctx context.Context, tx *store.Tx, f store.Forgotten, other bursar.ID) error {
	if other.IsZero() || other == f.Spend {
		return nil
	}
	p, err := tx.Outgoing().Lock(ctx, other)
	if err != nil {
		return err
	}
	switch {
	case p.Status == bursar.OutgoingNew || p.Status == bursar.OutgoingReserved:
		return k.giveUp(ctx, tx, other, chain.ExternalSpend{})
	case p.Height > 0 || !f.Sure:
		return fmt.Errorf("%w: %s", errPaidElse, p.TxID)
	}
	return nil
}

func (k Book) assignPayees(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, found payees) error {
	for _, w := range found.withdrawals {
		now, err := tx.Withdrawals().Lock(ctx, w.ID) // its own transaction may have been given up a moment ago
		if err != nil {
			return err
		}
		if err := tx.Withdrawals().AssignOutgoing(ctx, now, p.ID); err != nil {
			return err
		}
		for now.Status == bursar.WithdrawalPendingApproval || now.Status == bursar.WithdrawalQueued {
			next := broadcastWay[now.Status]
			if next == bursar.WithdrawalSigned {
				now.TxID = p.TxID
			}
			if err := tx.Withdrawals().SetStatus(ctx, now, next); err != nil {
				return err
			}
			now.Status = next
		}
		now.TxID = p.TxID
		if err := tx.Withdrawals().SetStatus(ctx, now, now.Status); err != nil {
			return err
		}
	}
	if found.refund.ID.IsZero() {
		return nil
	}
	return assignRefund(ctx, tx, found.refund.DepositID, p)
}
