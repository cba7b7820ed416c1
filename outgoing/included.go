package outgoing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/store"
)

// Inclusions takes in what blocks say of transactions of ours: which are in a block, which UTXOs they and others make,
// and, when a block is reorged out, that what was settled in it is not settled any more.
type Inclusions struct {
	Capabilities chain.Capabilities
	Registry     *bursar.Registry
	IDs          *bursar.IDs
	Log          *slog.Logger
	Hot          string // our own address on the chain; empty where wallets share it
}

// Apply notes the UTXOs that a block's transfers make, and that transactions of ours are in it.
func (h *Inclusions) Apply(ctx context.Context, tx *store.Tx, b *follow.Block) error {
	for _, t := range b.Transfers {
		if err := h.recordUTXO(ctx, tx, b, t); err != nil {
			return err
		}
	}
	for _, in := range b.Included {
		id, mine := b.Ours[in.TxID]
		if !mine && !b.Unknown[in.TxID] {
			return &follow.ForgottenError{TxID: in.TxID}
		}
		if !mine {
			continue
		}
		if err := h.recordInclusion(ctx, tx, b, in, id); err != nil {
			return err
		}
	}
	return nil
}

// Undo takes back what was settled in a block that is reorged out; its UTXOs and our transactions are in no block any
// more.
func (h *Inclusions) Undo(ctx context.Context, tx *store.Tx, b follow.Undone) error {
	if err := h.unsettleBlock(ctx, tx, b.Height); err != nil {
		return err
	}
	if err := tx.UTXOs().DropAt(ctx, h.Capabilities.ID, b.Height); err != nil {
		return err
	}
	return h.exclude(ctx, tx, b)
}

// recordUTXO notes a UTXO of ours. Its value is a deposit besides, unless a transaction of ours made it.
func (h *Inclusions) recordUTXO(ctx context.Context, tx *store.Tx, b *follow.Block, t chain.Transfer) error {
	w, known := b.Wallets[t.Address]
	if t.UTXO == "" || t.Amount.IsZero() || !known && t.Address.Base != h.Hot {
		return nil
	}
	c := store.Coin{
		Claim:      t.UTXO,
		Base:       t.Address.Base,
		Branch:     chain.OwnBranch,
		Amount:     t.Amount,
		Height:     int64(b.Ref.Height),
		CountsFrom: t.CountsFrom,
		MadeBy:     b.Ours[t.TxID],
	}
	if w.Family != "" {
		c.Branch, c.Index = chain.DepositBranch, w.Index
	}
	return tx.UTXOs().Put(ctx, h.Capabilities.ID, c)
}

// recordInclusion notes that a transaction of ours is in a block.
func (h *Inclusions) recordInclusion(
	ctx context.Context, tx *store.Tx, b *follow.Block, in chain.Inclusion, outgoingID bursar.ID,
) error {
	p, err := tx.Outgoing().Get(ctx, outgoingID)
	if err != nil {
		return err
	}
	if p.Status == bursar.OutgoingAbandoned {
		return h.cameBack(ctx, tx, b, in.TxID, p)
	}
	if h.Capabilities.Model == chain.UTXOModel {
		if taken, err := isTaken(ctx, tx, outgoingID); err != nil {
			return err
		} else if taken {
			in.Fee = bursar.Amount{}
		}
	}
	if err := tx.Outgoing().Include(ctx, outgoingID, in.TxID, b.Ref.Height, in.Failed, in.Fee); err != nil {
		return err
	}
	if err := h.moveExternal(ctx, tx, b, in.TxID, p); err != nil {
		return err
	}
	if err := recordDelivered(ctx, tx, outgoingID, in); err != nil {
		return err
	}
	h.logIncluded(tx, outgoingID, in, b.Ref)
	if err := resolveUnknownBytes(ctx, tx, p); err != nil {
		return err
	}
	return tx.UTXOs().ForgetChange(ctx, outgoingID) // of the versions that this one has beaten
}

