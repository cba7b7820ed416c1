package deposit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// pop takes the cursor's block back, in one transaction: its deposits are orphaned or reversed, its UTXOs and our own
// transactions are in no block any more, and the cursor stands on its parent.
func (f *Follower) pop(ctx context.Context, lease store.Lease, last chain.BlockRef) error {
	id := f.Chain.Capabilities().ID
	err := f.DB.Do(ctx, func(tx *store.Tx) error {
		state, err := tx.Leases().Fence(ctx, lease)
		if err != nil {
			return err
		}
		if state.Hash != last.Hash {
			return errMoved
		}
		block, err := tx.Blocks().At(ctx, id, last.Height)
		if errors.Is(err, bursar.ErrNotFound) {
			return f.tooDeep(ctx, tx, last)
		}
		if err != nil {
			return err
		}
		if err := f.undoBlock(ctx, tx, state, last.Height); err != nil {
			return err
		}
		if err := f.uncountRecovery(ctx, tx, last.Height); err != nil {
			return err
		}
		return tx.Blocks().Pop(ctx, id, block)
	})
	if err != nil {
		return fmt.Errorf("take back block %d: %w", last.Height, err)
	}
	f.Log.Warn("block left the chain", "chain", id, "height", last.Height, "hash", last.Hash)
	return nil
}

// tooDeep leaves everything as it is: a reorganisation past all that is remembered is an operator's business.
func (f *Follower) tooDeep(ctx context.Context, tx *store.Tx, last chain.BlockRef) error {
	return fmt.Errorf("block %d (%s) is not on the node's chain and its parent is not recorded: the node follows another chain, or the reorganisation is deeper than %d blocks",
		last.Height, last.Hash, f.Chain.Capabilities().ReorgDepth)
}

func (f *Follower) undoBlock(ctx context.Context, tx *store.Tx, state store.ChainState, height uint64) error {
	id := f.Chain.Capabilities().ID
	if err := f.unsettleBlock(ctx, tx, height); err != nil {
		return err
	}
	deposits, err := tx.Deposits().InBlock(ctx, id, height)
	if err != nil {
		return err
	}
	for _, d := range deposits {
		if err := f.reverse(ctx, tx, d); err != nil {
			return fmt.Errorf("deposit %s: %w", d.ID, err)
		}
	}
	if err := tx.UTXOs().DropAt(ctx, id, height); err != nil {
		return err
	}
	if err := tx.UTXOs().DropUses(ctx, id, height); err != nil {
		return err
	}
	if err := tx.ExternalSpends().Drop(ctx, id, height); err != nil {
		return err
	}
	if err := f.logExcluded(ctx, tx, height); err != nil {
		return err
	}
	if err := f.warnOfUnknownBytes(ctx, tx, height); err != nil {
		return err
	}
	excluded, err := tx.Outgoing().Exclude(ctx, id, height)
	if err != nil || height > state.Final || excluded == 0 {
		return err
	}
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: id, Kind: "deep_reorganisation", Ref: fmt.Sprintf("%s:%d:%s", id, height, state.Hash),
		Message: fmt.Sprintf("block %d was final and left the chain with %d transactions of ours; they are sent again", height, excluded)})
}

// takeBackDeposit orphans what was not yet booked and reverses what was. There is nothing to decide about value that is
// not there.
func (f *Follower) reverse(ctx context.Context, tx *store.Tx, d bursar.Deposit) error {
	if d.Purpose == bursar.ForUnattributed {
		if err := tx.Alarms().Resolve(ctx, alarmUnattributed, d.ID.String()); err != nil {
			return err
		}
	}
	if d.Status == bursar.DepositPending {
		f.logDeposit(tx, slog.LevelWarn, "deposit orphaned", d)
		return tx.Deposits().SetStatus(ctx, d, bursar.DepositOrphaned)
	}
	if err := f.unhold(ctx, tx, d); err != nil {
		return err
	}
	if d.Status == bursar.DepositBelowMinimum || !d.IsCustomers() {
		return f.reverseUncredited(ctx, tx, d)
	}
	return f.reverseCredit(ctx, tx, d)
}

func (f *Follower) reverseUncredited(ctx context.Context, tx *store.Tx, d bursar.Deposit) error {
	if err := tx.Ledger().Post(ctx, ledger.ArrivalReversed(d, ledger.Owner(d), tx.Now())); err != nil {
		return err
	}
	if d.Purpose == bursar.ForReturned {
		if err := f.warnOfLoss(ctx, tx, d); err != nil {
			return err
		}
	}
	next := bursar.DepositReversed
	if d.Status == bursar.DepositBelowMinimum {
		next = bursar.DepositOrphaned // it was never credited
	}
	d.Reversals++
	f.logDeposit(tx, slog.LevelWarn, "deposit taken off the books", d)
	return tx.Deposits().SetStatus(ctx, d, next)
}

// reverseCredit takes a customer's credit back, even below zero, freezes the account and tells everybody.
func (f *Follower) reverseCredit(ctx context.Context, tx *store.Tx, d bursar.Deposit) error {
	if err := tx.Halts().Put(ctx, store.Halt{Scope: store.HaltAccount(d.AccountID), Kind: store.HaltByReversal, Reason: bursar.FrozenByReversal}); err != nil {
		return err
	}
	if err := tx.Ledger().Post(ctx, ledger.DepositReversed(d, tx.Now())); err != nil {
		return err
	}
	f.logDeposit(tx, slog.LevelError, "deposit reversed", d)
	err := tx.Alarms().Raise(ctx, store.Alarm{Chain: d.Chain, Kind: "deposit_reversed", Ref: fmt.Sprintf("%s/%d", d.ID, d.Reversals),
		Message: fmt.Sprintf("deposit %s of %s units of %s was credited and left the chain; account %s is frozen", d.ID, d.Amount, d.Currency, d.AccountID)})
	if err != nil {
		return err
	}
	reversed := d
	reversed.Reversals++
	if err := tx.Deposits().SetStatus(ctx, reversed, bursar.DepositReversed); err != nil {
		return err
	}
	reversed.Status = bursar.DepositReversed
	heir, paid, err := f.unsettleCharge(ctx, tx, reversed)
	if err != nil {
		return err
	}
	if err := f.notify(ctx, tx, bursar.EventDepositReversed, reversed, d.Height); err != nil || !paid {
		return err
	}
	return f.notify(ctx, tx, bursar.EventPaid, heir, d.Height-1)
}
