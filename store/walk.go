package store

import (
	"context"
	"slices"
	"time"

	"github.com/bursar/bursar"
)

// A walk lists what every account has, or some of them, for operators. No index serves each filter among all accounts,
// and none is worth its writes, so a walk goes down the numbers and looks at no more than walked of them: a filter that
// selects little yields a short page, or none, with a cursor that continues.

// Walk is one page of a walk.
type Walk struct {
	Before   int64       // numbers below this; 0: from the newest
	Limit    int         // the most rows
	Accounts []bursar.ID // only of these; empty: of all, and of none
}

// walked is how many numbers one page of a walk looks at.
const walked = 20_000

// span returns the numbers that a page of a walk looks at: below top, and at or above floor.
func (w Walk) span(ctx context.Context, tx *Tx, table string) (top, floor int64, err error) {
	newest, err := one(ctx, tx, "read the newest number", scanOne[int64], `SELECT COALESCE(MAX(number), 0) FROM `+table)
	top = newest + 1
	if w.Before > 0 {
		top = min(top, w.Before)
	}
	return top, max(1, top-walked), err
}

// next returns the cursor behind a page: 0 where nothing older is left.
func (w Walk) next(found int, last, floor int64) int64 {
	switch {
	case found >= w.Limit && found > 0 && last > 1:
		return last
	case found < w.Limit && floor > 1:
		return floor
	}
	return 0
}

// condition returns the condition of a walk over a table of this alias, which ends in a point or is
// empty.
func (w Walk) condition(tx *Tx, alias string, top, floor int64) condition {
	q := condition{args: []any{top, floor, w.Limit}}
	if len(w.Accounts) > 0 {
		var those string
		those, q.args = among(tx, alias+"account_id", w.Accounts, q.args...)
		q.text += ` AND ` + those
	}
	return q
}

// within is the end of every walk's query, around the conditions of its filter.
func (q condition) within(alias string) string {
	return ` WHERE ` + alias + `number < $1 AND ` + alias + `number >= $2` + q.text +
		` ORDER BY ` + alias + `number DESC LIMIT $3`
}

// Walk returns deposits of all accounts and of none, newest first, and the cursor behind them; 0: there is no more.
func (tx Deposits) Walk(ctx context.Context, f DepositFilter, w Walk) (list []bursar.Deposit, next int64, err error) {
	top, floor, err := w.span(ctx, tx.Tx, "deposits")
	if err != nil {
		return nil, 0, err
	}
	q := w.condition(tx.Tx, "d.", top, floor)
	if f.Status != "" {
		q.and(`d.status = $?`, string(f.Status))
	}
	if f.Currency != "" {
		q.and(`d.currency = $?`, string(f.Currency))
	}
	if !f.Amount.IsZero() {
		q.and(`d.amount = $?`, f.Amount)
	}
	q.between("d.seen_at", f.From, f.To)
	list, err = depositColumns.rows(ctx, tx.Tx, "walk deposits", depositFrom+q.within("d."), q.args...)
	if err != nil || len(list) == 0 {
		return nil, w.next(0, 0, floor), err
	}
	return list, w.next(len(list), list[len(list)-1].Number, floor), nil
}

// Walk returns withdrawals of all accounts, newest first, and the cursor behind them; 0: there is no more.
func (tx Withdrawals) Walk(
	ctx context.Context, f WithdrawalFilter, w Walk,
) (list []bursar.Withdrawal, next int64, err error) {
	top, floor, err := w.span(ctx, tx.Tx, "withdrawals")
	if err != nil {
		return nil, 0, err
	}
	q := w.condition(tx.Tx, "", top, floor)
	if !f.Amount.IsZero() {
		q.and(`amount = $?`, f.Amount)
	}
	f.narrow(&q)
	list, err = withdrawalColumns.rows(ctx, tx.Tx, "walk withdrawals", `FROM withdrawals`+q.within(""), q.args...)
	if err != nil || len(list) == 0 {
		return nil, w.next(0, 0, floor), err
	}
	return list, w.next(len(list), list[len(list)-1].Number, floor), nil
}

// Walk returns wallets of all accounts, those of charges left out, newest first, and the cursor behind them; 0: there
// is no more.
func (tx Wallets) Walk(
	ctx context.Context, code bursar.CurrencyCode, w Walk,
) (list []bursar.Wallet, next int64, err error) {
	top, floor, err := w.span(ctx, tx.Tx, "wallets")
	if err != nil {
		return nil, 0, err
	}
	q := w.condition(tx.Tx, "w.", top, floor)
	q.text += ` AND w.for_charge = FALSE`
	if code != "" {
		q.and(`w.currency = $?`, string(code))
	}
	list, err = walletColumns.rows(ctx, tx.Tx, "walk wallets", walletFrom+q.within("w."), q.args...)
	if err != nil || len(list) == 0 {
		return nil, w.next(0, 0, floor), err
	}
	return list, w.next(len(list), list[len(list)-1].Number, floor), nil
}

