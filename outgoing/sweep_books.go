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

// settleSweep takes what was collected, and for the native asset also the fee, off the books of the address that was
// swept. The part of a token that did not reach the hot wallet is the operator's loss. Its request
// is updated to the amount that was taken, which for one that was adopted is without the fee; where it failed, to the
// asset that it was to take, if that is another one. By its request it is undone.
func (s *Sender) settleSweep(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, unsigned chain.UnsignedTx) error {
	request, err := DecodeRequest(p)
	if err != nil {
		return err
	}
	sweep, adopted := &request.Payments[0], len(unsigned.Bytes) == 0
	asked := *sweep
	// Each of several versions may have moved another asset, or to the hot wallet of another epoch.
	if adopted {
		*sweep, err = sweptInBlock(ctx, tx, p, asked)
	} else {
		*sweep, err = s.sweptBy(unsigned)
	}
	if err != nil {
		return err
	}
	gone, err := s.gone(ctx, tx, p, *sweep)
	if err != nil {
		return err
	}
	if !p.Failed && !adopted {
		sweep.Amount = gone
	}
	if *sweep != asked && (!p.Failed || sweep.Contract != asked.Contract) {
		text, err := json.Marshal(request)
		if err != nil {
			return fmt.Errorf("encode transaction request: %w", err)
		}
		if err := tx.Outgoing().SetRequest(ctx, p.ID, text); err != nil {
			return err
		}
	}
	h, err := tx.Holdings().Get(ctx, p.Chain, request.From.Base, sweep.Contract)
	if err != nil {
		return err
	}
	h.Amount = h.Amount.SubOrZero(gone)
	currency, configured := s.Registry.Asset(p.Chain, sweep.Contract)
	// An asset that is not configured any more is not swept.
	h.Due = configured && !h.Amount.IsZero() && !h.Amount.Less(currency.Minimum)
	return tx.Holdings().Put(ctx, p.Chain, keyed(h, request.From))
}

// sweptInBlock returns what a sweep without bytes moved in its block, as its external spend has it; what was asked for
// where it failed or that is not known.
func sweptInBlock(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, asked chain.Payment,
) (swept chain.Payment, err error) {
	x, err := tx.ExternalSpends().ByTx(ctx, p.Chain, p.TxID)
	if err != nil || p.Failed {
		return asked, store.IgnoreNotFound(err)
	}
	var payments []chain.Payment
	if err := json.Unmarshal(x.Payments, &payments); err != nil {
		return asked, fmt.Errorf("read what external spend %s paid: %w", x.TxID, err)
	}
	if len(payments) != 1 {
		return asked, nil
	}
	return payments[0], nil
}

// keyed returns a holding with the key of its address, which a database that was restored may not have had: what a hot
// wallet of an earlier epoch holds is recorded by no deposit.
func keyed(h store.Holding, from chain.Source) store.Holding {
	if from.Key.Family != "" {
		h.Branch, h.Index = from.Key.Branch, from.Key.Index
	}
	return h
}

// sweptBy reads from a sweep's bytes which asset it took from its address, how much without the fee, and where to.
func (s *Sender) sweptBy(unsigned chain.UnsignedTx) (swept chain.Payment, err error) {
	contents, err := s.Chain.Inspect(unsigned.Bytes)
	if err != nil {
		return swept, fmt.Errorf("read the payment of a sweep: %w", err)
	}
	if len(contents.Payments) != 1 {
		return swept, fmt.Errorf("a sweep has %d payments, want 1", len(contents.Payments))
	}
	return contents.Payments[0], nil
}

// gone returns what a final sweep took from its address, and books the part that did not arrive.
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
	gone, lost, err := chain.DebitedAndLost(sweep, p.Delivered)
	if err != nil || lost.IsZero() && gone == sweep.Amount {
		return gone, err
	}
	return gone, s.settleShortSweep(ctx, tx, p, sweep, gone, lost)
}

// settleShortSweep books the part of a sweep that a token kept as the operator's loss, and halts the currency, because
// payouts of it would lose as much. What the token did not move at all is still at the address.
func (s *Sender) settleShortSweep(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, sweep chain.Payment,
	gone, lost bursar.Amount) error {
	return s.bookShort(ctx, tx, p, sweep, lost, "from "+p.Base+" to the hot wallet", gone)
}

// bookShort books what a token kept of a payment between addresses of ours, whose way the alarm names.
func (s *Sender) bookShort(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, moved chain.Payment,
	lost bursar.Amount, way string, gone bursar.Amount) error {
	currency, configured := s.Registry.Asset(p.Chain, moved.Contract)
	if !configured {
		return fmt.Errorf("chain %s has no currency configured for contract %q, whose sweep was short",
			p.Chain, moved.Contract)
	}
	if !lost.IsZero() {
		reversals, err := tx.Ledger().ReversalNumber(ctx, ledger.KindSweepShortUndone, p.ID.String())
		if err != nil {
			return err
		}
		entry := ledger.SweepShort(p.ID.String(), reversals, currency.Code, lost, tx.Now())
		if err := tx.Ledger().Post(ctx, entry); err != nil {
			return err
		}
	}
	whole := func(a bursar.Amount) string { return s.Registry.Text(currency.Code, a) }
	return s.raiseShort(ctx, tx, p, currency.Code, fmt.Sprintf(
		"transaction %s succeeded and delivered %s of %s %s; %s were lost",
		p.TxID, whole(gone.SubOrZero(lost)), whole(moved.Amount), way, whole(lost)))
}

// unsettleSweep adds what a settled sweep collected, according to its request, back to the books of the address that
// was swept, and undoes the booking of what its token kept.
func (h *Inclusions) unsettleSweep(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	request, err := DecodeRequest(p)
	if err != nil {
		return err
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
	unsigned, err := readUnsigned(p)
	adopted := len(unsigned.Bytes) == 0
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
	reversals, err := tx.Ledger().ReversalNumber(ctx, ledger.KindSweepShortUndone, p.ID.String())
	if err != nil {
		return err
	}
	booked, err := tx.Ledger().IsPosted(ctx, ledger.SweepShort(p.ID.String(), reversals, currency.Code, lost, tx.Now()))
	if err != nil || !booked {
		return err
	}
	return tx.Ledger().Post(ctx, ledger.SweepShortUndone(p.ID.String(), reversals+1, currency.Code, lost, tx.Now()))
}
