package outgoing

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// settleSweep takes what was collected, and for the native asset the fee, off the books of the address it came
// from. What of a token did not reach the hot address is the operator's loss. The order says from then on what was
// taken, unless the sweep was adopted.
func (s *Sender) settleSweep(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, unsigned chain.UnsignedTx) error {
	order, err := Order(p)
	if err != nil {
		return err
	}
	sweep, adopted := &order.Payments[0], len(unsigned.Bytes) == 0
	if !adopted { // of several versions each may have been for another asset
		if *sweep, err = s.sweptBy(unsigned, *sweep); err != nil {
			return err
		}
	}
	gone, err := s.gone(ctx, tx, p, *sweep)
	if err != nil {
		return err
	}
	if !p.Failed && !adopted { // the bytes of an adopted one are not known: its order alone says what it moved
		sweep.Amount = gone
		text, err := json.Marshal(order)
		if err != nil {
			return fmt.Errorf("write order: %w", err)
		}
		if err := tx.Outgoing().SetRequest(ctx, p.ID, text); err != nil {
			return err
		}
	}
	h, err := tx.Holdings().Get(ctx, p.Chain, order.From.Base, sweep.Contract)
	if err != nil {
		return err
	}
	h.Amount = h.Amount.SubOrZero(gone)
	currency, configured := s.Registry.Asset(p.Chain, sweep.Contract)
	// What is not configured any more is not swept.
	h.Due = configured && !h.Amount.IsZero() && !h.Amount.Less(currency.Minimum)
	return tx.Holdings().Put(ctx, p.Chain, h)
}

// sweptBy reads from a sweep's bytes which asset it took from its address, and how much, the fee left aside.
func (s *Sender) sweptBy(unsigned chain.UnsignedTx, sweep chain.Payment) (chain.Payment, error) {
	contents, err := s.Chain.Inspect(unsigned.Bytes)
	if err != nil {
		return sweep, fmt.Errorf("read what was swept: %w", err)
	}
	if len(contents.Payments) != 1 {
		return sweep, fmt.Errorf("a sweep of %d payments", len(contents.Payments))
	}
	sweep.Contract, sweep.Amount = contents.Payments[0].Contract, contents.Payments[0].Amount
	return sweep, nil
}

// gone returns what a final sweep has taken from its address, and books what of that did not arrive.
func (s *Sender) gone(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, sweep chain.Payment,
) (bursar.Amount, error) {
	switch {
	case sweep.Contract == "" && p.Failed:
		return p.Fee, nil
	case sweep.Contract == "":
		return sweep.Amount.Add(p.Fee)
	case p.Failed:
		return bursar.Amount{}, nil
	}
	gone, lost, err := chain.Gone(sweep, p.Delivered)
	if err != nil || lost.IsZero() && gone == sweep.Amount {
		return gone, err
	}
	return gone, s.settleShortSweep(ctx, tx, p, sweep, gone, lost)
}

// settleShortSweep books what a token kept of a sweep as the operator's loss, and halts the currency, whose payouts
// would cost as much. What the token did not move at all is at its address still.
func (s *Sender) settleShortSweep(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, sweep chain.Payment,
	gone, lost bursar.Amount) error {
	currency, configured := s.Registry.Asset(p.Chain, sweep.Contract)
	if !configured {
		return fmt.Errorf("chain %s has no currency %q configured, of which a sweep was short", p.Chain, sweep.Contract)
	}
	if !lost.IsZero() {
		round, err := tx.Ledger().ReversalNumber(ctx, ledger.KindSweepShortUndone, p.ID.String())
		if err != nil {
			return err
		}
		if err := tx.Ledger().Post(ctx, ledger.SweepShort(p.ID.String(), round, currency.Code, lost, tx.Now())); err != nil {
			return err
		}
	}
	whole := func(a bursar.Amount) string { return s.amount(currency.Code, a) }
	return s.raiseShort(ctx, tx, p, currency.Code, fmt.Sprintf(
		"transaction %s succeeded and delivered %s of %s from %s to the hot address; %s were lost on the way",
		p.TxID, whole(gone.SubOrZero(lost)), whole(sweep.Amount), p.Base, whole(lost)))
}
