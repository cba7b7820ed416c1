package outgoing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// Inclusions records what blocks show about transactions of ours: which of them are included and which UTXOs they and
// others create. When a block is reorged out, it unsettles what was settled in it.
type Inclusions struct {
	Capabilities chain.Capabilities
	Registry     *bursar.Registry
	IDs          *bursar.IDs
	Log          *slog.Logger
	Hot          string                  // the hot wallet's address on the chain; empty if wallets share it
	Key          chain.KeyRef            // its key
	Old          map[string]chain.KeyRef // the hot wallets of earlier epochs
}

// Apply records the UTXOs that a block's transfers create, and the transactions of ours that it includes.
func (h *Inclusions) Apply(ctx context.Context, tx *store.Tx, b *follow.Block) error {
	if err := tx.UTXOs().Put(ctx, h.Capabilities.ID, h.utxos(b)...); err != nil {
		return err
	}
	if err := tx.UTXOs().PutPrevious(ctx, h.Capabilities.ID, previous(b)...); err != nil {
		return err
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

// Undo unsettles what was settled in a block that is reorged out; its UTXOs and our transactions are in no block any
// more.
func (h *Inclusions) Undo(ctx context.Context, tx *store.Tx, b follow.RolledBackBlock) error {
	if err := h.unsettleBlock(ctx, tx, b.Height); err != nil {
		return err
	}
	if err := tx.UTXOs().DropAt(ctx, h.Capabilities.ID, b.Height); err != nil {
		return err
	}
	return h.exclude(ctx, tx, b)
}

// utxos returns the UTXOs of ours that a block creates. The value of each is also a deposit, unless a transaction of
// ours created it.
func (h *Inclusions) utxos(b *follow.Block) (list []store.UTXO) {
	for _, t := range b.Transfers {
		w, known := b.Wallets[t.Address]
		key, old := h.Old[t.Address.Base]
		if t.UTXO == "" || t.Amount.IsZero() || !known && !old && t.Address.Base != h.Hot {
			continue
		}
		if !old {
			key = h.Key
		}
		c := store.UTXO{
			Outpoint:   t.UTXO,
			Base:       t.Address.Base,
			Branch:     chain.OwnBranch,
			Index:      key.Index,
			Amount:     t.Amount,
			Height:     int64(b.Ref.Height),
			CountsFrom: t.CountsFrom,
			MadeBy:     b.Ours[t.TxID],
		}
		if w.Family != "" {
			c.Branch, c.Index = chain.DepositBranch, w.Index
		}
		list = append(list, c)
	}
	return list
}

// previous returns the transactions that created a block's UTXOs, as the signer wants them once the UTXOs are spent.
func previous(b *follow.Block) []store.PreviousTx {
	list := make([]store.PreviousTx, len(b.Previous))
	for i, p := range b.Previous {
		list[i] = store.PreviousTx{TxID: p.TxID, Raw: p.Raw}
	}
	return list
}

// recordInclusion records that a transaction of ours is in a block.
func (h *Inclusions) recordInclusion(
	ctx context.Context, tx *store.Tx, b *follow.Block, in chain.Inclusion, outgoingID bursar.ID,
) error {
	p, err := tx.Outgoing().Get(ctx, outgoingID)
	if err != nil {
		return err
	}
	if p.Status == bursar.OutgoingAbandoned {
		return h.cameBack(ctx, tx, b, in, p)
	}
	moved, err := h.moveExternal(ctx, tx, b, in, p) // its fee is known there as the block has it
	if err != nil {
		return err
	}
	if moved && h.Capabilities.Model == chain.AccountModel { // blocks show its nonce as one of ours from now on
		if err := h.recordUsed(ctx, tx, b, in.TxID, p); err != nil {
			return err
		}
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
	if err := recordDelivered(ctx, tx, outgoingID, in); err != nil {
		return err
	}
	h.logIncluded(tx, outgoingID, in, b.Ref)
	if err := resolveUnknownBytes(ctx, tx, p); err != nil {
		return err
	}
	return tx.UTXOs().ForgetChange(ctx, outgoingID) // the change of the versions that were not included
}

// isTaken reports whether an outgoing transaction is an external spend that an operator has settled, as
// recovery.IsTaken says.
func isTaken(ctx context.Context, tx *store.Tx, id bursar.ID) (bool, error) {
	x, err := tx.ExternalSpends().Behind(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return recovery.IsTaken(x), err
}

// cameBack halts payments on a chain that includes a transaction which its final blocks had proven could never be
// included: its payments have been requested again, and may be paid by another transaction as well.
func (h *Inclusions) cameBack(
	ctx context.Context, tx *store.Tx, b *follow.Block, in chain.Inclusion, p bursar.OutgoingTx,
) error {
	txID := in.TxID
	reason := fmt.Sprintf("transaction %s of outgoing transaction %s is in block %d, although final blocks had proven "+
		"that it could never be included; its payments were requested again", txID, p.ID, b.Ref.Height)
	h.Log.Error("expired transaction was included after all", "chain", p.Chain, "outgoing", p.ID, "hash", txID)
	if err := h.recordUsed(ctx, tx, b, txID, p); err != nil {
		return err
	}
	if _, err := h.moveExternal(ctx, tx, b, in, p); err != nil { // one that was adopted has paid
		return err
	}
	if err := tx.Halts().Put(ctx, store.Halt{
		Scope:  store.HaltChain(p.Chain),
		Kind:   store.HaltByExpiredIncluded,
		Ref:    txID,
		Reason: reason,
	}); err != nil {
		return err
	}
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: p.Chain, Kind: "abandoned_included", Ref: txID, Message: reason})
}

// recordUsed records what a transaction of ours uses in a block, where another one may have it reserved: that of one
// which had ended, so that another one of ours ends that would use the same, and that of an adopted external spend.
func (h *Inclusions) recordUsed(
	ctx context.Context, tx *store.Tx, b *follow.Block, txID string, p bursar.OutgoingTx,
) error {
	versions, err := tx.Outgoing().Versions(ctx, p.ID)
	if err != nil {
		return err
	}
	if len(versions) > 0 {
		p.Unsigned = versionOf(versions, txID).Unsigned
	}
	unsigned, err := readUnsigned(p)
	if err != nil {
		return err
	}
	return tx.UTXOs().RecordUsed(ctx, p.Chain, b.Ref.Height, store.TxInputs{TxID: txID, Inputs: unsigned.Reservations})
}

// exclude records that transactions of ours are in no block any more. They are sent again.
func (h *Inclusions) exclude(ctx context.Context, tx *store.Tx, b follow.RolledBackBlock) error {
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
		Kind:  "deep_reorg",
		Ref:   fmt.Sprintf("%s:%d:%s", id, b.Height, b.State.Hash),
		Message: fmt.Sprintf("block %d was final and was reorged out with %d transactions of ours; they are sent again",
			b.Height, excluded),
	})
}

