package outgoing

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// takeRefund makes an outgoing transaction of the oldest queued refund to a sender, if another transaction may wait for
// a block. It takes one per step, before the withdrawals, so that neither holds up the other. To the chain and to the
// signer a refund is a withdrawal.
func (s *Sender) takeRefund(ctx context.Context, lease store.Lease, _ store.ChainState) error {
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
	request := s.paymentRequest(chain.Payment{Address: n.Address, Contract: d.Contract, Amount: n.Amount})
	_, err = insert(ctx, tx, bursar.OutgoingTx{Chain: n.Chain, Currency: n.Currency, Share: bursar.ShareRefund}, request)
	if err != nil {
		return err
	}
	s.Log.Info("refund assigned to outgoing transaction", "resolution", n.ID, "deposit", n.DepositID,
		"outgoing", request.ID, "chain", n.Chain)
	return unattributed.Assign(ctx, tx, n, request.ID)
}

// endIfRecalled ends an unsigned outgoing transaction whose refund was called back, or whose deposit is no longer on
// its chain, or came back with another amount. It returns any other outgoing transaction unchanged.
func (s *Sender) endIfRecalled(ctx context.Context, lease store.Lease, p bursar.OutgoingTx) (bursar.OutgoingTx, error) {
	err := s.DB.View(ctx, func(tx *store.Tx) error { return mayBeSigned(ctx, tx, p) })
	if !errors.Is(err, unattributed.ErrRecalled) {
		return p, err
	}
	s.Log.Warn("refund to sender given up before signing", "outgoing", p.ID, "chain", p.Chain)
	return s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		if err := unattributed.FailPaidBy(ctx, tx, now.ID, unattributed.ReorgedOut); err != nil {
			return err
		}
		if err := s.freeUnsigned(ctx, tx, now); err != nil {
			return err
		}
		return s.end(ctx, tx, now)
	})
}

// mayBeSigned is unattributed.MayBeSigned for an unsigned outgoing transaction. A signed one goes on in any case,
// because its bytes may be anywhere.
func mayBeSigned(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	if p.Status != bursar.OutgoingNew && p.Status != bursar.OutgoingReserved {
		return nil
	}
	return unattributed.MayBeSigned(ctx, tx, p.ID)
}

// nameRefund records the transaction that pays a refund. It returns an error for a refund that was called back while it
// was signed: those bytes are then neither stored nor sent. If the same bytes may be out, the refund goes on.
func (s *Sender) nameRefund(ctx context.Context, tx *store.Tx, p attempt, txID string) error {
	if !p.out {
		if err := mayBeSigned(ctx, tx, p.outgoingTx); err != nil {
			return err
		}
	}
	return unattributed.Sign(ctx, tx, p.outgoingTx.ID, txID)
}

// isOutAndRecalled reports whether a refund was called back that may have been signed: it goes on, also with a higher
// fee while the journal has it, and its deposit is not resolved before it has ended.
func (s *Sender) isOutAndRecalled(ctx context.Context, tx *store.Tx, p attempt) (bool, error) {
	out := p.out || p.step == stepBump && s.inJournal(p.outgoingTx.Chain, p.outgoingTx.ID)
	if !out || p.outgoingTx.Share != bursar.ShareRefund {
		return false, nil
	}
	n, err := tx.Resolutions().RefundPaidBy(ctx, p.outgoingTx.ID)
	return err == nil && n.Status == bursar.ResolutionFailed, store.IgnoreNotFound(err)
}

// settleRefund has a final refund to a sender booked as paid, or failed if the chain proves that it was not paid.
func (s *Sender) settleRefund(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	return unattributed.OfOutgoing(ctx, tx, p.ID, func(n bursar.Resolution) error {
		if n.Status == bursar.ResolutionDone {
			return nil
		}
		n.TxID = p.TxID
		if p.Failed {
			return unattributed.Fail(ctx, tx, n, "the transaction failed on the chain")
		}
		if nothing, err := s.refundShort(ctx, tx, n, p); err != nil || nothing {
			return err
		}
		return unattributed.Refunds{Registry: s.Registry, Log: s.Log}.Settle(ctx, tx, n, p)
	})
}

// refundShort raises the alarm for a refund whose token did not deliver it whole. If nothing was delivered, it makes
// the deposit unresolved again and reports true.
func (s *Sender) refundShort(
	ctx context.Context, tx *store.Tx, n bursar.Resolution, p bursar.OutgoingTx,
) (nothing bool, err error) {
	short, is, err := shortfall(p, n.Address, n.Amount)
	if err != nil || !is {
		return false, err
	}
	what := fmt.Sprintf("transaction %s succeeded and delivered %s of %s to %s for the refund of deposit %s",
		p.TxID, s.Registry.Text(n.Currency, short.Delivered), s.Registry.Text(n.Currency, n.Amount), n.Address, n.DepositID)
	if err := s.raiseShort(ctx, tx, p, n.Currency, what); err != nil || !short.Delivered.IsZero() {
		return false, err
	}
	return true, unattributed.Fail(ctx, tx, n,
		"the token's contract delivered nothing, though the transaction succeeded")
}
