package outgoing

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// errRecalled says that a return may not be signed any more.
var errRecalled = errors.New("the return was called back")

// takeReturn makes an outgoing transaction of the oldest return that waits, if as many transactions may wait behind
// each other. Only one is taken in a step, before the withdrawals: so neither holds up the other. To the chain and to
// the signer it is a withdrawal.
func (s *Sender) takeReturn(ctx context.Context, lease store.Lease) error {
	capabilities := s.Chain.Capabilities()
	var served []bursar.CurrencyCode
	var waits bool
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		if served, err = s.served(ctx, tx); err != nil {
			return err
		}
		waits, err = tx.Resolutions().AnyRefundQueued(ctx, capabilities.ID, served)
		return err
	})
	if err != nil || !waits {
		return err
	}
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		occupied, err := tx.Outgoing().OccupiedBy(ctx, capabilities.ID, s.Hot.Base)
		if err != nil || s.room(bursar.ShareRefund, occupied) < 1 {
			return err
		}
		open, err := tx.Outgoing().CountOpenShare(ctx, capabilities.ID, bursar.ShareRefund, refundsOpen)
		if err != nil || open >= refundsOpen {
			return err
		}
		n, err := tx.Resolutions().NextRefund(ctx, capabilities.ID, served)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return s.payReturn(ctx, tx, n)
	})
}

// refundsOpen bounds how many refunds to senders are open at once; the others wait in their queue.
const refundsOpen = 100

func (s *Sender) payReturn(ctx context.Context, tx *store.Tx, n bursar.Resolution) error {
	d, err := tx.Deposits().ByID(ctx, n.DepositID)
	if err != nil {
		return err
	}
	order := s.pay(chain.Payment{Address: n.Address, Contract: d.Contract, Amount: n.Amount})
	_, err = insert(ctx, tx, bursar.OutgoingTx{Chain: n.Chain, Currency: n.Currency, Share: bursar.ShareRefund}, order)
	if err != nil {
		return err
	}
	n.OutgoingID = order.ID
	s.Log.Info("return taken up", "decision", n.ID, "deposit", n.DepositID, "spend", order.ID, "chain", n.Chain)
	return tx.Resolutions().SetStatus(ctx, n, n.Status)
}

const leftTheChain = "the deposit left its chain before it was paid back"

// Unsettle ends a return that paid nobody and never will, in a transaction that has locked the chain: its value is
// undecided again, or, where the chain took it meanwhile, nobody's. reason is for the operator. One that is reopened
// already is left as it is.
func Unsettle(ctx context.Context, tx *store.Tx, n bursar.Resolution, reason string) error {
	if n.Status == bursar.ResolutionFailed {
		return nil
	}
	d, err := tx.Deposits().ByID(ctx, n.DepositID)
	if err != nil {
		return err
	}
	n.Error = reason
	if err := tx.Resolutions().SetStatus(ctx, n, bursar.ResolutionFailed); err != nil {
		return err
	}
	round, err := tx.Ledger().ReversalNumber(ctx, ledger.KindReturnUnsettled, n.ID.String())
	if err != nil {
		return err
	}
	if err := tx.Ledger().Post(ctx, ledger.RefundUnsettled(n, d, round, tx.Now())); err != nil {
		return err
	}
	d.Purpose = bursar.ForUnattributed
	if err := tx.Deposits().SetOwner(ctx, d, 0, bursar.ForReturned); err != nil {
		return err
	}
	if err := tx.Alarms().Resolve(ctx, "return_uncovered", d.ID.String()); err != nil {
		return err
	}
	if d.Status == bursar.DepositReversed || d.Status == bursar.DepositOrphaned {
		return nil // the alarm is raised when it comes back
	}
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: d.Chain, Kind: "unattributed", Ref: d.ID.String(),
		Message: fmt.Sprintf("the return of deposit %s to %s has paid nobody: %s; decide again", d.ID, n.Address, reason)})
}

// recall gives up an unsigned outgoing transaction whose return is called back, or whose deposit is no longer on its
// chain. Any other spend is returned as it is.
func (s *Sender) recall(ctx context.Context, lease store.Lease, p bursar.OutgoingTx) (bursar.OutgoingTx, error) {
	err := s.DB.View(ctx, func(tx *store.Tx) error { return mayBeSigned(ctx, tx, p) })
	if !errors.Is(err, errRecalled) {
		return p, err
	}
	s.Log.Warn("return is not paid", "spend", p.ID, "chain", p.Chain)
	return s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		err := withReturn(ctx, tx, now.ID, func(n bursar.Resolution) error { return Unsettle(ctx, tx, n, leftTheChain) })
		if err != nil {
			return err
		}
		if now.Status == bursar.OutgoingReserved {
			unsigned, err := readUnsigned(now)
			if err != nil {
				return err
			}
			if err := s.giveBack(ctx, tx, now, unsigned.Reservations); err != nil {
				return err
			}
		}
		if err := s.quiet(ctx, tx, now); err != nil {
			return err
		}
		return tx.Outgoing().SetStatus(ctx, now, bursar.OutgoingAbandoned)
	})
}

// mayBeSigned returns errRecalled for an outgoing transaction that is not signed and whose return must not go on. A
// signed one goes on in any case: its bytes are out of our hands.
func mayBeSigned(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	if p.Status != bursar.OutgoingNew && p.Status != bursar.OutgoingReserved {
		return nil
	}
	return withReturn(ctx, tx, p.ID, func(n bursar.Resolution) error {
		d, err := tx.Deposits().ByID(ctx, n.DepositID)
		if err != nil {
			return err
		}
		if n.Status != bursar.ResolutionQueued || d.Status != bursar.DepositConfirmed {
			return errRecalled
		}
		return waitsForEarlier(ctx, tx, n)
	})
}

// nameReturn tells the return that an outgoing transaction pays which transaction does. It refuses one that was called
// back while it was signed: those bytes are then neither kept nor sent.
func (s *Sender) nameReturn(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, txID string) error {
	if err := mayBeSigned(ctx, tx, p); err != nil {
		return err
	}
	return withReturn(ctx, tx, p.ID, func(n bursar.Resolution) error {
		if n.Status != bursar.ResolutionQueued && n.Status != bursar.ResolutionSigned {
			return nil // settled before a reorganisation deeper than finality
		}
		n.TxID = txID
		return tx.Resolutions().SetStatus(ctx, n, bursar.ResolutionSigned)
	})
}

// withReturn calls f with the return that an outgoing transaction pays, if it pays one.
func withReturn(ctx context.Context, tx *store.Tx, outgoingID bursar.ID, f func(bursar.Resolution) error) error {
	n, err := tx.Resolutions().RefundPaidBy(ctx, outgoingID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := f(n); err != nil {
		return fmt.Errorf("return %s: %w", n.ID, err)
	}
	return nil
}

// requeueReturn lets a return whose transaction can never be included wait for another one.
func requeueReturn(ctx context.Context, tx *store.Tx, outgoingID bursar.ID) error {
	return withReturn(ctx, tx, outgoingID, func(n bursar.Resolution) error {
		if n.Status != bursar.ResolutionSigned {
			return nil // it failed in a block that was reorged out, and was decided about again
		}
		n.OutgoingID, n.TxID = bursar.ID{}, ""
		return tx.Resolutions().SetStatus(ctx, n, bursar.ResolutionQueued)
	})
}
