package store

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/bursar/bursar"
)

// ErrReference is returned where an account has another charge with the same reference.
var ErrReference = errors.New("the account has a charge with this reference")

const invoiceFrom = `FROM invoices i`

// Get returns an account's invoice; another account's is ErrNotFound.
func (tx Invoices) Get(ctx context.Context, account, id bursar.ID) (bursar.Invoice, error) {
	return invoiceColumns.one(ctx, tx.Tx, "read invoice",
		invoiceFrom+` WHERE i.id = $1 AND i.account_id = $2`, id, account)
}

// ByReference returns the account's invoice with a reference, or ErrNotFound.
func (tx Invoices) ByReference(ctx context.Context, account bursar.ID, reference string) (bursar.Invoice, error) {
	return invoiceColumns.one(ctx, tx.Tx, "read invoice by reference",
		invoiceFrom+` WHERE i.account_id = $1 AND i.reference = $2 AND i.reference <> ''`, account, reference)
}

// ByToken returns the invoice whose payer's page a token opens, or ErrNotFound.
func (tx Invoices) ByToken(ctx context.Context, token bursar.ID) (bursar.Invoice, error) {
	return invoiceColumns.one(ctx, tx.Tx, "read invoice by token", invoiceFrom+` WHERE i.token = $1`, token)
}

