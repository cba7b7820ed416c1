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

// credit books every deposit that became final, up to a height. It reports whether there may be more. Nothing is final
// while the node's final block is another than the one recorded at its height.
func (f *Follower) credit(ctx context.Context, lease store.Lease, head chain.Head, last chain.BlockRef, final uint64) (bool, error) {
	id := f.Chain.Capabilities().ID
	latest := max(head.Latest.Height, last.Height)
	credited := 0
	caughtUp := f.ready != lease.Token && f.goal.reached(lease, head, last, final)
	if due, err := f.anythingNew(ctx, final, latest); err != nil || !due && !caughtUp && f.recovery.Number == 0 {
		return false, err
	}
	err := f.DB.Do(ctx, func(tx *store.Tx) error {
		state, err := tx.Leases().Fence(ctx, lease)
		if err != nil {
			return err
		}
		if state.Hash != last.Hash {
			return errMoved
		}
		if err := f.checkFinal(ctx, tx, head.Final); err != nil {
			return err
		}
		if err := tx.Chains().SetHead(ctx, id, latest, final); err != nil {
			return err
		}
		if err := f.carryOn(ctx, tx, lease, recovered{caughtUp || f.ready == lease.Token, caughtUp, latest, final}); err != nil {
			return err
		}
		due, err := f.due(ctx, tx, final, latest, creditsAtOnce)
		if err != nil {
			return err
		}
		credited = len(due)
		if due, err = tx.Deposits().Unaltered(ctx, due); err != nil {
			return err
		}
		if len(due) < credited {
			f.Log.Error("deposits are not credited: this service did not record them so", "chain", id, "deposits", credited-len(due))
			credited = len(due)
		}
		return f.creditAll(ctx, tx, due, latest)
	})
	if err != nil {
		return false, fmt.Errorf("credit up to block %d: %w", final, err)
	}
	if caughtUp {
		f.ready = lease.Token
		f.Log.Info("chain is caught up", "chain", id, "token", lease.Token, "final", final)
	}
	if (credited > 0 || caughtUp) && f.Credited != nil {
		f.Credited()
	}
	return credited == creditsAtOnce, nil
}

// headAge is how long a head that does not change may go unnoted.
const headAge = 5 * time.Second

// anythingNew reports whether there is a head to note or a deposit to book, so that an idle chain writes nothing.
func (f *Follower) anythingNew(ctx context.Context, final, latest uint64) (due bool, err error) {
	id := f.Chain.Capabilities().ID
	err = f.DB.View(ctx, func(tx *store.Tx) error {
		state, err := tx.Chains().State(ctx, id)
		if err != nil {
			return err
		}
		if due = state.Latest != latest || state.Final != final || tx.Now().Sub(state.CheckedAt) > headAge; due {
			return nil
		}
		list, err := f.due(ctx, tx, final, latest, 1)
		due = len(list) > 0
		return err
	})
	return due, err
}

// due returns the deposits that are to be booked: none at all while endpoints disagree, and none of a currency that is not
// configured or that is suspended.
func (f *Follower) due(ctx context.Context, tx *store.Tx, final, latest uint64, limit int) ([]bursar.Deposit, error) {
	id := f.Chain.Capabilities().ID
	disagree, err := tx.Alarms().IsOpen(ctx, alarmDisagree, string(id))
	if err != nil || disagree {
		return nil, err
	}
	query, err := f.query(ctx, tx, final, latest, limit)
	if err != nil {
		return nil, err
	}
	return tx.Deposits().Final(ctx, query)
}

// query names the deposits of the chain that only wait to be final.
func (f *Follower) query(ctx context.Context, tx *store.Tx, final, latest uint64, limit int) (store.FinalDeposits, error) {
	id := f.Chain.Capabilities().ID
	state, err := tx.Chains().State(ctx, id)
	return store.FinalDeposits{Chain: id, Currencies: f.Registry.Served(id, f.Suspended), Final: final, Latest: latest,
		Recorded: uint64(max(state.Height, 0)), Limit: limit}, err
}

// checkFinal compares the node's final block with the one recorded at its height, where one is.
func (f *Follower) checkFinal(ctx context.Context, tx *store.Tx, final chain.BlockRef) error {
	if final.Hash == "" {
		return nil // nothing is final yet
	}
	b, err := tx.Blocks().At(ctx, f.Chain.Capabilities().ID, final.Height)
	if errors.Is(err, bursar.ErrNotFound) {
		return nil // above the cursor, or older than what is remembered
	}
	if err == nil && b.Hash != final.Hash {
		err = fmt.Errorf("the node's final block %d is %s, recorded is %s", final.Height, final.Hash, b.Hash)
	}
	return err
}

