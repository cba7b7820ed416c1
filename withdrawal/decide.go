package withdrawal

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// ErrTooLate is returned when the status of a withdrawal no longer allows the operation.
var ErrTooLate = errors.New("the status does not allow this")

// Done runs in the transaction of a decision, after it; an error of it undoes the decision.
type Done func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error

// Approve releases a withdrawal that waits for an operator. The error is destination_refused where its destination was
// removed from the account's list since, or became the wallet of another currency, withdrawals_frozen while the account
// is frozen, and order_expired once its client's order has expired, all for internal transfers too: the withdrawal may
// still be rejected.
func (s *Service) Approve(ctx context.Context, id bursar.ID, done ...Done) (bursar.Withdrawal, error) {
	return s.decide(ctx, id, done, func(tx *store.Tx, w bursar.Withdrawal) (bursar.Withdrawal, error) {
		if w.Status != bursar.WithdrawalPendingApproval {
			return w, fmt.Errorf("%w: the withdrawal is %s", ErrTooLate, w.Status)
		}
		currency, err := s.registry.Get(w.Currency)
		if err != nil {
			return w, err
		}
		c, on := s.chains[currency.Chain]
		if !on {
			return w, fmt.Errorf("the chain of %s is not configured here", w.Currency)
		}
		if err := notFrozen(ctx, tx, w.AccountID); err != nil {
			return w, err
		}
		if err := s.checkDestination(ctx, tx, w, c.Capabilities().Family); err != nil {
			return w, err
		}
		if err := checkOrderExpiry(ctx, tx, w.ID); err != nil {
			return w, err
		}
		if err := isHeld(ctx, tx, w); err != nil {
			return w, err
		}
		if err := tx.Withdrawals().SetStatus(ctx, w, bursar.WithdrawalQueued); err != nil {
			return w, err
		}
		w.Status = bursar.WithdrawalQueued
		to, err := tx.Wallets().ByAddress(ctx, c.Capabilities().Family, w.Address)
		if errors.Is(err, store.ErrNotFound) {
			return w, s.announce(ctx, tx, w)
		}
		if err != nil {
			return w, err
		}
		if to.Currency != w.Currency { // the wallet was made after the withdrawal was requested
			return w, bursar.RefuseField(bursar.CodeDestinationRefused, "address", "this address cannot receive %s", w.Currency)
		}
		if err := s.notForgotten(ctx, tx, w); err != nil {
			return w, err
		}
		return s.settleInternal(ctx, tx, w, currency, to)
	})
}

// notFrozen refuses for a frozen account. It locks the account, so that nobody freezes or unfreezes it before the
// transaction ends.
func notFrozen(ctx context.Context, tx *store.Tx, account bursar.ID) error {
	a, err := tx.Accounts().Lock(ctx, account)
	if err != nil || a.Frozen == "" {
		return err
	}
	return bursar.Refuse(bursar.CodeWithdrawalsFrozen,
		"account %s is frozen: %s; end that with `bursar account unfreeze`, or reject the withdrawal", account, a.Frozen)
}

// Reject refuses a withdrawal that waits for an operator and refunds it; reason is shown to the customer.
func (s *Service) Reject(
	ctx context.Context, id bursar.ID, reason string, done ...Done,
) (bursar.Withdrawal, error) {
	return s.decide(ctx, id, done, func(tx *store.Tx, w bursar.Withdrawal) (bursar.Withdrawal, error) {
		if w.Status != bursar.WithdrawalPendingApproval {
			return w, fmt.Errorf("%w: the withdrawal is %s", ErrTooLate, w.Status)
		}
		w.Error = reason
		return s.giveBack(ctx, tx, w, bursar.WithdrawalRejected)
	})
}

// Cancel cancels a withdrawal that cannot have been signed yet, and refunds it. ErrTooLate says that it may have been
// signed.
func (s *Service) Cancel(ctx context.Context, id bursar.ID, done ...Done) (bursar.Withdrawal, error) {
	return s.decide(ctx, id, done, func(tx *store.Tx, w bursar.Withdrawal) (bursar.Withdrawal, error) {
		return s.cancel(ctx, tx, w)
	})
}

// cancel is Cancel for a withdrawal that is locked together with its chain, so that no sender builds or signs at the
// same time.
func (s *Service) cancel(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) (bursar.Withdrawal, error) {
	if !w.Status.MayBecome(bursar.WithdrawalCancelled) {
		return w, fmt.Errorf("%w: the withdrawal is %s", ErrTooLate, w.Status)
	}
	if !w.OutgoingID.IsZero() {
		if err := s.leave(ctx, tx, w); err != nil {
			return w, err
		}
	}
	return s.giveBack(ctx, tx, w, bursar.WithdrawalCancelled)
}

