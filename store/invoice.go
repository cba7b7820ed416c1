package store

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bursar/bursar"
)

var invoiceColumns = columnsOf([]column[bursar.Invoice]{
	{"i.number", func(v *bursar.Invoice) any { return &v.Number }},
	{"i.id", func(v *bursar.Invoice) any { return &v.ID }},
	{"i.account_id", func(v *bursar.Invoice) any { return &v.AccountID }},
	{"i.token", func(v *bursar.Invoice) any { return &v.Token }},
	{"i.reference", func(v *bursar.Invoice) any { return &v.Reference }},
	{"i.request", func(v *bursar.Invoice) any { return &v.Request }},
	{"i.unit", func(v *bursar.Invoice) any { return &v.Unit.Code }},
	{"i.fiat", func(v *bursar.Invoice) any { return &v.Unit.Fiat }},
	{"i.decimals", func(v *bursar.Invoice) any { return &v.Unit.Decimals }},
	{"i.places", func(v *bursar.Invoice) any { return &v.Unit.Places }},
	{"i.required", func(v *bursar.Invoice) any { return &v.Required }},
	{"i.under", func(v *bursar.Invoice) any { return &v.Under }},
	{"i.over", func(v *bursar.Invoice) any { return &v.Over }},
	{"i.late", func(v *bursar.Invoice) any { return &v.Late }},
	{"i.other", func(v *bursar.Invoice) any { return &v.Other }},
	{"i.rate_lock", func(v *bursar.Invoice) any { return duration{&v.RateLock} }},
	{"i.description", func(v *bursar.Invoice) any { return &v.Description }},
	{"i.customer", func(v *bursar.Invoice) any { return &v.Customer }},
	{"i.webhook", func(v *bursar.Invoice) any { return &v.Webhook }},
	{"i.metadata", func(v *bursar.Invoice) any { return &v.Metadata }},
	{"i.success", func(v *bursar.Invoice) any { return &v.Success }},
	{"i.failure", func(v *bursar.Invoice) any { return &v.Failure }},
	{"i.contact", func(v *bursar.Invoice) any { return &v.Contact }},
	{"i.locale", func(v *bursar.Invoice) any { return &v.Locale }},
	{"i.link_format", func(v *bursar.Invoice) any { return &v.LinkFormat }},
	{"i.events", func(v *bursar.Invoice) any { return texts[bursar.EventKind]{&v.Events} }},
	{"i.created_at", func(v *bursar.Invoice) any { return instant{&v.CreatedAt} }},
	{"i.expires_at", func(v *bursar.Invoice) any { return instant{&v.Expires} }},
	{"i.cancelled_at", func(v *bursar.Invoice) any { return instant{&v.CancelledAt} }},
	{"i.version", func(v *bursar.Invoice) any { return &v.Recorded.Version }},
	{"i.status", func(v *bursar.Invoice) any { return &v.Recorded.Status }},
	{"i.labels", func(v *bursar.Invoice) any { return texts[bursar.ChargeLabel]{&v.Recorded.Labels} }},
	{"i.attention", func(v *bursar.Invoice) any { return &v.Recorded.Attention }},
	{"i.turns_at", func(v *bursar.Invoice) any { return instant{&v.Recorded.TurnsAt} }},
	{"i.attention_at", func(v *bursar.Invoice) any { return instant{&v.Recorded.AttentionAt} }},
	{"i.payments", func(v *bursar.Invoice) any { return &v.Count }},
	{"i.crowded", func(v *bursar.Invoice) any { return &v.Crowded }},
	{"i.link_id", func(v *bursar.Invoice) any { return &v.Link }},
	{"i.answers", func(v *bursar.Invoice) any { return asJSON{&v.Answers} }},
})

