package deposit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// creditsAtOnce bounds how many deposits one transaction credits.
const creditsAtOnce = 200

// credit books every deposit that became final. It reports whether there may be more. Nothing is final beyond what is
// recorded, and nothing at all while the node's final block is another than the one recorded at its height.
func (f *Follower) credit(ctx context.Context, lease store.Lease, head chain.Head, last chain.BlockRef) (bool, error) {
	id := f.Chain.Traits().ID
	final := min(head.Final.Height, last.Height)
	latest := max(head.Latest.Height, last.Height)
	credited := 0
	if due, err := f.anythingNew(ctx, final, latest); err != nil || !due {
		return false, err
	}
	err := f.DB.Do(ctx, func(tx *store.Tx) error {
		state, err := tx.Lead(ctx, lease)
		if err != nil {
			return err
		}
		if state.Hash != last.Hash {
			return errMoved
		}
		if err := f.checkFinal(ctx, tx, head.Final); err != nil {
			return err
		}
		if err := tx.SetHead(ctx, id, latest, final); err != nil {
			return err
		}
		due, err := tx.Final(ctx, id, final, latest, creditsAtOnce)
		if err != nil {
			return err
		}
		credited = len(due)
		return f.creditAll(ctx, tx, due, latest)
	})
	if err != nil {
		return false, fmt.Errorf("credit up to block %d: %w", final, err)
	}
	if credited > 0 && f.Credited != nil {
		f.Credited()
	}
	return credited == creditsAtOnce, nil
}

// headAge is how long a head that does not change may go unnoted.
const headAge = 5 * time.Second

// anythingNew reports whether there is a head to note or a deposit to book, so that an idle chain writes nothing.
func (f *Follower) anythingNew(ctx context.Context, final, latest uint64) (due bool, err error) {
	id := f.Chain.Traits().ID
	err = f.DB.View(ctx, func(tx *store.Tx) error {
		state, err := tx.ChainState(ctx, id)
		if err != nil {
			return err
		}
		if due = state.Latest != latest || state.Final != final || tx.Now().Sub(state.CheckedAt) > headAge; due {
			return nil
		}
		list, err := tx.Final(ctx, id, final, latest, 1)
		due = len(list) > 0
		return err
	})
	return due, err
}

// checkFinal compares the node's final block with the one recorded at its height, where one is.
func (f *Follower) checkFinal(ctx context.Context, tx *store.Tx, final chain.BlockRef) error {
	if final.Hash == "" {
		return nil // nothing is final yet
	}
	b, err := tx.BlockAt(ctx, f.Chain.Traits().ID, final.Height)
	if errors.Is(err, bursar.ErrNotFound) {
		return nil // above the cursor, or older than what is remembered
	}
	if err == nil && b.Hash != final.Hash {
		err = fmt.Errorf("the node's final block %d is %s, recorded is %s", final.Height, final.Hash, b.Hash)
	}
	return err
}

func (f *Follower) creditAll(ctx context.Context, tx *store.Tx, due []bursar.Deposit, latest uint64) error {
	var entries []ledger.Entry
	for _, d := range due {
		entry, err := f.creditOne(ctx, tx, d, latest)
		if err != nil {
			return fmt.Errorf("credit deposit %s: %w", d.ID, err)
		}
		entries = append(entries, entry)
	}
	return tx.Post(ctx, entries...)
}

