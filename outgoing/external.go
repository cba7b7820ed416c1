package outgoing

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// The alarms about external spends. Ref is the transaction hash.
const (
	alarmExternal = "external_spend" // somebody else may have a key of ours
)

// Externals handles the external spends of blocks: transactions from addresses of ours that the database does not know.
type Externals struct {
	*Inclusions
	Own chain.Source // the hot wallet's address and key; zero: Hot, with the family's hot key
	// Cold has the addresses of cold wallets, whose spends are not ours to evaluate: ColdSpends handles them.
	Cold       map[string]bool
	SharedKeys []bursar.ChainID // the other chains whose addresses belong to the same keys

	// MayForget reports whether the database may be older than the chain.
	MayForget func() bool
}

// Undo records that a block's external spends are in no block any more.
func (e *Externals) Undo(ctx context.Context, tx *store.Tx, b follow.RolledBackBlock) error {
	return tx.ExternalSpends().Drop(ctx, e.Capabilities.ID, b.Height)
}

// Apply evaluates the external spends of a block. One that the database has forgotten becomes an outgoing transaction
// again and joins Ours; any other one halts payments on the chain, because somebody else signs with our keys.
func (e *Externals) Apply(ctx context.Context, tx *store.Tx, b *follow.Block) error {
	for _, x := range b.ExternalSpends {
		if e.Cold[x.Base] && b.Cold[x.TxID] {
			continue
		}
		if id, mine := b.Ours[x.TxID]; mine {
			if err := e.Inclusions.recordUnwatched(ctx, tx, b, x, id); err != nil {
				return err
			}
			continue
		}
		settled, err := e.isSettled(ctx, tx, x)
		if err != nil {
			return err
		}
		if settled {
			continue
		}
		found, err := e.evaluateExternal(ctx, tx, b, x)
		if err != nil {
			return err
		}
		if found.Verdict == recovery.ExternalTx {
			if err := e.haltForExternalSpend(ctx, tx, b, x); err != nil {
				return err
			}
			continue
		}
		b.Ours[x.TxID] = found.OutgoingID
	}
	return nil
}

// isSettled reports whether an operator has resolved an external spend before: it is seen again after a reorg.
func (e *Externals) isSettled(ctx context.Context, tx *store.Tx, x chain.ExternalSpend) (bool, error) {
	known, err := tx.ExternalSpends().ByTx(ctx, e.Capabilities.ID, x.TxID)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return known.Status == store.ExternalSettled, err
}

// evaluateExternal asks the books what an external spend is. One that is ours begins a recovery: there may be more. One
// that is ours by its nonce alone does not: it was known to be lost, and a thief who has the key can use that nonce,
// and would have what is spent after it evaluated as what the database has forgotten.
func (e *Externals) evaluateExternal(
	ctx context.Context, tx *store.Tx, b *follow.Block, x chain.ExternalSpend,
) (found recovery.Finding, err error) {
	id := e.Capabilities.ID
	recovering, err := tx.Recoveries().IsOpen(ctx, id)
	if err != nil {
		return found, err
	}
	found, err = e.assessor(x).Assess(ctx, tx, b.Block, x, recovering || e.MayForget())
	if err != nil || found.Verdict == recovery.ExternalTx {
		return found, err
	}
	e.logFound(tx, b, x, found)
	if !recovering && !found.ByNonce {
		cause := fmt.Sprintf("transaction %s in block %d of %s is from our address %s, and this database does not know "+
			"it: the database is older than the chain", x.TxID, b.Ref.Height, id, x.Base)
		if err := e.begin(ctx, tx, cause); err != nil {
			return found, err
		}
	}
	if found.Verdict != recovery.Unclear {
		return found, nil
	}
	return found, tx.Alarms().Raise(ctx, store.Alarm{
		Chain: id,
		Kind:  recovery.AlarmUnclear,
		Ref:   x.TxID,
		Message: fmt.Sprintf(
			"transaction %s in block %d is from our address %s and this database does not know it: %s; resolve it with "+
				"`bursar recovery status` and `bursar recovery adopt`",
			x.TxID, b.Ref.Height, x.Base, found.Reason),
	})
}

func (e *Externals) assessor(x chain.ExternalSpend) recovery.Assessor {
	own := e.Own
	if own.Base == "" {
		own = chain.Source{Key: e.Key, Base: e.Hot}
	}
	return e.Inclusions.assessor(own, x.Base)
}

// assessor returns what assesses an external spend from an address of ours. own is the hot wallet; without a key it has
// the family's hot key.
func (h *Inclusions) assessor(own chain.Source, base string) recovery.Assessor {
	if own.Key == (chain.KeyRef{}) {
		own.Key = chain.Hot(h.Capabilities.Family)
	}
	if own.Base == "" && h.Capabilities.SharedAddress {
		own.Base = base // on a chain with a shared address there is no other one
	}
	assessor := NewAssessor(h.Capabilities, h.Registry, h.IDs, own, h.Log)
	for _, base := range slices.Sorted(maps.Keys(h.Old)) {
		assessor.Old = append(assessor.Old, chain.Source{Key: h.Old[base], Base: base})
	}
	return assessor
}

func (e *Externals) logFound(tx *store.Tx, b *follow.Block, x chain.ExternalSpend, found recovery.Finding) {
	tx.After(func() {
		e.Log.Warn("external spend recorded", "chain", e.Capabilities.ID, "hash", x.TxID, "height", b.Ref.Height, "address",
			x.Base,
			"verdict", found.Verdict, "outgoing", found.OutgoingID, "reason", found.Reason)
	})
}

// haltForExternalSpend halts payments on the chain, and on every chain that shares its keys.
func (e *Externals) haltForExternalSpend(
	ctx context.Context, tx *store.Tx, b *follow.Block, x chain.ExternalSpend,
) error {
	reason := fmt.Sprintf("transaction %s in block %d spends from our address %s and was not made by this service",
		x.TxID, b.Ref.Height, x.Base)
	if x.Delegates {
		reason += "; by an authorization (EIP-7702) in it, code controls an address of ours from now on, also if it failed"
	}
	e.Log.Error("unknown spend from an address of ours: the key may be compromised", "chain", e.Capabilities.ID,
		"hash", x.TxID, "address", x.Base)
	reason, err := tx.Halts().PutSharing(ctx, e.Capabilities.ID,
		store.Halt{Kind: store.HaltByExternalSpend, Ref: x.TxID, Reason: reason}, e.SharedKeys)
	if err != nil {
		return err
	}
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: e.Capabilities.ID, Kind: alarmExternal, Ref: x.TxID, Message: reason})
}

// begin starts a recovery: payments on the chain stop until no forgotten transaction can be included any more.
func (e *Externals) begin(ctx context.Context, tx *store.Tx, cause string) error {
	id := e.Capabilities.ID
	tx.After(func() {
		e.Log.Error("the database is older than the chain: recovery begins", "chain", id, "cause", cause)
	})
	return recovery.Begin(ctx, tx, id, cause)
}