// LockAll returns invoices by their numbers, in the order of these, and keeps them unchanged until the transaction
// ends.
func (tx Invoices) LockAll(ctx context.Context, numbers []int64) (list []bursar.Invoice, err error) {
	for part := range parts(tx.Tx, numbers) {
		if tx.postgres {
			those, args := among(tx.Tx, "number", part)
			if _, err := tx.exec(ctx, "lock invoices",
				`SELECT number FROM invoices WHERE `+those+` ORDER BY number FOR UPDATE`, args...); err != nil {
				return nil, err
			}
		}
		those, args := among(tx.Tx, "i.number", part)
		some, err := invoiceColumns.rows(ctx, tx.Tx, "read invoices",
			invoiceFrom+` WHERE `+those+` ORDER BY i.number`, args...)
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	return list, nil
}

// OfWallets returns the numbers of the invoices that wallets belong to, by the wallets' IDs.
func (tx Invoices) OfWallets(ctx context.Context, wallets []bursar.ID) (map[bursar.ID]int64, error) {
	found := map[bursar.ID]int64{}
	for part := range parts(tx.Tx, wallets) {
		those, args := among(tx.Tx, "w.id", part)
		_, err := rows(ctx, tx.Tx, "read the invoices of wallets", func(s scanner) (none struct{}, err error) {
			var id bursar.ID
			var number int64
			err = s.Scan(&id, &number)
			found[id] = number
			return none, err
		}, `SELECT w.id, o.invoice FROM wallets w JOIN invoice_options o ON o.wallet = w.number WHERE `+those, args...)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// AskedPayment is a payment with the terms of its invoice that say whether it pays alone.
type AskedPayment struct {
	bursar.Payment // with Deposit.ID, Origin, Decimals and Rate
	bursar.Invoice // with Unit, Required and Under
}

// Asked returns payments with the terms of their invoices, by their deposits; a deposit that is none is left out.
func (tx Invoices) Asked(ctx context.Context, deposits []bursar.ID) (map[bursar.ID]AskedPayment, error) {
	found := map[bursar.ID]AskedPayment{}
	for part := range parts(tx.Tx, deposits) {
		those, args := among(tx.Tx, "p.deposit", part)
		_, err := rows(ctx, tx.Tx, "read the terms of payments", func(s scanner) (none struct{}, err error) {
			var a AskedPayment
			err = s.Scan(&a.Deposit.ID, &a.Origin, &a.Payment.Decimals, rateText{&a.Rate}, &a.Unit.Code, &a.Unit.Fiat,
				&a.Unit.Decimals, &a.Unit.Places, &a.Required, &a.Under)
			found[a.Deposit.ID] = a
			return none, err
		}, `SELECT
				p.deposit,
				p.origin,
				p.decimals,
				p.rate,
				i.unit,
				i.fiat,
				i.decimals,
				i.places,
				i.required,
				i.under
			FROM invoice_payments p JOIN invoices i ON i.number = p.invoice WHERE `+those, args...)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// OfRefund returns the number of the invoice that a withdrawal refunds a payment of, 0 for any other withdrawal.
func (tx Invoices) OfRefund(ctx context.Context, withdrawal bursar.ID) (int64, error) {
	found, err := rows(ctx, tx.Tx, "read the invoice of a refund", scanOne[int64],
		`SELECT invoice FROM invoice_refunds WHERE withdrawal = $1`, withdrawal)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return found[0], nil
}

// Refunded returns the IDs of the invoices of which withdrawals refund payments, by the withdrawals' IDs; any other
// withdrawal is left out.
func (tx Invoices) Refunded(ctx context.Context, withdrawals []bursar.ID) (map[bursar.ID]bursar.ID, error) {
	found := map[bursar.ID]bursar.ID{}
	for part := range parts(tx.Tx, withdrawals) {
		those, args := among(tx.Tx, "r.withdrawal", part)
		_, err := rows(ctx, tx.Tx, "read the invoices of refunds", func(s scanner) (none struct{}, err error) {
			var withdrawal, invoice bursar.ID
			err = s.Scan(&withdrawal, &invoice)
			found[withdrawal] = invoice
			return none, err
		}, `SELECT r.withdrawal, i.id FROM invoice_refunds r JOIN invoices i ON i.number = r.invoice WHERE `+those, args...)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Turning returns the numbers of invoices whose status has changed by itself and is not recorded so, up to a limit.
func (tx Invoices) Turning(ctx context.Context, now time.Time, limit int) ([]int64, error) {
	return rows(ctx, tx.Tx, "list turning invoices", scanOne[int64],
		`SELECT number FROM invoices WHERE turns_at > 0 AND turns_at <= $1 ORDER BY turns_at LIMIT $2`, micros(now), limit)
}

// ChargeFilter selects charges. The zero values select all.
type ChargeFilter struct {
	Status    bursar.ChargeStatus
	Label     bursar.ChargeLabel
	Attention *bool
	Reference string
	Currency  bursar.CurrencyCode // in which it may be paid
	From      time.Time           // made at or after
	To        time.Time           // made before
}

// SumOnly reports whether only charges whose deposits add up can match.
func (f ChargeFilter) SumOnly() bool {
	return f.Status != "" || f.Label != "" || f.Attention != nil || f.Reference != ""
}

// List returns an account's invoices, newest first. A status is that of now, whether or not it is recorded already.
func (tx Invoices) List(ctx context.Context, account bursar.ID, f ChargeFilter, page Page) ([]bursar.Invoice, error) {
	q := condition{args: []any{account, page.bound(), page.Limit}}
	now := micros(tx.now)
	switch f.Status {
	case "":
	case bursar.ChargeExpired:
		q.and(`(i.status = 'expired' OR i.turns_at > 0 AND i.turns_at <= $?)`, now)
	case bursar.ChargeOpen:
		q.and(`i.status = 'open' AND i.turns_at > $?`, now)
	default:
		q.and(`i.status = $?`, string(f.Status))
	}
	if f.Label != "" {
		q.and(`',' || i.labels || ',' LIKE $?`, "%,"+string(f.Label)+",%")
	}
	if f.Attention != nil { // what is partial when it ends waits for a resolution from then on
		q.and(`(i.attention OR i.turns_at > 0 AND i.turns_at <= $? AND ',' || i.labels || ',' LIKE '%,partial,%') = `+
			map[bool]string{true: "TRUE", false: "FALSE"}[*f.Attention], now)
	}
	if f.Reference != "" {
		q.and(`i.reference = $?`, f.Reference)
	}
	if f.Currency != "" {
		q.and(`EXISTS (SELECT 1 FROM invoice_options o WHERE o.invoice = i.number AND o.currency = $?)`, string(f.Currency))
	}
	q.between("i.created_at", f.From, f.To)
	return invoiceColumns.rows(ctx, tx.Tx, "list invoices", invoiceFrom+` WHERE i.account_id = $1 AND i.number < $2`+
		q.text+` ORDER BY i.number DESC LIMIT $3`, q.args...)
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
