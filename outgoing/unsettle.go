package outgoing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// unsettleBlock takes back what was booked when spends became final in a block that is reorged out now. In the block
// where such a transaction stands next it may cost something else, fail where it succeeded, or succeed where it failed
// and was refunded: it is settled there as if for the first time.
func (h *Inclusions) unsettleBlock(ctx context.Context, tx *store.Tx, height uint64) error {
	settled, err := tx.Outgoing().SettledAt(ctx, h.Capabilities.ID, height)
	if err != nil {
		return err
	}
	for _, p := range settled {
		if err := h.unsettle(ctx, tx, p); err != nil {
			return fmt.Errorf("reopen spend %s: %w", p.ID, err)
		}
	}
	return nil
}

func (h *Inclusions) unsettle(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	if err := h.unsettleFee(ctx, tx, p); err != nil {
		return err
	}
	if err := recovery.Unsettle(ctx, tx, h.Registry, p); err != nil {
		return err
	}
	if err := tx.UTXOs().Unspend(ctx, p.ID); err != nil {
		return err
	}
	if err := unspendAdopted(ctx, tx, p); err != nil {
		return err
	}
	if p.Kind == string(chain.KindSweep) {
		return h.unsettleSweep(ctx, tx, p)
	}
	withdrawals, err := tx.Withdrawals().PaidBy(ctx, p.ID)
	if err != nil {
		return err
	}
	for _, w := range withdrawals {
		if err := h.unsettleWithdrawal(ctx, tx, p, w); err != nil {
			return fmt.Errorf("withdrawal %s: %w", w.ID, err)
		}
	}
	return h.unsettleRefund(ctx, tx, p)
}

// unsettleRefund sets the value of a return aside again that was paid. One that failed stays decided about again; was
// it booked as paid twice, that is undone.
func (h *Inclusions) unsettleRefund(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	n, err := tx.Resolutions().RefundPaidBy(ctx, p.ID)
	if errors.Is(err, store.ErrNotFound) || err == nil && p.Failed {
		return nil
	}
	if err != nil {
		return err
	}
	h.Log.Error("a return's final block left its chain", "decision", n.ID, "deposit", n.DepositID, "hash", p.TxID, "was",
		n.Status)
	if n.Status == bursar.ResolutionFailed {
		return unsettlePaidTwice(ctx, tx, n)
	}
	round, err := tx.Ledger().ReversalNumber(ctx, ledger.KindReturnUnsettled, n.ID.String())
	if err != nil {
		return err
	}
	if err := tx.Ledger().Post(ctx, ledger.ReturnUnsettled(n, round+1, tx.Now())); err != nil {
		return err
	}
	return tx.Resolutions().SetStatus(ctx, n, bursar.ResolutionSigned)
}

// unsettlePaidTwice takes back that a failed return was paid all the same, if that is booked. It is not where the
// return failed because its token delivered nothing.
func unsettlePaidTwice(ctx context.Context, tx *store.Tx, n bursar.Resolution) error {
	round, err := tx.Ledger().ReversalNumber(ctx, ledger.KindReturnNotPaidTwice, n.ID.String())
	if err != nil {
		return err
	}
	booked, err := tx.Ledger().IsPosted(ctx, ledger.ReturnPaidTwice(n, round, tx.Now()))
	if err != nil || !booked {
		return err
	}
	return tx.Ledger().Post(ctx, ledger.ReturnNotPaidTwice(n, round+1, tx.Now()))
}

// unspendAdopted is UTXOs.Unspend for a transaction whose bytes are not known: another one may have its UTXOs reserved.
func unspendAdopted(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	unsigned, adopted, err := unsignedOf(p)
	if err != nil || !adopted {
		return err
	}
	return tx.UTXOs().SetSpent(ctx, p.Chain, unsigned.Reservations, false)
}

// unsignedOf returns a settled outgoing transaction's draft, and whether it was adopted: its bytes are not known.
func unsignedOf(p bursar.OutgoingTx) (unsigned chain.UnsignedTx, adopted bool, err error) {
	if err := json.Unmarshal(p.Unsigned, &unsigned); err != nil {
		return unsigned, false, fmt.Errorf("read the draft: %w", err)
	}
	return unsigned, len(unsigned.Bytes) == 0, nil
}

func (h *Inclusions) unsettleFee(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	if p.Fee.IsZero() {
		return nil
	}
	native, ok := h.Registry.Asset(p.Chain, "")
	if !ok {
		return fmt.Errorf("chain %s has no currency of its own configured", p.Chain)
	}
	ref := ledger.FeeRef(p.Chain, p.TxID)
	round, err := tx.Ledger().ReversalNumber(ctx, ledger.KindFeeReversed, ref)
	if err != nil {
		return err
	}
	return tx.Ledger().Post(ctx, ledger.NetworkFeeReversed(ref, round+1, native.Code, p.Fee, tx.Now()))
}

// unsettleWithdrawal holds again what was settled or refunded.
func (h *Inclusions) unsettleWithdrawal(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, w bursar.Withdrawal,
) error {
	short, is, err := shortfall(p, w.Address, w.Amount)
	if err != nil {
		return err
	}
	payouts := withdrawal.Payouts{Chain: h.Capabilities.ID, Registry: h.Registry, IDs: h.IDs, Log: h.Log}
	if !is {
		return payouts.Unsettle(ctx, tx, w, nil)
	}
	return payouts.Unsettle(ctx, tx, w, &short)
}