// Insert adds an invoice with what happened to it first, its options and their first quotes; the wallets of the options
// are there already.
// ErrReference is returned where the account has another charge with its reference.
func (tx Invoices) Insert(ctx context.Context, d bursar.InvoiceDetail) error {
	row, err := invoiceRow(d.Invoice)
	if err != nil {
		return err
	}
	in := insertion{what: "insert invoice", table: "invoices", rows: 1, after: ` ON CONFLICT DO NOTHING`,
		all: ErrReference}
	in.add(row)
	if err := tx.insertRows(ctx, in); err != nil {
		return err
	}
	if err := tx.insertMoments(ctx, map[int64][]bursar.InvoiceMoment{d.Number: d.Moments}); err != nil {
		return err
	}
	options := insertion{what: "insert options", table: "invoice_options", rows: len(d.Options)}
	for i, o := range d.Options {
		options.add(values{
			{"invoice", d.Number},
			{"currency", string(o.Currency)},
			{"position", i},
			{"wallet", numberOrNull(o.Wallet)},
		})
	}
	if err := tx.insertRows(ctx, options); err != nil {
		return err
	}
	for _, o := range d.Options {
		for _, q := range o.Quotes {
			if err := tx.Quote(ctx, d.Number, o.Currency, q); err != nil {
				return err
			}
		}
	}
	return nil
}

func invoiceRow(v bursar.Invoice) (values, error) {
	answers := ""
	if len(v.Answers) > 0 {
		text, err := json.Marshal(v.Answers)
		if err != nil {
			return nil, fmt.Errorf("write the answers of a payer: %w", err)
		}
		answers = string(text)
	}
	return append(values{
		{"number", v.Number},
		{"id", v.ID},
		{"account_id", v.AccountID},
		{"token", v.Token},
		{"reference", v.Reference},
		{"request", v.Request},
		{"unit", string(v.Unit.Code)},
		{"fiat", v.Unit.Fiat},
		{"decimals", v.Unit.Decimals},
		{"places", v.Unit.Places},
		{"required", v.Required},
		{"under", v.Under},
		{"over", v.Over},
		{"late", string(v.Late)},
		{"other", string(v.Other)},
		{"rate_lock", v.RateLock.Microseconds()},
		{"description", v.Description},
		{"customer", v.Customer},
		{"webhook", v.Webhook},
		{"metadata", v.Metadata},
		{"success", v.Success},
		{"failure", v.Failure},
		{"contact", v.Contact},
		{"locale", v.Locale},
		{"link_format", v.LinkFormat},
		{"events", joinText(v.Events)},
		{"created_at", micros(v.CreatedAt)},
		{"expires_at", micros(v.Expires)},
		{"link_id", v.Link},
		{"answers", answers},
	}, recordRow(v.Recorded)...), nil
}

func recordRow(r bursar.InvoiceRecord) values {
	return values{
		{"version", r.Version},
		{"status", string(r.Status)},
		{"labels", joinText(r.Labels)},
		{"attention", r.Attention},
		{"turns_at", micros(r.TurnsAt)},
		{"attention_at", micros(r.AttentionAt)},
	}
}