// creditOne marks a final deposit and records its event, and returns the entry that books it.
func (f *Follower) creditOne(ctx context.Context, tx *store.Tx, d bursar.Deposit, latest uint64) (ledger.Entry, error) {
	currency, err := f.Registry.Get(d.Currency)
	if err != nil {
		return ledger.Entry{}, err
	}
	if err := f.hold(ctx, tx, d, currency); err != nil {
		return ledger.Entry{}, err
	}
	if !d.IsCustomers() {
		f.tellDeposit(tx, slog.LevelInfo, "deposit booked", d)
		return ledger.Arrived(d, ledger.Owner(d), tx.Now()), tx.SetDepositStatus(ctx, d, bursar.DepositConfirmed)
	}
	if d.Amount.Less(currency.Minimum) {
		f.tellDeposit(tx, slog.LevelInfo, "deposit below minimum", d)
		return ledger.Arrived(d, ledger.Owner(d), tx.Now()), tx.SetDepositStatus(ctx, d, bursar.DepositBelowMinimum)
	}
	if d.Fee, err = feeOf(d.Amount, currency.DepositFee); err != nil {
		return ledger.Entry{}, err
	}
	if err := tx.SetDepositStatus(ctx, d, bursar.DepositConfirmed); err != nil {
		return ledger.Entry{}, err
	}
	d.Status, d.ConfirmedAt = bursar.DepositConfirmed, tx.Now()
	f.tellDeposit(tx, slog.LevelInfo, "deposit credited", d)
	kind, err := f.settleCharge(ctx, tx, d)
	if err != nil {
		return ledger.Entry{}, err
	}
	if err := f.lift(ctx, tx, d); err != nil {
		return ledger.Entry{}, err
	}
	return ledger.DepositCredited(d, tx.Now()), f.notify(ctx, tx, kind, d, latest)
}

// feeOf is the operator's fee on a deposit, never more than the deposit.
func feeOf(amount bursar.Amount, fee bursar.Fee) (bursar.Amount, error) {
	taken, err := fee.Of(amount)
	if amount.Less(taken) {
		return amount, err
	}
	return taken, err
}

// settleCharge marks the charge that a deposit pays, and returns the event to send: paid, or deposit for money that came
// late, short or again.
func (f *Follower) settleCharge(ctx context.Context, tx *store.Tx, d bursar.Deposit) (bursar.EventKind, error) {
	if d.Purpose != bursar.ForCharge {
		return bursar.EventDeposit, nil
	}
	charge, err := tx.LockCharge(ctx, d.WalletID)
	if err != nil || !charge.PaidWith(d.Amount, d.SeenAt) {
		return bursar.EventDeposit, err
	}
	return bursar.EventPaid, tx.SetPaidBy(ctx, charge.ID, d.ID)
}

// lift allows withdrawals again once the last of an account's reversed deposits has come back.
func (f *Follower) lift(ctx context.Context, tx *store.Tx, d bursar.Deposit) error {
	if d.Reversals == 0 {
		return nil
	}
	missing, err := tx.CountDeposits(ctx, d.AccountID, bursar.DepositReversed)
	if err != nil || missing > 0 {
		return err
	}
	return tx.Unfreeze(ctx, d.AccountID, bursar.FrozenByReversal)
}

// hold notes what an address holds now, where the chain spends from addresses: sweeps start from there. Once it holds the
// currency's minimum it is due.
func (f *Follower) hold(ctx context.Context, tx *store.Tx, d bursar.Deposit, currency bursar.Currency) error {
	traits := f.Chain.Traits()
	if traits.Spending != chain.ByNonce || traits.SharedAddress || d.Address.Base == f.Hot {
		return nil
	}
	w, err := tx.WalletByAddress(ctx, traits.Family, d.Address)
	if err != nil {
		return err
	}
	h, err := tx.Holding(ctx, traits.ID, d.Address.Base, d.Contract)
	if err != nil {
		return err
	}
	if h.Amount, err = h.Amount.Add(d.Amount); err != nil {
		return err
	}
	h.Branch, h.Index, h.Due = chain.DepositBranch, w.Index, !h.Amount.Less(currency.Minimum)
	return tx.PutHolding(ctx, traits.ID, h)
}

// unhold takes back what hold noted.
func (f *Follower) unhold(ctx context.Context, tx *store.Tx, d bursar.Deposit) error {
	traits := f.Chain.Traits()
	if traits.Spending != chain.ByNonce || traits.SharedAddress || d.Address.Base == f.Hot {
		return nil
	}
	h, err := tx.Holding(ctx, traits.ID, d.Address.Base, d.Contract)
	if err != nil {
		return err
	}
	h.Amount = h.Amount.SubOrZero(d.Amount)
	h.Due = h.Due && !h.Amount.IsZero()
	return tx.PutHolding(ctx, traits.ID, h)
}
