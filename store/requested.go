package store

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// Requested is what one withdrawal adds to those of a period.
type Requested struct {
	ID     bursar.ID
	At     time.Time
	Amount bursar.Amount // without its fee
}

var requestedColumns = columnsOf([]column[Requested]{
	{"id", func(r *Requested) any { return &r.ID }},
	{"created_at", func(r *Requested) any { return instant{&r.At} }},
	{"amount", func(r *Requested) any { return &r.Amount }},
})

// RequestedAfter returns an account's withdrawals of a currency that were requested after a time, but for those whose
// money was given back: rejected, cancelled and failed ones. Nobody else adds one before the transaction ends if it
// has locked the account.
func (tx Withdrawals) RequestedAfter(ctx context.Context, account bursar.ID, currency bursar.CurrencyCode,
	after time.Time) ([]Requested, error) {
	return requestedColumns.rows(ctx, tx.Tx, "list what an account requested", `FROM withdrawals WHERE account_id = $1
		AND currency = $2 AND created_at > $3 AND status NOT IN ('rejected', 'cancelled', 'failed')`, account,
		string(currency), micros(after))
}

// LeftOf returns how much more may be requested at a time within the period of a limit; zero if more was requested
// before the limit was set.
func LeftOf(rule bursar.LimitRule, now time.Time, requested []Requested) bursar.Amount {
	left, since := rule.Amount, now.Add(-rule.Kind.Window())
	for _, r := range requested {
		if r.At.After(since) {
			left = left.SubOrZero(r.Amount)
		}
	}
	return left
}
