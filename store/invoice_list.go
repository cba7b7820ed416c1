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
// what has turned by itself since it was recorded is read beside what is recorded so, each by its index.
func (tx Invoices) List(ctx context.Context, account bursar.ID, f ChargeFilter, page Page) ([]bursar.Invoice, error) {
	q := condition{args: []any{account, page.bound(), page.Limit}}
	if f.Label != "" { // the first condition is that of the index
		q.and(`i.labels <> '' AND ',' || i.labels || ',' LIKE $?`, "%,"+string(f.Label)+",%")
	}
	if f.Reference != "" {
		q.and(`i.reference <> '' AND i.reference = $?`, f.Reference)
	}
	if f.Customer != "" {
		q.and(`i.customer <> '' AND i.customer = $?`, f.Customer)
	}
	q.metadata("i.metadata", f.Metadata)
	if f.Currency != "" {
		q.and(`EXISTS (SELECT 1 FROM invoice_options o WHERE o.invoice = i.number AND o.currency = $?)`, string(f.Currency))
	}
	q.between("i.created_at", f.From, f.To)
	list, err := tx.listed(ctx, f, q, false)
	if err != nil || !f.turns() {
		return list, err
	}
	turned, err := tx.listed(ctx, f, q, true)
	list = append(list, turned...)
	slices.SortFunc(list, func(a, b bursar.Invoice) int { return cmp.Compare(b.Number, a.Number) })
	return list[:min(len(list), max(page.Limit, 0))], err
}

// turns reports whether an invoice that has turned by itself may match where what is recorded of it does not.
func (f ChargeFilter) turns() bool {
	return f.Status == bursar.ChargeExpired || f.Attention != nil && *f.Attention && f.Status == ""
}

// listed returns the invoices that a filter selects by what is recorded of them, or by what they have turned to since.
func (tx Invoices) listed(
	ctx context.Context, f ChargeFilter, q condition, turned bool,
) ([]bursar.Invoice, error) {
	q.args = slices.Clone(q.args)
	if turned {
		f.turned(&q, micros(tx.now))
	} else {
		f.recorded(&q, micros(tx.now))
	}
	return invoiceColumns.rows(ctx, tx.Tx, "list invoices", invoiceFrom+` WHERE i.account_id = $1 AND i.number < $2`+
		q.text+` ORDER BY i.number DESC LIMIT $3`, q.args...)
}

// isPartial is a condition: what is partial when it ends waits for a resolution from then on.
const isPartial = `(i.labels <> '' AND ',' || i.labels || ',' LIKE '%,partial,%')`

func (f ChargeFilter) recorded(q *condition, now int64) {
	switch f.Status {
	case "":
	case bursar.ChargeOpen:
		q.and(`i.status = 'open' AND i.turns_at > $?`, now)
	default:
		q.and(`i.status = $?`, string(f.Status))
	}
	switch {
	case f.Attention == nil:
	case *f.Attention:
		q.text += ` AND i.attention`
	case f.Status == "":
		q.and(`NOT i.attention AND NOT (i.turns_at > 0 AND i.turns_at <= $? AND `+isPartial+`)`, now)
	default:
		q.text += ` AND NOT i.attention`
	}
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
