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

// errRecalled is returned for a refund to a sender that must not be signed any more.
var errRecalled = errors.New("the refund was called back")

// takeRefund makes an outgoing transaction of the oldest queued refund to a sender, if another transaction may wait for
// a block. It takes one per step, before the withdrawals, so that neither holds up the other. To the chain and to the
// signer a refund is a withdrawal.
func (s *Sender) takeRefund(ctx context.Context, lease store.Lease) error {
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
		if err != nil || s.capacity(bursar.ShareRefund, occupied) < 1 {
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
		return s.payRefund(ctx, tx, n)
	})
}

// refundsOpen is the maximum number of refunds to senders that are open at once; the others stay queued.
const refundsOpen = 100

func (s *Sender) payRefund(ctx context.Context, tx *store.Tx, n bursar.Resolution) error {
	d, err := tx.Deposits().ByID(ctx, n.DepositID)
	if err != nil {
		return err
	}
	request := s.pay(chain.Payment{Address: n.Address, Contract: d.Contract, Amount: n.Amount})
	_, err = insert(ctx, tx, bursar.OutgoingTx{Chain: n.Chain, Currency: n.Currency, Share: bursar.ShareRefund}, request)
	if err != nil {
		return err
	}
	n.OutgoingID = request.ID
	s.Log.Info("refund assigned to outgoing transaction", "resolution", n.ID, "deposit", n.DepositID,
		"outgoing", request.ID, "chain", n.Chain)
	return tx.Resolutions().SetStatus(ctx, n, n.Status)
}

const depositReorgedOut = "the deposit was reorged out before it was refunded"

// Unsettle ends a refund to a sender that paid nobody and never will, in a database transaction that has locked the
// chain. Its deposit is unresolved again, unless the deposit itself has been reorged out. reason is shown to the
// operator. A refund that has already failed is left unchanged.
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
	round, err := tx.Ledger().ReversalNumber(ctx, ledger.KindRefundUnsettled, n.ID.String())
	if err != nil {
		return err
	}
	if err := tx.Ledger().Post(ctx, ledger.RefundFailed(n, d, round, tx.Now())); err != nil {
		return err
	}
	d.Purpose = bursar.ForUnattributed
	if err := tx.Deposits().SetOwner(ctx, d, 0, bursar.ForRefunded); err != nil {
		return err
	}
	if err := tx.Alarms().Resolve(ctx, "refund_uncovered", d.ID.String()); err != nil {
		return err
	}
	if d.Status == bursar.DepositReversed || d.Status == bursar.DepositOrphaned {
		return nil // the alarm is raised if the deposit is included again
	}
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: d.Chain, Kind: "unattributed", Ref: d.ID.String(),
		Message: fmt.Sprintf("the refund of deposit %s to %s was not paid: %s; resolve the deposit again",
			d.ID, n.Address, reason)})
}

// recall gives up an unsigned outgoing transaction whose refund was called back, or whose deposit is no longer on its
// chain. It returns any other outgoing transaction unchanged.
func (s *Sender) recall(ctx context.Context, lease store.Lease, p bursar.OutgoingTx) (bursar.OutgoingTx, error) {
	err := s.DB.View(ctx, func(tx *store.Tx) error { return mayBeSigned(ctx, tx, p) })
	if !errors.Is(err, errRecalled) {
		return p, err
	}
	s.Log.Warn("refund to sender given up before signing", "outgoing", p.ID, "chain", p.Chain)
	return s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		err := withRefund(ctx, tx, now.ID, func(n bursar.Resolution) error { return Unsettle(ctx, tx, n, depositReorgedOut) })
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
		return s.abandon(ctx, tx, now)
	})
}

// mayBeSigned returns errRecalled for an unsigned outgoing transaction whose refund must not go on. A signed one goes
// on in any case, because its bytes may be anywhere.
func mayBeSigned(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	if p.Status != bursar.OutgoingNew && p.Status != bursar.OutgoingReserved {
		return nil
	}
	return withRefund(ctx, tx, p.ID, func(n bursar.Resolution) error {
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

// nameRefund records the transaction that pays a refund. It returns an error for a refund that was called back while it
// was signed: those bytes are then neither stored nor sent.
func (s *Sender) nameRefund(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, txID string) error {
	if err := mayBeSigned(ctx, tx, p); err != nil {
		return err
	}
	return withRefund(ctx, tx, p.ID, func(n bursar.Resolution) error {
		if n.Status != bursar.ResolutionQueued && n.Status != bursar.ResolutionSigned {
			return nil // it was settled before a reorg deeper than finality
		}
		n.TxID = txID
		return tx.Resolutions().SetStatus(ctx, n, bursar.ResolutionSigned)
	})
}

// withRefund calls f with the refund that an outgoing transaction pays, if it pays one.
func withRefund(ctx context.Context, tx *store.Tx, outgoingID bursar.ID, f func(bursar.Resolution) error) error {
	n, err := tx.Resolutions().RefundPaidBy(ctx, outgoingID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := f(n); err != nil {
		return fmt.Errorf("refund %s: %w", n.ID, err)
	}
	return nil
}

// requeueRefund requeues a refund whose transaction can never be included.
func requeueRefund(ctx context.Context, tx *store.Tx, outgoingID bursar.ID) error {
	return withRefund(ctx, tx, outgoingID, func(n bursar.Resolution) error {
		if n.Status != bursar.ResolutionSigned {
			return nil // it failed in a block that was reorged out, and its deposit was resolved again
		}
		n.OutgoingID, n.TxID = bursar.ID{}, ""
		return tx.Resolutions().SetStatus(ctx, n, bursar.ResolutionQueued)
	})
}