// isTaken reports whether an outgoing transaction is an external spend that an operator has settled: what our UTXOs in
// it were worth is booked as gone, its fee included.
func isTaken(ctx context.Context, tx *store.Tx, id bursar.ID) (bool, error) {
	x, err := tx.ExternalSpends().Behind(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return x.Status == store.ExternalSettled, err
}

// cameBack stops spending on a chain that includes what its final blocks had proven dead: what it pays has been ordered
// again, and may be paid by another transaction as well.
func (h *Inclusions) cameBack(
	ctx context.Context, tx *store.Tx, b *follow.Block, txID string, p bursar.OutgoingTx,
) error {
	reason := fmt.Sprintf("transaction %s of spend %s is in block %d, and final blocks had proven that it never could "+
		"be; what it pays was ordered anew", txID, p.ID, b.Ref.Height)
	h.Log.Error("a dead transaction came back", "chain", p.Chain, "spend", p.ID, "hash", txID)
	if err := tx.Halts().Put(ctx, store.Halt{
		Scope:  store.HaltChain(p.Chain),
		Kind:   store.HaltByDeadReturn,
		Ref:    txID,
		Reason: reason,
	}); err != nil {
		return err
	}
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: p.Chain, Kind: "abandoned_included", Ref: txID, Message: reason})
}

// exclude notes that transactions of ours are in no block any more. They are sent again.
func (h *Inclusions) exclude(ctx context.Context, tx *store.Tx, b follow.Undone) error {
	id := h.Capabilities.ID
	if err := h.logExcluded(ctx, tx, b.Height); err != nil {
		return err
	}
	if err := h.warnOfUnknownBytes(ctx, tx, b.Height); err != nil {
		return err
	}
	excluded, err := tx.Outgoing().Exclude(ctx, id, b.Height)
	if err != nil || b.Height > b.State.Final || excluded == 0 {
		return err
	}
	return tx.Alarms().Raise(ctx, store.Alarm{
		Chain: id,
		Kind:  "deep_reorganisation",
		Ref:   fmt.Sprintf("%s:%d:%s", id, b.Height, b.State.Hash),
		Message: fmt.Sprintf("block %d was final and left the chain with %d transactions of ours; they are sent again",
			b.Height, excluded),
	})
}

// moveExternal notes the block of an external spend that became ours, and the nonce that it uses there: blocks show it
// as one of ours from then on.
func (h *Inclusions) moveExternal(
	ctx context.Context, tx *store.Tx, b *follow.Block, txID string, p bursar.OutgoingTx,
) error {
	external, err := tx.ExternalSpends().Move(ctx, p.Chain, txID, b.Ref.Height)
	if err != nil || !external || h.Capabilities.Model != chain.AccountModel {
		return err
	}
	unsigned, _, err := unsignedOf(p)
	if err != nil {
		return err
	}
	return tx.UTXOs().RecordUsed(ctx, p.Chain, b.Ref.Height, txID, unsigned.Reservations...)
}

// recordUnwatched notes the block of a transaction of ours that nobody watches for: one that ended so long ago, or that
// was adopted a moment ago.
func (h *Inclusions) recordUnwatched(
	ctx context.Context, tx *store.Tx, b *follow.Block, x chain.ExternalSpend, outgoingID bursar.ID,
) error {
	p, err := tx.Outgoing().Get(ctx, outgoingID)
	switch {
	case err != nil:
		return err
	case p.Status == bursar.OutgoingAbandoned:
		return h.cameBack(ctx, tx, b, x.TxID, p)
	case p.Height > 0:
		return nil
	}
	return h.recordInclusion(ctx, tx, b, chain.Inclusion{
		TxID:      x.TxID,
		Failed:    x.Failed,
		Fee:       x.Fee,
		Delivered: x.Payments,
	}, outgoingID)
}

// recordDelivered keeps what a block proves that a transaction of ours delivered: it is settled by that.
func recordDelivered(ctx context.Context, tx *store.Tx, outgoingID bursar.ID, in chain.Inclusion) error {
	text, err := chain.EncodeDelivered(in)
	if err != nil {
		return err
	}
	return tx.Outgoing().SetDelivered(ctx, outgoingID, text)
}

func (h *Inclusions) logIncluded(tx *store.Tx, outgoingID bursar.ID, in chain.Inclusion, at chain.BlockRef) {
	tx.After(func() {
		h.Log.Info("spend included", "spend", outgoingID, "chain", h.Capabilities.ID, "hash", in.TxID, "height", at.Height,
			"failed", in.Failed, "fee", in.Fee)
	})
}

// logExcluded names the outgoing transactions that are in a block now and will not be.
func (h *Inclusions) logExcluded(ctx context.Context, tx *store.Tx, height uint64) error {
	outgoingIDs, err := tx.Outgoing().InBlock(ctx, h.Capabilities.ID, height)
	tx.After(func() {
		for _, id := range outgoingIDs {
			h.Log.Warn("spend left its block", "spend", id, "chain", h.Capabilities.ID, "height", height)
		}
	})
	return err
}