func numberOrNull(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

// Record records what invoices have become, each locked in this transaction, and what happened to them at their new
// versions.
func (tx Invoices) Record(ctx context.Context, invoices []bursar.Invoice,
	moments map[int64][]bursar.InvoiceMoment) error {
	u := update{what: "record invoices", table: "invoices", keys: 1}
	for _, v := range invoices {
		u.add(append(values{{"number", v.Number}}, recordRow(v.Recorded)...))
	}
	n, err := tx.updateRows(ctx, u)
	if err == nil && n < int64(len(invoices)) {
		err = fmt.Errorf("%d of %d invoices are there to be recorded", n, len(invoices))
	}
	if err != nil {
		return err
	}
	return tx.insertMoments(ctx, moments)
}

// insertMoments adds what happened to invoices, by their numbers.
func (tx Invoices) insertMoments(ctx context.Context, moments map[int64][]bursar.InvoiceMoment) error {
	in := insertion{what: "insert moments", table: "invoice_moments", after: ` ON CONFLICT DO NOTHING`}
	for _, number := range slices.Sorted(maps.Keys(moments)) {
		for _, m := range moments[number] {
			in.rows++
			in.add(values{{"invoice", number}, {"version", m.Version}, {"what", string(m.What)}, {"at", micros(m.At)}})
		}
	}
	return tx.insertRows(ctx, in)
}

// Quote adds a quote to an option.
func (tx Invoices) Quote(ctx context.Context, invoice int64, currency bursar.CurrencyCode, q bursar.Quote) error {
	query, args := values{
		{"invoice", invoice},
		{"currency", string(currency)},
		{"at", micros(q.At)},
		{"until", micros(q.Until)},
		{"rate", q.Rate.String()},
		{"source", q.Source},
		{"rate_at", micros(q.RateAt)},
	}.insertInto("invoice_quotes")
	_, err := tx.exec(ctx, "insert quote", query, args...)
	return err
}

// SetWallet gives an option its address, once.
func (tx Invoices) SetWallet(ctx context.Context, invoice int64, currency bursar.CurrencyCode, wallet int64) error {
	return tx.change(ctx, "set option's wallet", `UPDATE invoice_options SET wallet = $3
		WHERE invoice = $1 AND currency = $2 AND wallet IS NULL`, invoice, string(currency), wallet)
}

// Cancel notes when the client ended an invoice.
func (tx Invoices) Cancel(ctx context.Context, invoice int64, at time.Time) error {
	return tx.change(ctx, "cancel invoice", `UPDATE invoices SET cancelled_at = $2 WHERE number = $1 AND cancelled_at = 0`,
		invoice, micros(at))
}

// Pay adds what is known of deposits to addresses of invoices from their first sight; one that is known stays as it is.
func (tx Invoices) Pay(ctx context.Context, payments []bursar.Payment, invoices []int64) error {
	in := insertion{what: "insert payments", table: "invoice_payments", rows: len(payments),
		after: ` ON CONFLICT (deposit) DO NOTHING`}
	for i, p := range payments {
		in.add(values{
			{"deposit", p.Deposit.ID},
			{"invoice", invoices[i]},
			{"origin", string(p.Origin)},
			{"decimals", p.Decimals},
			{"places", p.Places},
			{"rate", p.Rate.String()},
			{"source", p.RateSource},
			{"rate_at", micros(p.RateAt)},
		})
	}
	return tx.insertRows(ctx, in)
}

// Resolve records what a client decided about a payment, as it is after so many reversals.
func (tx Invoices) Resolve(ctx context.Context, deposit bursar.ID, r bursar.PaymentResolution, round uint32) error {
	return tx.change(ctx, "resolve payment", `UPDATE invoice_payments SET resolution = $2, round = $3, resolved_at = $4
		WHERE deposit = $1`, deposit, string(r), int64(round), micros(tx.now))
}

// Refund records that a withdrawal refunds a payment.
func (tx Invoices) Refund(ctx context.Context, invoice int64, r bursar.InvoiceRefund) error {
	query, args := values{
		{"withdrawal", r.Withdrawal},
		{"invoice", invoice},
		{"deposit", r.Deposit},
		{"amount", r.Amount},
		{"fee", r.Fee},
		{"void", r.Void},
		{"surplus", r.Surplus},
		{"created_at", micros(tx.now)},
	}.insertInto("invoice_refunds")
	_, err := tx.exec(ctx, "insert refund", query, args...)
	return err
}

// Take notes how many payments invoices have, each locked in this transaction, and whether they had to leave some out.
func (tx Invoices) Take(ctx context.Context, v bursar.Invoice) error {
	return tx.change(ctx, "note payments of invoice", `UPDATE invoices SET payments = $2, crowded = $3 WHERE number = $1`,
		v.Number, v.Count, v.Crowded)
}

// Propose records where the payer of an invoice wants the payments of a currency refunded to, in place of what was
// named before.
func (tx Invoices) Propose(ctx context.Context, invoice int64, p bursar.RefundProposal) error {
	query, args := values{
		{"invoice", invoice},
		{"currency", string(p.Currency)},
		{"base", p.Address.Base},
		{"memo", memoValue(p.Address)},
		{"at", micros(p.At)},
		{"changes", p.Changes},
	}.insertInto("invoice_proposals")
	_, err := tx.exec(ctx, "propose refund", query+` ON CONFLICT (invoice, currency) DO UPDATE
		SET base = excluded.base, memo = excluded.memo, at = excluded.at, changes = excluded.changes`, args...)
	return err
}