// moveExternal records the block of an external spend that was adopted, and what it did there, and reports whether it
// was one.
func (h *Inclusions) moveExternal(
	ctx context.Context, tx *store.Tx, b *follow.Block, in chain.Inclusion, p bursar.OutgoingTx,
) (bool, error) {
	x, err := tx.ExternalSpends().ByTx(ctx, p.Chain, in.TxID)
	if err != nil {
		return false, store.IgnoreNotFound(err)
	}
	own := chain.Source{Key: h.Key, Base: h.Hot}
	return true, h.assessor(own, x.Base).IncludedAgain(ctx, tx, x, p, b.Ref.Height, in)
}

// recordUnwatched records the block of a transaction of ours that is not watched any more or not yet: one that ended
// long ago, or that was just adopted.
func (h *Inclusions) recordUnwatched(
	ctx context.Context, tx *store.Tx, b *follow.Block, x chain.ExternalSpend, outgoingID bursar.ID,
) error {
	p, err := tx.Outgoing().Get(ctx, outgoingID)
	switch {
	case err != nil:
		return err
	case p.Status != bursar.OutgoingAbandoned && p.Height > 0:
		return nil
	}
	return h.recordInclusion(ctx, tx, b, chain.Inclusion{
		TxID:      x.TxID,
		Failed:    x.Failed,
		Fee:       x.Fee,
		Delivered: x.Payments,
	}, outgoingID)
}

// recordDelivered stores what, according to the block, a transaction of ours delivered: it is settled by that.
func recordDelivered(ctx context.Context, tx *store.Tx, outgoingID bursar.ID, in chain.Inclusion) error {
	text, err := chain.EncodeDelivered(in)
	if err != nil {
		return err
	}
	return tx.Outgoing().SetDelivered(ctx, outgoingID, text)
}

func (h *Inclusions) logIncluded(tx *store.Tx, outgoingID bursar.ID, in chain.Inclusion, at chain.BlockRef) {
	tx.After(func() {
		h.Log.Info("outgoing transaction included", "outgoing", outgoingID, "chain", h.Capabilities.ID, "hash", in.TxID,
			"height", at.Height, "failed", in.Failed, "fee", h.Registry.AssetText(h.Capabilities.ID, "", in.Fee))
	})
}

// logExcluded logs the outgoing transactions of a block that is reorged out.
func (h *Inclusions) logExcluded(ctx context.Context, tx *store.Tx, height uint64) error {
	outgoingIDs, err := tx.Outgoing().InBlock(ctx, h.Capabilities.ID, height)
	tx.After(func() {
		for _, id := range outgoingIDs {
			h.Log.Warn("outgoing transaction reorged out", "outgoing", id, "chain", h.Capabilities.ID, "height", height)
		}
	})
	return err
}
