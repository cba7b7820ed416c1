package deposit

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// creditsAtOnce is the largest number of deposits that one transaction credits.
const creditsAtOnce = 500

// evaluatedAtOnce is the largest number of pending deposits that are evaluated at once.
const evaluatedAtOnce = 200

// AnyDue implements follow.Creditor.
func (h *Handler) AnyDue(ctx context.Context, tx *store.Tx, at follow.Finality) (bool, error) {
	if open, err := h.mayCredit(ctx, tx); err != nil || !open {
		return false, err
	}
	query, err := h.query(ctx, tx, at, 1)
	if err != nil {
		return false, err
	}
	list, err := tx.Deposits().Final(ctx, query)
	return len(list) > 0, err
}

// creditProgress is how far deposits are credited that became final at one time, and that take several transactions.
// The next one begins behind what the last one credited: PostgreSQL keeps the old rows in the index of pending deposits
// until they are vacuumed, and would read them again for each transaction. What became due before that position in the
// meantime is credited by the next pass, which begins at the oldest deposit.
type creditProgress struct {
	mu    sync.Mutex
	at    follow.Finality
	after store.DepositCursor // zero: no pass is in progress
}

func (p *creditProgress) startAfter(at follow.Finality) (after store.DepositCursor) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at == at {
		after = p.after
	}
	return after
}

func (p *creditProgress) advance(at follow.Finality, due []bursar.Deposit, more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.after = at, store.DepositCursor{}
	if more {
		last := due[len(due)-1]
		p.after = store.DepositCursor{Height: last.Height, Number: last.Number}
	}
}

// Credit books deposits that became final, as many as one transaction takes.
func (h *Handler) Credit(ctx context.Context, tx *store.Tx, at follow.Finality) (credited int, more bool, err error) {
	if open, err := h.mayCredit(ctx, tx); err != nil || !open {
		return 0, false, err
	}
	query, err := h.query(ctx, tx, at, creditsAtOnce)
	if err != nil {
		return 0, false, err
	}
	query.After = h.progress.startAfter(at)
	due, altered, err := tx.Deposits().FinalSealed(ctx, query)
	if err != nil {
		return 0, false, err
	}
	if altered > 0 {
		h.Log.Error("deposits not credited: their rows were altered", "chain", h.Capabilities.ID, "deposits", altered)
	}
	more = len(due) == creditsAtOnce
	tx.After(func() { h.progress.advance(at, due, more) })
	return len(due), more, h.creditAll(ctx, tx, due, at.Latest)
}

// mayCredit reports whether deposits are booked now: none is while endpoints disagree.
func (h *Handler) mayCredit(ctx context.Context, tx *store.Tx) (bool, error) {
	disagree, err := tx.Alarms().IsOpen(ctx, alarmDisagree, string(h.Capabilities.ID))
	return !disagree, err
}

// query selects the chain's deposits that only wait to be final: none of a currency that is suspended or not
// configured.
func (h *Handler) query(ctx context.Context, tx *store.Tx, at follow.Finality, limit int) (store.CreditQuery, error) {
	id := h.Capabilities.ID
	state, err := tx.Chains().State(ctx, id)
	return store.CreditQuery{
		Chain:      id,
		Currencies: h.Registry.Served(id, h.Suspended),
		Final:      at.Final,
		Latest:     at.Latest,
		Recorded:   uint64(max(state.Height, 0)),
		Limit:      limit,
		Screened:   h.Screened,
	}, err
}

