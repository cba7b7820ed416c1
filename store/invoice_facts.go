package store

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
)

// rateText is where a rate that was written as text is scanned into; an empty text is an unknown rate.
type rateText struct{ r *bursar.Rate }

func (t rateText) Scan(src any) (err error) {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("scan rate: unexpected %T", src)
	}
	*t.r = bursar.Rate{}
	if text != "" {
		*t.r, err = bursar.ParseRate(text)
	}
	return err
}

// ofInvoice is a row that belongs to an invoice.
type ofInvoice[T any] struct {
	invoice  int64
	currency bursar.CurrencyCode // of an option or a quote
	row      T
}

var optionColumns = columnsOf([]column[ofInvoice[bursar.InvoiceOption]]{
	{"o.invoice", func(o *ofInvoice[bursar.InvoiceOption]) any { return &o.invoice }},
	{"o.currency", func(o *ofInvoice[bursar.InvoiceOption]) any { return &o.row.Currency }},
	{"COALESCE(o.wallet, 0)", func(o *ofInvoice[bursar.InvoiceOption]) any { return &o.row.Wallet }},
	{"w.id", func(o *ofInvoice[bursar.InvoiceOption]) any { return &o.row.WalletID }},
	{"COALESCE(w.base, '')", func(o *ofInvoice[bursar.InvoiceOption]) any { return &o.row.Address.Base }},
	{"COALESCE(w.memo, -1)", func(o *ofInvoice[bursar.InvoiceOption]) any { return memo{&o.row.Address} }},
})

var quoteColumns = columnsOf([]column[ofInvoice[bursar.Quote]]{
	{"invoice", func(q *ofInvoice[bursar.Quote]) any { return &q.invoice }},
	{"currency", func(q *ofInvoice[bursar.Quote]) any { return &q.currency }},
	{"at", func(q *ofInvoice[bursar.Quote]) any { return instant{&q.row.At} }},
	{"until", func(q *ofInvoice[bursar.Quote]) any { return instant{&q.row.Until} }},
	{"rate", func(q *ofInvoice[bursar.Quote]) any { return rateText{&q.row.Rate} }},
	{"source", func(q *ofInvoice[bursar.Quote]) any { return &q.row.Source }},
	{"rate_at", func(q *ofInvoice[bursar.Quote]) any { return instant{&q.row.RateAt} }},
})

var paymentColumns = columnsWithin(depositColumns,
	func(p *ofInvoice[bursar.Payment]) *bursar.Deposit { return &p.row.Deposit },
	column[ofInvoice[bursar.Payment]]{"p.invoice", func(p *ofInvoice[bursar.Payment]) any { return &p.invoice }},
	column[ofInvoice[bursar.Payment]]{"p.origin", func(p *ofInvoice[bursar.Payment]) any { return &p.row.Origin }},
	column[ofInvoice[bursar.Payment]]{"p.decimals", func(p *ofInvoice[bursar.Payment]) any { return &p.row.Decimals }},
	column[ofInvoice[bursar.Payment]]{"p.places", func(p *ofInvoice[bursar.Payment]) any { return &p.row.Places }},
	column[ofInvoice[bursar.Payment]]{"p.rate", func(p *ofInvoice[bursar.Payment]) any { return rateText{&p.row.Rate} }},
	column[ofInvoice[bursar.Payment]]{"p.source", func(p *ofInvoice[bursar.Payment]) any { return &p.row.RateSource }},
	column[ofInvoice[bursar.Payment]]{"p.rate_at",
		func(p *ofInvoice[bursar.Payment]) any { return instant{&p.row.RateAt} }},
	column[ofInvoice[bursar.Payment]]{"p.resolution",
		func(p *ofInvoice[bursar.Payment]) any { return &p.row.Resolution }},
	column[ofInvoice[bursar.Payment]]{"p.round", func(p *ofInvoice[bursar.Payment]) any { return &p.row.Round }},
)

var invoiceRefundColumns = columnsOf([]column[ofInvoice[bursar.InvoiceRefund]]{
	{"r.invoice", func(r *ofInvoice[bursar.InvoiceRefund]) any { return &r.invoice }},
	{"r.withdrawal", func(r *ofInvoice[bursar.InvoiceRefund]) any { return &r.row.Withdrawal }},
	{"r.deposit", func(r *ofInvoice[bursar.InvoiceRefund]) any { return &r.row.Deposit }},
	{"w.currency", func(r *ofInvoice[bursar.InvoiceRefund]) any { return &r.row.Currency }},
	{"r.amount", func(r *ofInvoice[bursar.InvoiceRefund]) any { return &r.row.Amount }},
	{"r.fee", func(r *ofInvoice[bursar.InvoiceRefund]) any { return &r.row.Fee }},
	{"r.void", func(r *ofInvoice[bursar.InvoiceRefund]) any { return &r.row.Void }},
	{"r.surplus", func(r *ofInvoice[bursar.InvoiceRefund]) any { return &r.row.Surplus }},
	{"w.status", func(r *ofInvoice[bursar.InvoiceRefund]) any { return &r.row.Status }},
	{"r.created_at", func(r *ofInvoice[bursar.InvoiceRefund]) any { return instant{&r.row.CreatedAt} }},
})

var proposalColumns = columnsOf([]column[ofInvoice[bursar.RefundProposal]]{
	{"invoice", func(p *ofInvoice[bursar.RefundProposal]) any { return &p.invoice }},
	{"currency", func(p *ofInvoice[bursar.RefundProposal]) any { return &p.row.Currency }},
	{"base", func(p *ofInvoice[bursar.RefundProposal]) any { return &p.row.Address.Base }},
	{"memo", func(p *ofInvoice[bursar.RefundProposal]) any { return memo{&p.row.Address} }},
	{"at", func(p *ofInvoice[bursar.RefundProposal]) any { return instant{&p.row.At} }},
	{"changes", func(p *ofInvoice[bursar.RefundProposal]) any { return &p.row.Changes }},
})

