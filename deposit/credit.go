package deposit

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// creditsAtOnce is the largest number of deposits that one transaction credits.
const creditsAtOnce = 200

// AnyDue implements follow.Creditor.
func (h *Handler) AnyDue(ctx context.Context, tx *store.Tx, at follow.Finality) (bool, error) {
	list, err := h.due(ctx, tx, at, 1)
	return len(list) > 0, err
}

// Credit books deposits that became final, as many as one transaction takes.
func (h *Handler) Credit(ctx context.Context, tx *store.Tx, at follow.Finality) (credited int, more bool, err error) {
	due, err := h.due(ctx, tx, at, creditsAtOnce)
	if err != nil {
		return 0, false, err
	}
	found := len(due)
	if due, err = tx.Deposits().Unaltered(ctx, due); err != nil {
		return 0, false, err
	}
	if len(due) < found {
		h.Log.Error("deposits not credited: their rows were altered", "chain", h.Capabilities.ID, "deposits",
			found-len(due))
	}
	return len(due), len(due) == creditsAtOnce, h.creditAll(ctx, tx, due, at.Latest)
}

// due returns the deposits to book: none at all while endpoints disagree, and none of a currency that is suspended or
// not configured.
func (h *Handler) due(ctx context.Context, tx *store.Tx, at follow.Finality, limit int) ([]bursar.Deposit, error) {
	id := h.Capabilities.ID
	disagree, err := tx.Alarms().IsOpen(ctx, alarmDisagree, string(id))
	if err != nil || disagree {
		return nil, err
	}
	query, err := h.query(ctx, tx, at, limit)
	if err != nil {
		return nil, err
	}
	return tx.Deposits().Final(ctx, query)
}

// query selects the chain's deposits that only wait to be final.
func (h *Handler) query(ctx context.Context, tx *store.Tx, at follow.Finality, limit int) (store.FinalDeposits, error) {
	id := h.Capabilities.ID
	state, err := tx.Chains().State(ctx, id)
	return store.FinalDeposits{
		Chain:      id,
		Currencies: h.Registry.Served(id, h.Suspended),
		Final:      at.Final,
		Latest:     at.Latest,
		Recorded:   uint64(max(state.Height, 0)),
		Limit:      limit,
	}, err
}

// creditAll marks final deposits, books them and records their events, in this order: rows are locked in the same
// sequence as everywhere else, deposits and accounts first, then balances, then charges.
func (h *Handler) creditAll(ctx context.Context, tx *store.Tx, due []bursar.Deposit, latest uint64) error {
	rules, err := tx.FeeRules().Of(ctx, owners(due)...)
	if err != nil {
		return err
	}
	var entries []ledger.Entry
	var credited []bursar.Deposit
	for _, d := range due {
		done, err := h.creditOne(ctx, tx, d, rules)
		if err != nil {
			return fmt.Errorf("credit deposit %s: %w", d.ID, err)
		}
		if done.Status == bursar.DepositConfirmed && done.IsCustomers() {
			credited, entries = append(credited, done), append(entries, ledger.DepositCredited(done, tx.Now()))
		} else {
			entries = append(entries, ledger.TransferReceived(done, ledger.Owner(done), tx.Now()))
		}
	}
	if err := tx.Ledger().Post(ctx, entries...); err != nil {
		return err
	}
	for _, d := range credited {
		if err := h.announce(ctx, tx, d, h.depth(latest)); err != nil {
			return fmt.Errorf("announce deposit %s: %w", d.ID, err)
		}
	}
	return nil
}

// owners returns the accounts to which deposits belong, each once.
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

// creditOne marks a final deposit and returns it as it must be booked: with its fee, where it is credited to a
// customer.
func (h *Handler) creditOne(
	ctx context.Context, tx *store.Tx, d bursar.Deposit, rules bursar.FeeRules,
) (bursar.Deposit, error) {
	currency, err := h.Registry.Get(d.Currency)
	if err != nil {
		return d, err
	}
	if err := h.hold(ctx, tx, d, currency); err != nil {
		return d, err
	}
	next := bursar.DepositConfirmed
	if d.IsCustomers() {
		enough, err := h.enough(ctx, tx, d, currency)
		if err != nil {
			return d, err
		}
		if enough {
			d.Fee = fee(rules, d.AccountID, currency, d.Amount)
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
		h.logDeposit(tx, slog.LevelInfo, "deposit booked", d)
		return d, h.makeGood(ctx, tx, d)
	case next == bursar.DepositBelowMinimum:
		h.logDeposit(tx, slog.LevelInfo, "deposit below minimum", d)
		return d, nil
	}
	d.ConfirmedAt = tx.Now()
	h.logDeposit(tx, slog.LevelInfo, "deposit credited", d)
	return d, h.lift(ctx, tx, d)
}

// lift allows withdrawals again once the last of an account's reversed deposits is confirmed again.
func (h *Handler) lift(ctx context.Context, tx *store.Tx, d bursar.Deposit) error {
	if d.Reversals == 0 {
		return nil
	}
	return tx.Accounts().LiftReversal(ctx, d.AccountID)
}

// hold records what an address holds after a deposit, where the chain spends from addresses: sweeps select addresses by
// it. Once an address holds the currency's minimum, its sweep is due.
func (h *Handler) hold(ctx context.Context, tx *store.Tx, d bursar.Deposit, currency bursar.Currency) error {
	capabilities := h.Capabilities
	if capabilities.Model != chain.AccountModel || capabilities.SharedAddress || d.Address.Base == h.Hot {
		return nil
	}
	index, err := keyIndex(ctx, tx, capabilities.Family, d.Address)
	if err != nil {
		return err
	}
	held, err := tx.Holdings().Get(ctx, capabilities.ID, d.Address.Base, d.Contract)
	if err != nil {
		return err
	}
	if held.Amount, err = held.Amount.Add(d.Amount); err != nil {
		return err
	}
	held.Branch, held.Index, held.Due, held.Rests = chain.DepositBranch, index, !held.Amount.Less(currency.Minimum),
		time.Time{}
	return tx.Holdings().Put(ctx, capabilities.ID, held)
}

// unhold reverses hold.
func (h *Handler) unhold(ctx context.Context, tx *store.Tx, d bursar.Deposit) error {
	capabilities := h.Capabilities
	if capabilities.Model != chain.AccountModel || capabilities.SharedAddress || d.Address.Base == h.Hot {
		return nil
	}
	held, err := tx.Holdings().Get(ctx, capabilities.ID, d.Address.Base, d.Contract)
	if err != nil {
		return err
	}
	held.Amount = held.Amount.SubOrZero(d.Amount)
	held.Due = held.Due && !held.Amount.IsZero()
	return tx.Holdings().Put(ctx, capabilities.ID, held)
}

// enough reports whether a customer's deposit is large enough to be credited. A deposit that reaches the minimum of its
// charge is, even where the currency's minimum was raised after the charge was made: the payer was shown the charge's.
func (h *Handler) enough(ctx context.Context, tx *store.Tx, d bursar.Deposit, currency bursar.Currency) (bool, error) {
	if !d.Amount.Less(currency.Minimum) {
		return true, nil
	}
	if d.Purpose == bursar.ForCharge {
		minimum, err := tx.Charges().Minimum(ctx, d.WalletID)
		if err != nil || !d.Amount.Less(minimum) {
			return err == nil, err
		}
	}
	return h.assigned(ctx, tx, d)
}