// creditAll marks final deposits, books them and records their events, in this order: rows are locked in the same
// sequence as everywhere else, deposits and accounts first, then balances, then charges. Each step takes the same
// number of statements whatever the number of deposits.
func (h *Handler) creditAll(ctx context.Context, tx *store.Tx, due []bursar.Deposit, latest uint64) error {
	if len(due) == 0 {
		return nil
	}
	if err := h.addHoldings(ctx, tx, due); err != nil {
		return err
	}
	marked, err := h.mark(ctx, tx, due)
	if err != nil {
		return err
	}
	var entries []ledger.Entry
	var credited, uncredited []bursar.Deposit
	for _, d := range marked {
		if d.Status == bursar.DepositConfirmed && d.IsCustomers() {
			credited, entries = append(credited, d), append(entries, ledger.DepositCredited(d, tx.Now()))
		} else {
			uncredited = append(uncredited, d)
			entries = append(entries, ledger.TransferReceived(d, ledger.Owner(d), tx.Now()))
		}
	}
	if err := h.liftReversalFreeze(ctx, tx, credited); err != nil {
		return err
	}
	if err := tx.Ledger().Post(ctx, entries...); err != nil {
		return err
	}
	if err := h.closeUncoveredAlarms(ctx, tx, uncredited); err != nil {
		return err
	}
	if err := h.invoicesChanged(ctx, tx, sameMoment(bursar.MomentTooSmall), uncredited...); err != nil {
		return err
	}
	return h.announce(ctx, tx, h.depth(latest), credited...)
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

// mark gives final deposits their next status, and returns them as they must be booked: with their fees, where they are
// credited to a customer.
func (h *Handler) mark(ctx context.Context, tx *store.Tx, due []bursar.Deposit) ([]bursar.Deposit, error) {
	rules, err := tx.FeeRules().Of(ctx, owners(due)...)
	if err != nil {
		return nil, err
	}
	enough, err := h.meetsMinimum(ctx, tx, due)
	if err != nil {
		return nil, err
	}
	changes, marked := make([]store.DepositChange, len(due)), make([]bursar.Deposit, len(due))
	for i, d := range due {
		currency, err := h.Registry.Get(d.Currency)
		if err != nil {
			return nil, fmt.Errorf("credit deposit %s: %w", d.ID, err)
		}
		next, message := bursar.DepositConfirmed, "deposit booked"
		switch {
		case !d.IsCustomers():
		case enough[d.ID]:
			d.Fee, message = fee(rules, d.AccountID, currency, d.Amount), "deposit credited"
		default:
			next, message = bursar.DepositBelowMinimum, "deposit below minimum"
		}
		changes[i] = store.DepositChange{Deposit: d, Next: next}
		if d.Status = next; d.IsCustomers() && next == bursar.DepositConfirmed {
			d.ConfirmedAt = tx.Now()
		}
		h.logDeposit(tx, slog.LevelInfo, message, d)
		marked[i] = d
	}
	return marked, tx.Deposits().SetStatuses(ctx, changes)
}

// liftReversalFreeze allows withdrawals again once the last of an account's reversed deposits is confirmed again.
func (h *Handler) liftReversalFreeze(ctx context.Context, tx *store.Tx, credited []bursar.Deposit) error {
	var again []bursar.Deposit
	for _, d := range credited {
		if d.Reversals > 0 {
			again = append(again, d)
		}
	}
	accounts := owners(again)
	slices.SortFunc(accounts, bursar.ID.Compare)
	for _, account := range accounts {
		if err := tx.Accounts().LiftReversal(ctx, account); err != nil {
			return err
		}
	}
	return nil
}

// meetsMinimum returns those customers' deposits that are large enough to be credited. A deposit that reaches the
// minimum of its charge is, even where the currency's minimum was raised after the charge was made: the payer was shown
// the charge's. So is one that alone is what its invoice asked for, and one that an operator assigned to its customer:
// it was credited once whatever its amount, and is credited again when it is confirmed again.
func (h *Handler) meetsMinimum(ctx context.Context, tx *store.Tx, due []bursar.Deposit) (map[bursar.ID]bool, error) {
	enough := map[bursar.ID]bool{}
	var small []bursar.Deposit
	var charges []bursar.ID
	for _, d := range due {
		currency, err := h.Registry.Get(d.Currency)
		if err != nil {
			return nil, fmt.Errorf("credit deposit %s: %w", d.ID, err)
		}
		if enough[d.ID] = !d.Amount.Less(currency.Minimum); enough[d.ID] || !d.IsCustomers() {
			continue
		}
		if small = append(small, d); d.Purpose == bursar.ForCharge {
			charges = append(charges, d.WalletID)
		}
	}
	minimums, err := tx.Charges().Minimums(ctx, charges)
	if err != nil {
		return nil, err
	}
	assigned, err := tx.Resolutions().StandingAmong(ctx, small)
	if err != nil {
		return nil, err
	}
	asked, err := payInvoices(ctx, tx, small)
	if err != nil {
		return nil, err
	}
	for _, d := range small {
		minimum, known := minimums[d.WalletID]
		if d.Purpose == bursar.ForCharge && !known {
			return nil, fmt.Errorf("credit deposit %s: its charge %s is not recorded", d.ID, d.WalletID)
		}
		enough[d.ID] = assigned[d.ID] || asked[d.ID] || d.Purpose == bursar.ForCharge && !d.Amount.Less(minimum)
	}
	return enough, nil
}
