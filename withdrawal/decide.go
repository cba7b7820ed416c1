package withdrawal

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// ErrTooLate is returned when a withdrawal has gone past the point of the decision.
var ErrTooLate = errors.New("it is too late for that")

// Approve lets a withdrawal that waits for an operator go on. The error is destination_refused where the account's list
// has lost its destination meanwhile, or where that has become the wallet of another currency, and withdrawals_frozen
// while the account is frozen, of transfers within this service too: it may still be rejected.
func (s *Service) Approve(ctx context.Context, id bursar.ID) (bursar.Withdrawal, error) {
	return s.decide(ctx, id, func(tx *store.Tx, w bursar.Withdrawal) (bursar.Withdrawal, error) {
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
		if err := s.heldToList(ctx, tx, w, c.Capabilities().Family); err != nil {
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
		if to.Currency != w.Currency { // it was made after the order was taken
			return w, bursar.RefuseField(bursar.CodeDestinationRefused, "address", "this address cannot receive %s", w.Currency)
		}
		if err := s.notForgotten(ctx, tx, w); err != nil {
			return w, err
		}
		return s.settleInside(ctx, tx, w, currency, to)
	})
}

// notFrozen refuses for a frozen account, which nobody freezes or unfreezes until the transaction ends.
func notFrozen(ctx context.Context, tx *store.Tx, account bursar.ID) error {
	a, err := tx.Accounts().Lock(ctx, account)
	if err != nil || a.Frozen == "" {
		return err
	}
	return bursar.Refuse(bursar.CodeWithdrawalsFrozen,
		"account %s is frozen: %s; end that with `bursar account unfreeze`, or reject the withdrawal", account, a.Frozen)
}

// Reject refuses a withdrawal that waits for an operator and gives its money back; reason is for the customer's eyes.
func (s *Service) Reject(ctx context.Context, id bursar.ID, reason string) (bursar.Withdrawal, error) {
	return s.decide(ctx, id, func(tx *store.Tx, w bursar.Withdrawal) (bursar.Withdrawal, error) {
		if w.Status != bursar.WithdrawalPendingApproval {
			return w, fmt.Errorf("%w: the withdrawal is %s", ErrTooLate, w.Status)
		}
		w.Error = reason
		return s.giveBack(ctx, tx, w, bursar.WithdrawalRejected)
	})
}

// Cancel calls a withdrawal back that may not have been signed yet, and gives its money back. ErrTooLate says that it
// may have been.
func (s *Service) Cancel(ctx context.Context, id bursar.ID) (bursar.Withdrawal, error) {
	return s.decide(ctx, id, func(tx *store.Tx, w bursar.Withdrawal) (bursar.Withdrawal, error) {
		if !w.Status.MayBecome(bursar.WithdrawalCancelled) {
			return w, fmt.Errorf("%w: the withdrawal is %s", ErrTooLate, w.Status)
		}
		if err := leaveOutgoing(ctx, tx, w); err != nil {
			return w, err
		}
		return s.giveBack(ctx, tx, w, bursar.WithdrawalCancelled)
	})
}

// leaveOutgoing ends the outgoing transaction that took a withdrawal up, if nothing of it can have been signed: an
// outgoing transaction is claimed before its draft goes to the signer, and whichever of claiming and this comes second
// finds its status changed and does nothing. Who shares the outgoing transaction waits in the queue again.
func leaveOutgoing(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
	if w.OutgoingID.IsZero() {
		return nil
	}
	together, err := tx.Withdrawals().PaidBy(ctx, w.OutgoingID)
	if err != nil {
		return err
	}
	outgoingTx, err := tx.Outgoing().Lock(ctx, w.OutgoingID)
	if err != nil {
		return err
	}
	if outgoingTx.Status != bursar.OutgoingNew {
		return fmt.Errorf("%w: the withdrawal is being signed", ErrTooLate)
	}
	for _, other := range together {
		if err := tx.Withdrawals().AssignOutgoing(ctx, other, bursar.ID{}); err != nil {
			return err
		}
	}
	if err := tx.Alarms().Resolve(ctx, "signer_refused", outgoingTx.ID.String()); err != nil {
		return err
	}
	return tx.Outgoing().SetStatus(ctx, outgoingTx, bursar.OutgoingAbandoned)
}

func (s *Service) giveBack(
	ctx context.Context, tx *store.Tx, w bursar.Withdrawal, next bursar.WithdrawalStatus,
) (bursar.Withdrawal, error) {
	if err := s.notForgotten(ctx, tx, w); err != nil {
		return w, err
	}
	if err := tx.Withdrawals().SetStatus(ctx, w, next); err != nil {
		return w, err
	}
	round, err := tx.Ledger().ReversalNumber(ctx, ledger.KindUnsettled, w.ID.String())
	if err != nil {
		return w, err
	}
	w.Status, w.CompletedAt = next, tx.Now()
	if err := tx.Ledger().Post(ctx, ledger.WithdrawalRefunded(w, round, tx.Now())); err != nil {
		return w, err
	}
	return w, s.announce(ctx, tx, w)
}

func (s *Service) decide(
	ctx context.Context, id bursar.ID, f func(tx *store.Tx, w bursar.Withdrawal) (bursar.Withdrawal, error),
) (w bursar.Withdrawal, err error) {
	if err := s.notBehind(ctx); err != nil {
		return w, err
	}
	err = s.db.Do(ctx, func(tx *store.Tx) error {
		if w, err = tx.Withdrawals().Lock(ctx, id); err != nil {
			return store.AsRefusal(err)
		}
		w, err = f(tx, w)
		return err
	})
	if err == nil {
		s.log.Info("withdrawal decided", "withdrawal", w.ID, "status", w.Status)
	}
	return w, err
}

// Get returns an account's withdrawal, or bursar.ErrNotFound.
func (s *Service) Get(ctx context.Context, account, id bursar.ID) (w bursar.Withdrawal, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		w, err = tx.Withdrawals().Get(ctx, account, id)
		return store.AsRefusal(err)
	})
	return w, err
}

// List returns an account's withdrawals, newest first; the zero account means everybody's.
func (s *Service) List(ctx context.Context, account bursar.ID, page store.Page) (list []bursar.Withdrawal, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		list, err = tx.Withdrawals().List(ctx, account, page)
		return err
	})
	return list, err
}

// ErrRecovering is returned while a database that was put back may have forgotten that the withdrawal was paid.
var ErrRecovering = errors.New("the chain recovers, or is about to: the withdrawal may be paid already; see `bursar " +
	"recovery status`")

// notBehind refuses every decision while the database may have forgotten payments and no chain recovers yet: between a
// restore or a failover and the service's next look at it.
func (s *Service) notBehind(ctx context.Context) error {
	if s.behind == nil {
		return nil
	}
	why, err := s.behind(ctx)
	if err != nil {
		return fmt.Errorf("compare the database with the marks, before a withdrawal is decided about: %w", err)
	}
	if why != "" {
		return fmt.Errorf("%w: %s; start the service, which looks at it, and try again", ErrRecovering, why)
	}
	return nil
}

// notForgotten refuses to give back what the chain may show to be paid.
func (s *Service) notForgotten(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
	currency, err := s.registry.Get(w.Currency)
	if err != nil {
		return nil // not configured: nothing is followed that could show it
	}
	recovering, err := tx.Recoveries().IsOpen(ctx, currency.Chain)
	if err == nil && recovering {
		err = ErrRecovering
	}
	return err
}