// creditAll marks final deposits, books them and tells of them, in this order: rows are locked as everywhere else, deposits
// and accounts first, then balances, then charges.
func (f *Follower) creditAll(ctx context.Context, tx *store.Tx, due []bursar.Deposit, latest uint64) error {
	rules, err := tx.FeeRules().Of(ctx, owners(due)...)
	if err != nil {
		return err
	}
	var entries []ledger.Entry
	var credited []bursar.Deposit
	for _, d := range due {
		done, err := f.creditOne(ctx, tx, d, rules)
		if err != nil {
			return fmt.Errorf("credit deposit %s: %w", d.ID, err)
		}
		if done.Status == bursar.DepositConfirmed && done.IsCustomers() {
			credited, entries = append(credited, done), append(entries, ledger.DepositCredited(done, tx.Now()))
		} else {
			entries = append(entries, ledger.Arrived(done, ledger.Owner(done), tx.Now()))
		}
	}
	if err := tx.Ledger().Post(ctx, entries...); err != nil {
		return err
	}
	for _, d := range credited {
		if err := f.log(ctx, tx, d, latest); err != nil {
			return fmt.Errorf("tell of deposit %s: %w", d.ID, err)
		}
	}
	return nil
}

// owners returns the accounts that deposits belong to, each once.
func owners(deposits []bursar.Deposit) []bursar.ID {
	var ids []bursar.ID
	seen := map[bursar.ID]bool{}
	for _, d := range deposits {
		if d.IsCustomers() && !seen[d.AccountID] {
			seen[d.AccountID] = true
			ids = append(ids, d.AccountID)
		}
	}
	return ids
}

// creditOne marks a final deposit and returns it as it is to be booked: with its fee, where it is credited to a customer.
func (f *Follower) creditOne(ctx context.Context, tx *store.Tx, d bursar.Deposit, rules bursar.FeeRules) (bursar.Deposit, error) {
	currency, err := f.Registry.Get(d.Currency)
	if err != nil {
		return d, err
	}
	if err := f.hold(ctx, tx, d, currency); err != nil {
		return d, err
	}
	next := bursar.DepositConfirmed
	if d.IsCustomers() {
		enough, err := f.enough(ctx, tx, d, currency)
		if err != nil {
			return d, err
		}
		if enough {
			d.Fee = rules.For(d.AccountID, currency).DepositFee.Within(d.Amount)
		} else {
			next = bursar.DepositBelowMinimum
		}
	}
	if err := tx.Deposits().SetStatus(ctx, d, next); err != nil {
		return d, err
	}
	d.Status = next
	switch {
	case !d.IsCustomers():
		f.logDeposit(tx, slog.LevelInfo, "deposit booked", d)
		return d, f.makeGood(ctx, tx, d)
	case next == bursar.DepositBelowMinimum:
		f.logDeposit(tx, slog.LevelInfo, "deposit below minimum", d)
		return d, nil
	}
	d.ConfirmedAt = tx.Now()
	f.logDeposit(tx, slog.LevelInfo, "deposit credited", d)
	return d, f.lift(ctx, tx, d)
}

// tell records the event of a credited deposit, and marks the charge that it pays.
func (f *Follower) log(ctx context.Context, tx *store.Tx, d bursar.Deposit, latest uint64) error {
	kind, err := f.settleCharge(ctx, tx, d)
	if err != nil {
		return err
	}
	return f.notify(ctx, tx, kind, d, latest)
}

// lift allows withdrawals again once the last of an account's reversed deposits has come back.
func (f *Follower) lift(ctx context.Context, tx *store.Tx, d bursar.Deposit) error {
	if d.Reversals == 0 {
		return nil
	}
	return tx.Accounts().LiftReversal(ctx, d.AccountID)
}

// hold notes what an address holds now, where the chain spends from addresses: sweeps start from there. Once it holds the
// currency's minimum it is due.
func (f *Follower) hold(ctx context.Context, tx *store.Tx, d bursar.Deposit, currency bursar.Currency) error {
	traits := f.Chain.Capabilities()
	if traits.Model != chain.AccountModel || traits.SharedAddress || d.Address.Base == f.Hot {
		return nil
	}
	index, err := keyIndex(ctx, tx, traits.Family, d.Address)
	if err != nil {
		return err
	}
	h, err := tx.Holdings().Get(ctx, traits.ID, d.Address.Base, d.Contract)
	if err != nil {
		return err
	}
	if h.Amount, err = h.Amount.Add(d.Amount); err != nil {
		return err
	}
	h.Branch, h.Index, h.Due, h.Rests = chain.DepositBranch, index, !h.Amount.Less(currency.Minimum), time.Time{}
	return tx.Holdings().Put(ctx, traits.ID, h)
}

// unhold takes back what hold noted.
func (f *Follower) unhold(ctx context.Context, tx *store.Tx, d bursar.Deposit) error {
	traits := f.Chain.Capabilities()
	if traits.Model != chain.AccountModel || traits.SharedAddress || d.Address.Base == f.Hot {
		return nil
	}
	h, err := tx.Holdings().Get(ctx, traits.ID, d.Address.Base, d.Contract)
	if err != nil {
		return err
	}
	h.Amount = h.Amount.SubOrZero(d.Amount)
	h.Due = h.Due && !h.Amount.IsZero()
	return tx.Holdings().Put(ctx, traits.ID, h)
}
