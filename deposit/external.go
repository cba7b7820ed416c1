package deposit

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// The alarms about external spends. Ref is the transaction.
const (
	alarmExternal = "foreign_spend" // a key of ours may be in other hands
)

// recordExternal judges the external spends of a block: what the database has forgotten becomes an outgoing transaction of it
// again, and joins ours; anything else stops spending on the chain, because somebody else signs with our keys.
func (f *Follower) recordExternal(ctx context.Context, tx *store.Tx, b chain.Block, ours map[string]bursar.ID) error {
	for _, x := range b.ExternalSpends {
		if spend, mine := ours[x.TxID]; mine {
			if err := f.recordUnwatched(ctx, tx, b, x, spend); err != nil {
				return err
			}
			continue
		}
		settled, err := f.isSettled(ctx, tx, x)
		if err != nil {
			return err
		}
		if settled {
			continue
		}
		found, err := f.judgeExternal(ctx, tx, b, x)
		if err != nil {
			return err
		}
		if found.Verdict == recovery.ExternalTx {
			if err := f.haltForExternalSpend(ctx, tx, b, x); err != nil {
				return err
			}
			continue
		}
		ours[x.TxID] = found.Spend
	}
	return nil
}

// isSettled reports whether an operator has said what an external spend was; it comes back after a reorg.
func (f *Follower) isSettled(ctx context.Context, tx *store.Tx, x chain.ExternalSpend) (bool, error) {
	known, err := tx.ExternalSpends().ByTx(ctx, f.Chain.Capabilities().ID, x.TxID)
	if errors.Is(err, bursar.ErrNotFound) {
		return false, nil
	}
	return known.Status == store.ExternalSettled, err
}

// judgeExternal has the books say what an external spend is. One that is ours begins a recovery: there may be more.
func (f *Follower) judgeExternal(ctx context.Context, tx *store.Tx, b chain.Block, x chain.ExternalSpend) (found recovery.Finding, err error) {
	id := f.Chain.Capabilities().ID
	recovering, err := tx.Recoveries().IsOpen(ctx, id)
	if err != nil {
		return found, err
	}
	found, err = f.book(x).Judge(ctx, tx, b, x, recovering || f.mayForget())
	if err != nil || found.Verdict == recovery.ExternalTx {
		return found, err
	}
	f.logFound(tx, b, x, found)
	if !recovering {
		cause := fmt.Sprintf("transaction %s in block %d of %s is from our address %s, and this database does not know it: it is older than the chain", x.TxID, b.Ref.Height, id, x.Base)
		if err := f.beginRecovery(ctx, tx, cause); err != nil {
			return found, err
		}
	}
	if found.Verdict != recovery.Unclear {
		return found, nil
	}
	return found, tx.Alarms().Raise(ctx, store.Alarm{Chain: id, Kind: recovery.AlarmUnclear, Ref: x.TxID, Message: fmt.Sprintf(
		"transaction %s in block %d is from our address %s and this database does not know it: %s; say what it was with `bursar recovery status` and `bursar recovery adopt`",
		x.TxID, b.Ref.Height, x.Base, found.Reason)})
}

// mayForget reports whether the database may be older than the chain: nobody outside says that it is not, and the follower has
// not caught up yet.
func (f *Follower) mayForget() bool {
	return f.goal.token != 0 && f.ready != f.goal.token && (f.Current == nil || !f.Current())
}

func (f *Follower) book(x chain.ExternalSpend) recovery.Book {
	traits, own := f.Chain.Capabilities(), f.Own
	if own.Base == "" {
		own = chain.Source{Key: chain.Hot(traits.Family), Base: f.Hot}
	}
	if own.Base == "" && traits.SharedAddress {
		own.Base = x.Base // the only address there is
	}
	return recovery.Book{Capabilities: traits, Registry: f.Registry, IDs: f.IDs, Hot: own}
}

func (f *Follower) logFound(tx *store.Tx, b chain.Block, x chain.ExternalSpend, found recovery.Finding) {
	tx.After(func() {
		f.Log.Warn("external spend recorded", "chain", f.Chain.Capabilities().ID, "hash", x.TxID, "height", b.Ref.Height, "address", x.Base,
			"verdict", found.Verdict, "spend", found.Spend, "reason", found.Reason)
	})
}

func (f *Follower) haltForExternalSpend(ctx context.Context, tx *store.Tx, b chain.Block, x chain.ExternalSpend) error {
	reason := fmt.Sprintf("transaction %s in block %d spends from our address %s and is not ours", x.TxID, b.Ref.Height, x.Base)
	f.Log.Error("a key of ours is in other hands", "chain", f.Chain.Capabilities().ID, "hash", x.TxID, "address", x.Base)
	return f.stop(ctx, tx, store.HaltByExternalSpend, store.Alarm{Kind: alarmExternal, Ref: x.TxID, Message: reason})
}

// moveExternal notes the block of an external spend that became ours, and the nonce that it uses there: blocks show it as one of ours
// from then on.
func (f *Follower) moveExternal(ctx context.Context, tx *store.Tx, b chain.Block, txID string, p bursar.OutgoingTx) error {
	external, err := tx.ExternalSpends().Move(ctx, p.Chain, txID, b.Ref.Height)
	if err != nil || !external || f.Chain.Capabilities().Model != chain.AccountModel {
		return err
	}
	draft, _, err := unsignedOf(p)
	if err != nil {
		return err
	}
	return tx.UTXOs().RecordUsed(ctx, p.Chain, b.Ref.Height, txID, draft.Reservations...)
}

// recordUnwatched notes the block of a transaction of ours that nobody watches for: one that ended so long ago, or that was
// adopted a moment ago.
func (f *Follower) recordUnwatched(ctx context.Context, tx *store.Tx, b chain.Block, x chain.ExternalSpend, spend bursar.ID) error {
	p, err := tx.Outgoing().Get(ctx, spend)
	switch {
	case err != nil:
		return err
	case p.Status == bursar.OutgoingAbandoned:
		return f.cameBack(ctx, tx, b, x.TxID, p)
	case p.Height > 0:
		return nil
	}
	return f.recordInclusion(ctx, tx, b, chain.Inclusion{TxID: x.TxID, Failed: x.Failed, Fee: x.Fee, Delivered: x.Payments}, spend)
}
