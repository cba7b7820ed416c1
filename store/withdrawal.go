package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/bursar/bursar"
)

var withdrawalColumns = columnsOf([]column[bursar.Withdrawal]{
	{"number", func(w *bursar.Withdrawal) any { return &w.Number }},
	{"id", func(w *bursar.Withdrawal) any { return &w.ID }},
	{"account_id", func(w *bursar.Withdrawal) any { return &w.AccountID }},
	{"currency", func(w *bursar.Withdrawal) any { return &w.Currency }},
	{"amount", func(w *bursar.Withdrawal) any { return &w.Amount }},
	{"fee", func(w *bursar.Withdrawal) any { return &w.Fee }},
	{"base", func(w *bursar.Withdrawal) any { return &w.Address.Base }},
	{"memo", func(w *bursar.Withdrawal) any { return memo{&w.Address} }},
	{"status", func(w *bursar.Withdrawal) any { return &w.Status }},
	{"outgoing_id", func(w *bursar.Withdrawal) any { return &w.OutgoingID }},
	{"tx_id", func(w *bursar.Withdrawal) any { return &w.TxID }},
	{"error", func(w *bursar.Withdrawal) any { return &w.Error }},
	{"requested_by", func(w *bursar.Withdrawal) any { return &w.RequestedBy }},
	{"reference", func(w *bursar.Withdrawal) any { return &w.Reference }},
	{"metadata", func(w *bursar.Withdrawal) any { return &w.Metadata }},
	{"created_at", func(w *bursar.Withdrawal) any { return instant{&w.CreatedAt} }},
	{"completed_at", func(w *bursar.Withdrawal) any { return instant{&w.CompletedAt} }},
})

// NewWithdrawal is an order to be recorded, with the chain that it is paid on.
type NewWithdrawal struct {
	bursar.Withdrawal
	Chain bursar.ChainID
}

// Insert records an order; its amount is held, or paid, by an entry of the same transaction.
func (tx Withdrawals) Insert(ctx context.Context, chain bursar.ChainID, w bursar.Withdrawal) error {
	return tx.InsertAll(ctx, []NewWithdrawal{{w, chain}})
}

// InsertAll records orders in one statement; their amounts are held, or paid, by entries of the same transaction.
func (tx Withdrawals) InsertAll(ctx context.Context, list []NewWithdrawal) error {
	in := insertion{what: "insert withdrawals", table: "withdrawals", rows: len(list)}
	for _, w := range list {
		order := withdrawalFacts(w.Chain, w.Withdrawal)
		tx.sealing.noteOrder(order)
		in.add(values{
			{"id", w.ID},
			{"account_id", w.AccountID},
			{"currency", string(w.Currency)},
			{"chain", string(w.Chain)},
			{"amount", w.Amount},
			{"fee", w.Fee},
			{"base", w.Address.Base},
			{"memo", memoValue(w.Address)},
			{"status", string(w.Status)},
			{"tx_id", w.TxID},
			{"requested_by", w.RequestedBy},
			{"reference", w.Reference},
			{"metadata", w.Metadata},
			{"created_at", micros(w.CreatedAt)},
			{"completed_at", micros(w.CompletedAt)},
			{"seal", tx.seal.sealOrder(order)},
		})
	}
	return tx.insertRows(ctx, in)
}

// Get returns an account's withdrawal; another account's is ErrNotFound.
func (tx Withdrawals) Get(ctx context.Context, account, id bursar.ID) (bursar.Withdrawal, error) {
	return withdrawalColumns.one(ctx, tx.Tx, "read withdrawal",
		`FROM withdrawals WHERE id = $1 AND account_id = $2`, id, account)
}