func (s *Service) giveBack(
	ctx context.Context, tx *store.Tx, w bursar.Withdrawal, next bursar.WithdrawalStatus,
) (bursar.Withdrawal, error) {
	if err := s.notForgotten(ctx, tx, w); err != nil {
		return w, err
	}
	if err := notPaidByJournal(ctx, tx, w); err != nil {
		return w, err
	}
	if s.unpaid != nil {
		if err := s.unpaid(ctx, tx, w); err != nil {
			return w, err
		}
	}
	if err := tx.Withdrawals().SetStatus(ctx, w, next); err != nil {
		return w, err
	}
	reversals, err := tx.Ledger().ReversalNumber(ctx, ledger.KindUnsettled, w.ID.String())
	if err != nil {
		return w, err
	}
	w.Status, w.CompletedAt = next, tx.Now()
	if err := endFreeze(ctx, tx, w, reversals); err != nil { // accounts are locked before balances
		return w, err
	}
	err = tx.Ledger().Post(ctx, ledger.WithdrawalRefunded(w, reversals, tx.Now()))
	if errors.Is(err, store.ErrNotHeld) {
		err = fmt.Errorf("%w: %w", ErrTooLate, err)
	}
	if err != nil {
		return w, err
	}
	if err := s.credits.RefundEnded(ctx, tx, w.ID); err != nil {
		return w, err
	}
	return w, s.announce(ctx, tx, w)
}

// isHeld refuses to have paid what the books do not hold for the withdrawal, whatever its status says. The withdrawal
// is locked.
func isHeld(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
	not, err := tx.Withdrawals().NotHeld(ctx, w.ID)
	if why, is := not[w.ID]; err == nil && is {
		err = fmt.Errorf("%w: of withdrawal %s, %s", ErrTooLate, w.ID, why)
	}
	return err
}

func (s *Service) decide(
	ctx context.Context, id bursar.ID, done []Done, f func(*store.Tx, bursar.Withdrawal) (bursar.Withdrawal, error),
) (w bursar.Withdrawal, err error) {
	if err := s.behind.Refuse(ctx, "the withdrawal"); err != nil {
		return w, err
	}
	err = s.db.Do(ctx, func(tx *store.Tx) error {
		if w, err = lockToDecide(ctx, tx, id); err != nil {
			return err
		}
		w, err = f(tx, w)
		for _, then := range done {
			if err == nil {
				err = then(ctx, tx, w)
			}
		}
		return err
	})
	if err == nil {
		s.log.InfoContext(ctx, "withdrawal status set by an operator", "withdrawal", w.ID, "status", w.Status)
	}
	return w, err
}

// lockToDecide locks a withdrawal behind its chain, as the sender and the follower do.
func lockToDecide(ctx context.Context, tx *store.Tx, id bursar.ID) (w bursar.Withdrawal, err error) {
	if err := lockChain(ctx, tx, id); err != nil {
		return w, err
	}
	w, err = tx.Withdrawals().Lock(ctx, id)
	return w, store.AsRefusal(err)
}

// lockChain locks the chain that a withdrawal is paid on, so that no step of an outgoing transaction runs at the same
// time as the decision.
func lockChain(ctx context.Context, tx *store.Tx, id bursar.ID) error {
	chain, err := tx.Withdrawals().Chain(ctx, id)
	if err != nil {
		return store.AsRefusal(err)
	}
	_, err = tx.Chains().Lock(ctx, chain)
	if errors.Is(err, store.ErrNotFound) {
		return nil // it was never followed here, so nothing was sent either
	}
	return err
}

// Get returns an account's withdrawal, or bursar.ErrNotFound.
func (s *Service) Get(ctx context.Context, account, id bursar.ID) (w bursar.Withdrawal, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		w, err = tx.Withdrawals().Get(ctx, account, id)
		return store.AsRefusal(err)
	})
	return w, err
}

// List returns an account's withdrawals, newest first; the zero account returns those of all accounts.
func (s *Service) List(ctx context.Context, account bursar.ID, page store.Page) (list []bursar.Withdrawal, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		list, err = tx.Withdrawals().List(ctx, account, page)
		return err
	})
	return list, err
}

// notForgotten refuses to refund a withdrawal that the chain may show to be paid.
func (s *Service) notForgotten(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
	currency, err := s.registry.Get(w.Currency)
	if err != nil {
		return nil // the chain is not configured, so no follower could show a payment
	}
	return tx.Recoveries().Refuse(ctx, currency.Chain)
}

// notPaidByJournal refuses to give back what a transaction has paid, as the journal says, that an operator has
// explained otherwise.
func notPaidByJournal(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
	x, err := tx.ForgottenPayments().PaidAs(ctx, w.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: the journal says that transaction %s paid withdrawal %s: record that with `bursar recovery "+
		"adopt %d --withdrawal %s` once it is in a block", ErrTooLate, x.TxID, w.ID, x.Number, w.ID)
}
