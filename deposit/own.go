package deposit

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// recordInclusion notes that a transaction of ours is in a block.
func (f *Follower) recordInclusion(ctx context.Context, tx *store.Tx, b chain.Block, in chain.Inclusion, spend bursar.ID) error {
	p, err := tx.Outgoing().Get(ctx, spend)
	if err != nil {
		return err
	}
	if p.Status == bursar.OutgoingAbandoned {
		return f.cameBack(ctx, tx, b, in.TxID, p)
	}
	if f.Chain.Capabilities().Model == chain.UTXOModel {
		if taken, err := isTaken(ctx, tx, spend); err != nil {
			return err
		} else if taken {
			in.Fee = bursar.Amount{}
		}
	}
	if err := tx.Outgoing().Include(ctx, spend, in.TxID, b.Ref.Height, in.Failed, in.Fee); err != nil {
		return err
	}
	if err := f.moveExternal(ctx, tx, b, in.TxID, p); err != nil {
		return err
	}
	if err := recordDelivered(ctx, tx, spend, in); err != nil {
		return err
	}
	f.logIncluded(tx, spend, in, b.Ref)
	if err := resolveUnknownBytes(ctx, tx, p); err != nil {
		return err
	}
	return tx.UTXOs().ForgetChange(ctx, spend) // of the versions that this one has beaten
}

// isTaken reports whether an outgoing transaction is an external spend that an operator has settled: what our UTXOs in it were worth
// is booked as gone, its fee included.
func isTaken(ctx context.Context, tx *store.Tx, id bursar.ID) (bool, error) {
	x, err := tx.ExternalSpends().Behind(ctx, id)
	if errors.Is(err, bursar.ErrNotFound) {
		return false, nil
	}
	return x.Status == store.ExternalSettled, err
}

// staysOurs reports whether a transfer is change, a sweep or a gas top-up: made by a transaction of ours, and no customer's
// deposit. What a withdrawal pays to a wallet is one: the wallet was made after the order was taken.
func (f *Follower) staysOurs(ctx context.Context, tx *store.Tx, by bursar.ID, wallet bool) (bool, error) {
	if by.IsZero() {
		return false, nil
	}
	if taken, err := isTaken(ctx, tx, by); err != nil || taken {
		return false, err // what returned to us has arrived, also after a reorg
	}
	if !wallet {
		return true, nil
	}
	p, err := tx.Outgoing().Get(ctx, by)
	return p.Kind != string(chain.KindWithdrawal), err
}

// cameBack stops spending on a chain that includes what its final blocks had proven dead: what it pays has been ordered
// again, and may be paid by another transaction as well.
func (f *Follower) cameBack(ctx context.Context, tx *store.Tx, b chain.Block, txID string, p bursar.OutgoingTx) error {
	reason := fmt.Sprintf("transaction %s of spend %s is in block %d, and final blocks had proven that it never could be; what it pays was ordered anew", txID, p.ID, b.Ref.Height)
	f.Log.Error("a dead transaction came back", "chain", p.Chain, "spend", p.ID, "hash", txID)
	return f.stop(ctx, tx, store.HaltByDeadReturn, store.Alarm{Kind: "abandoned_included", Ref: txID, Message: reason})
}

// stop halts spending on the chain for the reason of an alarm, and after an external spend on every chain that shares its keys.
func (f *Follower) stop(ctx context.Context, tx *store.Tx, kind store.HaltKind, a store.Alarm) error {
	a.Chain = f.Chain.Capabilities().ID
	if kind == store.HaltByExternalSpend {
		reason, err := tx.Halts().PutSharing(ctx, a.Chain, store.Halt{Kind: kind, Ref: a.Ref, Reason: a.Message}, f.Kin)
		if err != nil {
			return err
		}
		a.Message = reason
		return tx.Alarms().Raise(ctx, a)
	}
	if err := tx.Halts().Put(ctx, store.Halt{Scope: store.HaltChain(a.Chain), Kind: kind, Ref: a.Ref, Reason: a.Message}); err != nil {
		return err
	}
	return tx.Alarms().Raise(ctx, a)
}
