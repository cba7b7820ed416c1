package store

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
)

// ChargeFilter selects charges. The zero values select all.
type ChargeFilter struct {
	Status    bursar.ChargeStatus
	Label     bursar.ChargeLabel
	Attention *bool
	Reference string
	Customer  string
	Metadata  string
	Currency  bursar.CurrencyCode // in which it may be paid
	From      time.Time           // made at or after
	To        time.Time           // made before
}

// SumOnly reports whether only charges whose deposits add up can match.
func (f ChargeFilter) SumOnly() bool {
	return f.Status != "" || f.Label != "" || f.Attention != nil || f.Reference != "" || f.Customer != ""
}

// List returns an account's invoices, newest first. A status is that of now, whether or not it is recorded already:
// what has turned by itself since it was recorded is read beside what is recorded so, each by its index. It looks at a
// bounded number of invoices: where these have no whole page, next is the number below which it continues; 0 at the
// end.
func (tx Invoices) List(ctx context.Context, account bursar.ID, f ChargeFilter, page Page) (list []bursar.Invoice,
	next int64, err error) {
	recorded, turned := f.sums(micros(tx.now))
	floor, err := accountInvoices.floor(ctx, tx.Tx, account, recorded, page)
	if err == nil {
		list, err = accountInvoices.above(ctx, tx.Tx, account, recorded, page, floor)
	}
	if err != nil {
		return nil, 0, err
	}
	if f.turns() {
		more, err := accountInvoices.above(ctx, tx.Tx, account, turned, page, floor)
		if err != nil {
			return nil, 0, err
		}
		list = append(list, more...)
		slices.SortFunc(list, func(a, b bursar.Invoice) int { return cmp.Compare(b.Number, a.Number) })
	}
	if len(list) >= page.Limit {
		return list[:max(page.Limit, 0)], 0, nil
	}
	return list, floor, nil
}

var accountInvoices = accountList[bursar.Invoice]{what: "list invoices", from: invoiceFrom, alias: "i.",
	table: "invoices i", of: invoiceColumns}

// turns reports whether an invoice that has turned by itself may match where what is recorded of it does not.
func (f ChargeFilter) turns() bool {
	return f.Status == bursar.ChargeExpired || f.Attention != nil && *f.Attention && f.Status == ""
}

// sums are the filters for charges whose deposits add up: by what is recorded of them, and by what they have turned to
// since. What an index serves is asked for first, that which selects least before the rest.
func (f ChargeFilter) sums(now int64) (recorded, turned filter) {
	var of filter
	if f.Reference != "" {
		of.served(func(q *condition) { q.and(`i.reference <> '' AND i.reference = $?`, f.Reference) })
	}
	if f.Customer != "" {
		of.served(func(q *condition) { q.and(`i.customer <> '' AND i.customer = $?`, f.Customer) })
	}
	if f.Metadata != "" {
		of.served(func(q *condition) { q.metadata("i.metadata", f.Metadata) })
	}
	turned = filter{of.indexed, slices.Clone(of.rest)}
	if f.Status != "" || f.Attention != nil {
		f.recorded(&of, now)
		turned.served(func(q *condition) { f.turned(q, now) })
	}
	f.narrowing(&of)
	f.narrowing(&turned)
	return of, turned
}

// narrowing adds the label, the currency and the period.
func (f ChargeFilter) narrowing(of *filter) {
	if f.Label != "" { // the first condition is that of the index
		of.served(func(q *condition) { q.text += ` AND i.labels <> ''` })
		of.checked(func(q *condition) {
			q.and(`i.labels <> '' AND ',' || i.labels || ',' LIKE $?`, "%,"+string(f.Label)+",%")
		})
	}
	if f.Currency != "" {
		of.checked(func(q *condition) {
			q.and(`EXISTS (SELECT 1 FROM invoice_options o WHERE o.invoice = i.number AND o.currency = $?)`,
				string(f.Currency))
		})
	}
	of.between("i.created_at", f.From, f.To)
}

// isPartial is a condition: what is partial when it ends waits for a resolution from then on.
const isPartial = `(i.labels <> '' AND ',' || i.labels || ',' LIKE '%,partial,%')`

func (f ChargeFilter) recorded(of *filter, now int64) {
	if f.Attention != nil && *f.Attention {
		of.served(func(q *condition) { q.text += ` AND i.attention` })
	}
	switch f.Status {
	case "":
	case bursar.ChargeOpen:
		of.served(func(q *condition) { q.and(`i.status = 'open' AND i.turns_at > $?`, now) })
	default:
		of.served(func(q *condition) { q.and(`i.status = $?`, string(f.Status)) })
	}
	if f.Attention == nil || *f.Attention {
		return
	}
	of.checked(func(q *condition) {
		if f.Status != "" {
			q.text += ` AND NOT i.attention`
			return
		}
		q.and(`NOT i.attention AND NOT (i.turns_at > 0 AND i.turns_at <= $? AND `+isPartial+`)`, now)
	})
}

func (f ChargeFilter) turned(q *condition, now int64) {
	q.and(`i.turns_at > 0 AND i.turns_at <= $?`, now)
	switch {
	case f.Attention == nil:
	case !*f.Attention:
		q.text += ` AND NOT i.attention AND NOT ` + isPartial
	case f.Status == "": // the others are recorded so
		q.text += ` AND NOT i.attention AND ` + isPartial
	default:
		q.text += ` AND (i.attention OR ` + isPartial + `)`
	}
}

// condition is the end of a WHERE that grows with what is asked for.
type condition struct {
	text string
	args []any
}

// and adds a condition whose one argument is written $?, wherever it is used in it.
func (c *condition) and(text string, arg any) {
	c.args = append(c.args, arg)
	c.text += ` AND ` + strings.ReplaceAll(text, "$?", list(1, len(c.args)-1))
}

// between adds that a column is at or after one time and before another one, where they are set.
func (c *condition) between(column string, from, to time.Time) {
	if !from.IsZero() {
		c.and(column+` >= $?`, micros(from))
	}
	if !to.IsZero() {
		c.and(column+` < $?`, micros(to))
	}
}