// Recorded returns those of some withdrawals of any account that are recorded, by their IDs, in one statement.
func (tx Withdrawals) Recorded(ctx context.Context, ids []bursar.ID) (map[bursar.ID]bursar.Withdrawal, error) {
	found := make(map[bursar.ID]bursar.Withdrawal, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	those, args := among(tx.Tx, "id", ids)
	list, err := withdrawalColumns.rows(ctx, tx.Tx, "look for withdrawals", `FROM withdrawals WHERE `+those, args...)
	for _, w := range list {
		found[w.ID] = w
	}
	return found, err
}

// Chain returns the chain that a withdrawal of any account is paid on, or ErrNotFound.
func (tx Withdrawals) Chain(ctx context.Context, id bursar.ID) (chain bursar.ChainID, err error) {
	err = tx.row(ctx, "read a withdrawal's chain", `SELECT chain FROM withdrawals WHERE id = $1`, []any{id}, &chain)
	return chain, err
}

// Lock returns a withdrawal of any account and keeps it unchanged until the transaction ends. The error is
// ErrAltered where its facts are not those that were taken.
func (tx Withdrawals) Lock(ctx context.Context, id bursar.ID) (bursar.Withdrawal, error) {
	o, err := one(ctx, tx.Tx, "lock withdrawal", tx.ordered,
		orderColumns.query+`FROM withdrawals WHERE id = $1`+tx.forUpdate(), id)
	return o.unaltered(err)
}

// List returns an account's withdrawals, newest first; the zero account means everybody's.
func (tx Withdrawals) List(ctx context.Context, account bursar.ID, page Page) ([]bursar.Withdrawal, error) {
	if account.IsZero() {
		return withdrawalColumns.rows(ctx, tx.Tx, "list withdrawals", `FROM withdrawals WHERE number < $1
			ORDER BY number DESC LIMIT $2`, page.bound(), page.Limit)
	}
	return withdrawalColumns.rows(ctx, tx.Tx, "list withdrawals", `FROM withdrawals WHERE account_id = $1 AND number < $2
		ORDER BY number DESC LIMIT $3`, account, page.bound(), page.Limit)
}

// Unfinished returns withdrawals of all accounts that are neither completed nor given up, oldest first.
func (tx Withdrawals) Unfinished(ctx context.Context, limit int) ([]bursar.Withdrawal, error) {
	return withdrawalColumns.rows(ctx, tx.Tx, "list unfinished withdrawals", `FROM withdrawals WHERE completed_at = 0
		ORDER BY number LIMIT $1`, limit)
}

// notFrozen leaves out the withdrawals of accounts that are frozen: they wait in the queue, and block no others.
const notFrozen = ` AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.id = withdrawals.account_id AND a.frozen <> '')`

// AnyQueued reports whether a withdrawal of some of a chain's currencies waits for an outgoing transaction, whose
// account is not frozen; with screened, one that the screening service has passed.
func (tx Withdrawals) AnyQueued(ctx context.Context, chain bursar.ChainID,
	codes []bursar.CurrencyCode, screened bool) (waits bool, err error) {
	if len(codes) == 0 {
		return false, nil
	}
	fixed := []any{string(chain)}
	if screened {
		fixed = append(fixed, micros(tx.now))
	}
	var each []string // each by the index of what waits, which has one currency after the other in this order
	for i := range codes {
		each = append(each, fmt.Sprintf(`EXISTS (SELECT 1 FROM withdrawals WHERE chain = $1 AND status = 'queued'
			AND outgoing_id IS NULL AND currency = $%d`, len(fixed)+i+1)+notFrozen+mayBePaid(screened, "$2")+`
			ORDER BY number`+byItself+`)`)
	}
	err = tx.row(ctx, "look for queued withdrawals", `SELECT `+strings.Join(each, " OR "),
		codeArgs(codes, fixed...), &waits)
	return waits, err
}

// Queued returns withdrawals of some of a chain's currencies that no outgoing transaction pays yet, oldest first,
// locked until the transaction ends; with screened, those that the screening service has passed. Those of other
// currencies, of frozen accounts and those that wait for screening do not stand in their way. The error is ErrAltered
// where the facts of one are not those that were taken.
func (tx Withdrawals) Queued(ctx context.Context, chain bursar.ChainID, codes []bursar.CurrencyCode,
	screened bool, limit int) ([]bursar.Withdrawal, error) {
	if len(codes) == 0 {
		return nil, nil
	}
	fixed := []any{string(chain), limit}
	if screened {
		fixed = append(fixed, micros(tx.now))
	}
	return allUnaltered(rows(ctx, tx.Tx, "list queued withdrawals", tx.ordered, orderColumns.query+`FROM withdrawals
		WHERE chain = $1 AND status = 'queued' AND outgoing_id IS NULL AND currency IN (`+list(len(codes), len(fixed))+`)`+
		notFrozen+mayBePaid(screened, "$3")+` ORDER BY number LIMIT $2`+tx.forUpdate(), codeArgs(codes, fixed...)...))
}

// PaidBy returns the withdrawals that an outgoing transaction pays, in the order they were taken, or ErrAltered.
func (tx Withdrawals) PaidBy(ctx context.Context, outgoing bursar.ID) ([]bursar.Withdrawal, error) {
	return allUnaltered(rows(ctx, tx.Tx, "list paid withdrawals", tx.ordered,
		orderColumns.query+`FROM withdrawals WHERE outgoing_id = $1 ORDER BY number`+tx.forUpdate(), outgoing))
}

// AssignOutgoing gives queued withdrawals to an outgoing transaction, or, for the zero ID, takes them back into the
// queue.
func (tx Withdrawals) AssignOutgoing(ctx context.Context, w bursar.Withdrawal, outgoing bursar.ID) error {
	return tx.changeOr(ctx, "assign outgoing transaction", fmt.Errorf("withdrawal %s is no longer %s", w.ID, w.Status),
		`UPDATE withdrawals SET outgoing_id = $3 WHERE id = $1 AND status = $2`, w.ID, string(w.Status), outgoing)
}

// completed returns when a withdrawal is completed that moves along its transition table, 0 where it is not.
func (tx Withdrawals) completed(w bursar.Withdrawal, next bursar.WithdrawalStatus) (at int64, err error) {
	if w.Status != next && !w.Status.MayBecome(next) {
		return 0, fmt.Errorf("withdrawal %s may not go from %s to %s", w.ID, w.Status, next)
	}
	switch next {
	case bursar.WithdrawalConfirmed, bursar.WithdrawalRejected, bursar.WithdrawalCancelled, bursar.WithdrawalFailed:
		at = micros(tx.now)
	}
	return at, nil
}

// SetStatus moves a withdrawal along its transition table; w is as it was read in this transaction, with TxID and Error
// as they shall be.
func (tx Withdrawals) SetStatus(ctx context.Context, w bursar.Withdrawal, next bursar.WithdrawalStatus) error {
	completed, err := tx.completed(w, next)
	if err != nil {
		return err
	}
	return tx.changeOr(ctx, "set withdrawal", fmt.Errorf("withdrawal %s is no longer %s", w.ID, w.Status),
		`UPDATE withdrawals SET status = $3, tx_id = $4, error = $5, completed_at = $6 WHERE id = $1 AND status = $2`,
		w.ID, string(w.Status), string(next), w.TxID, w.Error, completed)
}