var momentColumns = columnsOf([]column[ofInvoice[bursar.InvoiceMoment]]{
	{"m.invoice", func(m *ofInvoice[bursar.InvoiceMoment]) any { return &m.invoice }},
	{"m.version", func(m *ofInvoice[bursar.InvoiceMoment]) any { return &m.row.Version }},
	{"m.what", func(m *ofInvoice[bursar.InvoiceMoment]) any { return &m.row.What }},
	{"m.at", func(m *ofInvoice[bursar.InvoiceMoment]) any { return instant{&m.row.At} }},
})

// Options returns invoices with their options and quotes, in a few statements whatever their number.
func (tx Invoices) Options(ctx context.Context, invoices []bursar.Invoice) ([]bursar.InvoiceDetail, error) {
	list := make([]bursar.InvoiceDetail, len(invoices))
	for i, v := range invoices {
		list[i].Invoice = v
	}
	err := attach(ctx, tx.Tx, list, "read options", optionColumns, "o.invoice", `FROM invoice_options o
		LEFT JOIN wallets w ON w.number = o.wallet`, ` ORDER BY o.invoice, o.position`,
		func(d *bursar.InvoiceDetail, o ofInvoice[bursar.InvoiceOption]) { d.Options = append(d.Options, o.row) })
	if err != nil {
		return nil, err
	}
	return list, attach(ctx, tx.Tx, list, "read quotes", quoteColumns, "invoice", `FROM invoice_quotes`,
		` ORDER BY invoice, at`, func(d *bursar.InvoiceDetail, q ofInvoice[bursar.Quote]) {
			if o := d.Option(q.currency); o != nil {
				o.Quotes = append(o.Quotes, q.row)
			}
		})
}

// recentVersions is how many versions of an invoice are read with what happened at them. Each has a moment at least.
const recentVersions = 100

// Facts adds payments, refunds, proposals and the moments of the newest hundred versions to invoices, in a few
// statements whatever their number.
func (tx Invoices) Facts(ctx context.Context, list []bursar.InvoiceDetail) error {
	err := attach(ctx, tx.Tx, list, "read payments", paymentColumns, "p.invoice", `FROM invoice_payments p
		JOIN deposits d ON d.id = p.deposit LEFT JOIN wallets w ON w.number = d.wallet`+walletRules,
		` AND d.purpose = 'invoice' ORDER BY d.number`,
		func(d *bursar.InvoiceDetail, p ofInvoice[bursar.Payment]) { d.Payments = append(d.Payments, p.row) })
	if err != nil {
		return err
	}
	err = attach(ctx, tx.Tx, list, "read refunds", invoiceRefundColumns, "r.invoice", `FROM invoice_refunds r
		JOIN withdrawals w ON w.id = r.withdrawal`, ` ORDER BY w.number`,
		func(d *bursar.InvoiceDetail, r ofInvoice[bursar.InvoiceRefund]) { d.Refunds = append(d.Refunds, r.row) })
	if err != nil {
		return err
	}
	err = attach(ctx, tx.Tx, list, "read proposals", proposalColumns, "invoice", `FROM invoice_proposals`,
		` ORDER BY invoice, currency`, func(d *bursar.InvoiceDetail, p ofInvoice[bursar.RefundProposal]) {
			d.Proposals = append(d.Proposals, p.row)
		})
	if err != nil {
		return err
	}
	of := fmt.Sprintf(`m.invoice = i.number AND m.version > i.version - %d`, recentVersions)
	from := `FROM invoices i JOIN invoice_moments m ON ` + of
	if tx.postgres { // it would rather read all moments of all invoices and leave out what is old
		from = `FROM invoices i CROSS JOIN LATERAL (SELECT m.* FROM invoice_moments m WHERE ` + of + `
			ORDER BY m.version DESC LIMIT 1000) AS m`
	}
	return attach(ctx, tx.Tx, list, "read moments", momentColumns, "i.number", from,
		` ORDER BY m.invoice, m.version, m.at`,
		func(d *bursar.InvoiceDetail, m ofInvoice[bursar.InvoiceMoment]) { d.Moments = append(d.Moments, m.row) })
}

// Detail returns invoices with all facts about them.
func (tx Invoices) Detail(ctx context.Context, invoices []bursar.Invoice) ([]bursar.InvoiceDetail, error) {
	list, err := tx.Options(ctx, invoices)
	if err != nil {
		return nil, err
	}
	return list, tx.Facts(ctx, list)
}

// attach reads rows of invoices and gives each to its invoice.
func attach[T any](ctx context.Context, tx *Tx, list []bursar.InvoiceDetail, what string, c *columns[ofInvoice[T]],
	key, from, order string, add func(*bursar.InvoiceDetail, ofInvoice[T])) error {
	byNumber := map[int64]*bursar.InvoiceDetail{}
	var numbers []int64
	for i := range list {
		byNumber[list[i].Number] = &list[i]
		numbers = append(numbers, list[i].Number)
	}
	for part := range parts(tx, numbers) {
		those, args := among(tx, key, part)
		found, err := c.rows(ctx, tx, what, from+` WHERE `+those+order, args...)
		if err != nil {
			return err
		}
		for _, row := range found {
			add(byNumber[row.invoice], row)
		}
	}
	return nil
}
