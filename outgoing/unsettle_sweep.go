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

// unsettleSweep adds what a settled sweep collected, according to its request, back to the books of the address that
// was swept, and undoes the booking of what its token kept.
func (h *Inclusions) unsettleSweep(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	var request chain.TxRequest
	if err := json.Unmarshal(p.Request, &request); err != nil {
		return fmt.Errorf("decode the transaction request: %w", err)
	}
	if len(request.Payments) != 1 {
		return fmt.Errorf("a sweep has %d payments, want 1", len(request.Payments))
	}
	sweep := request.Payments[0]
	gone, err := collected(p, sweep)
	if err != nil {
		return err
	}
	if err := h.unsettleShortSweep(ctx, tx, p, sweep); err != nil {
		return err
	}
	held, err := tx.Holdings().Get(ctx, p.Chain, request.From.Base, sweep.Contract)
	if err != nil {
		return err
	}
	if held.Amount, err = held.Amount.Add(gone); err != nil {
		return err
	}
	// While the sweep is open, no other sweep of the address is made; if it expires, another one is.
	currency, configured := h.Registry.Asset(p.Chain, sweep.Contract)
	held.Due = configured && !held.Amount.IsZero() && !held.Amount.Less(currency.Minimum)
	return tx.Holdings().Put(ctx, p.Chain, keyed(held, request.From))
}

// collected returns what a settled sweep took off the books of its address.
func collected(p bursar.OutgoingTx, sweep chain.Payment) (bursar.Amount, error) {
	_, adopted, err := unsignedOf(p)
	switch {
	case err != nil:
		return bursar.Amount{}, err
	case p.Failed && sweep.Contract != "":
		return bursar.Amount{}, nil
	case p.Failed:
		return p.Fee, nil
	case adopted && sweep.Contract == "": // its request is what it moved, without the fee
		return sweep.Amount.Add(p.Fee)
	case adopted:
		gone, _, err := chain.DebitedAndLost(sweep, p.Delivered)
		return gone, err
	}
	return sweep.Amount, nil
}

// unsettleToCold undoes the booking of what a token kept of a move to cold.
func (h *Inclusions) unsettleToCold(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	request, err := DecodeRequest(p)
	if err != nil || len(request.Payments) != 1 || request.Payments[0].Contract == "" {
		return err
	}
	return h.unsettleShortSweep(ctx, tx, p, request.Payments[0])
}

// unsettleShortSweep undoes the booking of the loss of a sweep, or a move to cold, that its token did not deliver
// whole. That of a move to cold was not booked if an earlier version settled it.
func (h *Inclusions) unsettleShortSweep(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, sweep chain.Payment,
) error {
	if p.Failed {
		return nil
	}
	_, lost, err := chain.DebitedAndLost(sweep, p.Delivered)
	if err != nil || lost.IsZero() {
		return err
	}
	currency, configured := h.Registry.Asset(p.Chain, sweep.Contract)
	if !configured {
		return fmt.Errorf("chain %s has no currency configured for contract %q, whose sweep was short",
			p.Chain, sweep.Contract)
	}
	round, err := tx.Ledger().ReversalNumber(ctx, ledger.KindSweepShortUndone, p.ID.String())
	if err != nil {
		return err
	}
	booked, err := tx.Ledger().IsPosted(ctx, ledger.SweepShort(p.ID.String(), round, currency.Code, lost, tx.Now()))
	if err != nil || !booked {
		return err
	}
	return tx.Ledger().Post(ctx, ledger.SweepShortUndone(p.ID.String(), round+1, currency.Code, lost, tx.Now()))
}