// Walk returns events of all accounts with the state of their deliveries, newest first, and the cursor behind them; 0:
// there is no more.
func (tx Deliveries) Walk(ctx context.Context, f DeliveryFilter, w Walk) (list []Delivery, next int64, err error) {
	top, floor, err := w.span(ctx, tx.Tx, "events")
	if err != nil {
		return nil, 0, err
	}
	q := w.condition(tx.Tx, "", top, floor)
	if f.Status != "" {
		q.and(`status = $?`, f.Status)
	}
	q.between("created_at", f.Since, time.Time{})
	list, err = deliveryColumns.rows(ctx, tx.Tx, "walk deliveries", `FROM events`+q.within(""), q.args...)
	if err != nil || len(list) == 0 {
		return nil, w.next(0, 0, floor), err
	}
	return list, w.next(len(list), list[len(list)-1].Number, floor), nil
}

// WalkedCharge is a charge of either rule.
type WalkedCharge struct {
	Single *bursar.Charge
	Sum    *bursar.Invoice
}

// Number orders charges of both rules.
func (c WalkedCharge) Number() int64 {
	if c.Single != nil {
		return c.Single.Number
	}
	return c.Sum.Number
}

// Walk returns charges of all accounts of both rules, newest first, and the cursor behind them; 0: there is no more. A
// status is the one that is recorded: a charge that has just expired may still be listed as open. A filter that only
// charges whose deposits add up can match leaves the others out.
func (tx Charges) Walk(ctx context.Context, f ChargeFilter, w Walk) (list []WalkedCharge, next int64, err error) {
	top, floor, err := w.span(ctx, tx.Tx, "wallets")
	if err != nil {
		return nil, 0, err
	}
	sums, err := tx.Invoices().walk(ctx, f, w, top, floor)
	if err != nil {
		return nil, 0, err
	}
	for i := range sums {
		list = append(list, WalkedCharge{Sum: &sums[i]})
	}
	if !f.SumOnly() {
		singles, err := tx.walk(ctx, f, w, top, floor)
		if err != nil {
			return nil, 0, err
		}
		for i := range singles {
			list = append(list, WalkedCharge{Single: &singles[i]})
		}
	}
	slices.SortFunc(list, func(a, b WalkedCharge) int { return int(b.Number() - a.Number()) })
	list = list[:min(len(list), w.Limit)]
	if len(list) == 0 {
		return nil, w.next(0, 0, floor), nil
	}
	return list, w.next(len(list), list[len(list)-1].Number(), floor), nil
}

func (tx Charges) walk(ctx context.Context, f ChargeFilter, w Walk, top, floor int64) ([]bursar.Charge, error) {
	q := w.condition(tx.Tx, "c.", top, floor)
	if f.Currency != "" {
		q.and(`w.currency = $?`, string(f.Currency))
	}
	q.between("w.created_at", f.From, f.To)
	list, err := chargeColumns.rows(ctx, tx.Tx, "walk charges", chargeFrom+q.within("c."), q.args...)
	if err != nil {
		return nil, err
	}
	return list, tx.attachDeposits(ctx, list)
}

func (tx Invoices) walk(ctx context.Context, f ChargeFilter, w Walk, top, floor int64) ([]bursar.Invoice, error) {
	q := w.condition(tx.Tx, "i.", top, floor)
	f.narrow(&q)
	return invoiceColumns.rows(ctx, tx.Tx, "walk invoices", invoiceFrom+q.within("i."), q.args...)
}

// narrow adds what a filter says beside the reference, by what is recorded of the invoices.
func (f ChargeFilter) narrow(q *condition) {
	if f.Status != "" {
		q.and(`i.status = $?`, string(f.Status))
	}
	if f.Label != "" {
		q.and(`',' || i.labels || ',' LIKE $?`, "%,"+string(f.Label)+",%")
	}
	if f.Attention != nil {
		q.and(`i.attention = $?`, *f.Attention)
	}
	if f.Currency != "" {
		q.and(`EXISTS (SELECT 1 FROM invoice_options o WHERE o.invoice = i.number AND o.currency = $?)`, string(f.Currency))
	}
	q.between("i.created_at", f.From, f.To)
}
