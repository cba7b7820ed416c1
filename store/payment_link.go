package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/bursar/bursar"
)

// asJSON is where a value that was written as JSON is scanned into; an empty text is the zero value.
type asJSON struct{ to any }

func (j asJSON) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("scan JSON: unexpected %T", src)
	}
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), j.to); err != nil {
		return fmt.Errorf("scan JSON: %w", err)
	}
	return nil
}

var paymentLinkColumns = columnsOf([]column[bursar.PaymentLink]{
	{"l.number", func(l *bursar.PaymentLink) any { return &l.Number }},
	{"l.id", func(l *bursar.PaymentLink) any { return &l.ID }},
	{"l.account_id", func(l *bursar.PaymentLink) any { return &l.AccountID }},
	{"l.token", func(l *bursar.PaymentLink) any { return &l.Token }},
	{"l.terms", func(l *bursar.PaymentLink) any { return asJSON{&l.Terms} }},
	{"l.fields", func(l *bursar.PaymentLink) any { return texts[string]{&l.Fields} }},
	{"l.max_uses", func(l *bursar.PaymentLink) any { return &l.MaxUses }},
	{"l.created_at", func(l *bursar.PaymentLink) any { return instant{&l.CreatedAt} }},
	{"l.closes_at", func(l *bursar.PaymentLink) any { return instant{&l.Closes} }},
	{"l.closed_at", func(l *bursar.PaymentLink) any { return instant{&l.ClosedAt} }},
})

const paymentLinkFrom = `FROM payment_links l`

// Insert adds a link.
func (tx PaymentLinks) Insert(ctx context.Context, l bursar.PaymentLink) error {
	terms, err := json.Marshal(l.Terms)
	if err != nil {
		return fmt.Errorf("write the terms of a link: %w", err)
	}
	query, args := values{
		{"number", l.Number},
		{"id", l.ID},
		{"account_id", l.AccountID},
		{"token", l.Token},
		{"terms", string(terms)},
		{"fields", joinText(l.Fields)},
		{"max_uses", l.MaxUses},
		{"created_at", micros(l.CreatedAt)},
		{"closes_at", micros(l.Closes)},
	}.insertInto("payment_links")
	_, err = tx.exec(ctx, "insert payment link", query, args...)
	return err
}

// Get returns an account's link; another account's is ErrNotFound.
func (tx PaymentLinks) Get(ctx context.Context, account, id bursar.ID) (bursar.PaymentLink, error) {
	return paymentLinkColumns.one(ctx, tx.Tx, "read payment link",
		paymentLinkFrom+` WHERE l.id = $1 AND l.account_id = $2`, id, account)
}

// ByToken returns the link whose page a token opens, or ErrNotFound.
func (tx PaymentLinks) ByToken(ctx context.Context, token bursar.ID) (bursar.PaymentLink, error) {
	return paymentLinkColumns.one(ctx, tx.Tx, "read payment link by token", paymentLinkFrom+` WHERE l.token = $1`, token)
}

// Lock returns a link and keeps it, and the number of its charges, unchanged until the transaction ends.
func (tx PaymentLinks) Lock(ctx context.Context, id bursar.ID) (bursar.PaymentLink, error) {
	return paymentLinkColumns.one(ctx, tx.Tx, "lock payment link", paymentLinkFrom+` WHERE l.id = $1`+tx.forUpdate(), id)
}

// List returns an account's links, newest first.
func (tx PaymentLinks) List(ctx context.Context, account bursar.ID, page Page) ([]bursar.PaymentLink, error) {
	return paymentLinkColumns.rows(ctx, tx.Tx, "list payment links", paymentLinkFrom+
		` WHERE l.account_id = $1 AND l.number < $2
		ORDER BY l.number DESC LIMIT $3`, account, page.bound(), page.Limit)
}

// Close notes when the client closed a link.
func (tx PaymentLinks) Close(ctx context.Context, id bursar.ID, at time.Time) error {
	return tx.change(ctx, "close payment link",
		`UPDATE payment_links SET closed_at = $2 WHERE id = $1 AND closed_at = 0`, id, micros(at))
}

// Used returns how many charges of a link are open now, and how many are paid or have their payment in blocks. It
// counts no further than a limit: each is at most that.
func (tx PaymentLinks) Used(ctx context.Context, id bursar.ID, now time.Time, limit int64) (open, used int64,
	err error) {
	if err = tx.row(ctx, "count open charges of a link", `SELECT COUNT(*) FROM (SELECT 1 FROM invoices
		WHERE link_id = $1 AND status = 'open' AND turns_at > $2 LIMIT $3) AS o`,
		[]any{id, micros(now), limit}, &open); err != nil {
		return 0, 0, err
	}
	return open, used, tx.row(ctx, "count paid charges of a link", `SELECT COUNT(*) FROM (SELECT 1 FROM invoices
		WHERE link_id = $1 AND status IN ('paid', 'confirming') LIMIT $2) AS o`, []any{id, limit}, &used)
}
