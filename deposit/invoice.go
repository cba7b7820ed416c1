package deposit

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
)

// Prices returns what a whole unit of a currency is worth in a unit now, from memory; the zero Quote where that is not
// known. MaxAge is how long a rate counts: a payment that is read longer than that after it was first seen has no rate.
type Prices interface {
	Price(code bursar.CurrencyCode, unit bursar.Unit) bursar.Quote
	MaxAge() time.Duration
}

// InvoiceChange says what happened to an invoice.
type InvoiceChange struct {
	Invoice  int64
	What     bursar.Moment
	Deposits []bursar.ID // the payments that it happened to
}

// invoicesChanged records what deposits to addresses of invoices have become, in the transaction that changed them, and
// the events of that. Deposits of anything else are left out.
func (c Announcer) invoicesChanged(
	ctx context.Context, tx *store.Tx, what func(bursar.Deposit) bursar.Moment, deposits ...bursar.Deposit,
) error {
	of, numbers, err := invoicesOf(ctx, tx, deposits)
	if err != nil || len(numbers) == 0 {
		return err
	}
	invoices, err := tx.Invoices().LockAll(ctx, numbers)
	if err != nil {
		return err
	}
	list, err := tx.Invoices().Options(ctx, invoices)
	if err != nil {
		return err
	}
	happened, err := c.pay(ctx, tx, list, of, what, deposits)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(d bursar.InvoiceDetail) bool { // nothing happened to it
		return !slices.ContainsFunc(happened, func(h InvoiceChange) bool { return h.Invoice == d.Number })
	})
	if err := tx.Invoices().Facts(ctx, list); err != nil {
		return err
	}
	return c.advance(ctx, tx, list, happened)
}

// invoicesOf returns the invoices of deposits by their wallets, and the numbers of these invoices in their order.
func invoicesOf(
	ctx context.Context, tx *store.Tx, deposits []bursar.Deposit,
) (of map[bursar.ID]int64, numbers []int64, err error) {
	var wallets []bursar.ID
	for _, d := range deposits {
		if d.Purpose == bursar.ForInvoice && !slices.Contains(wallets, d.WalletID) {
			wallets = append(wallets, d.WalletID)
		}
	}
	if len(wallets) == 0 {
		return nil, nil, nil
	}
	if of, err = tx.Invoices().OfWallets(ctx, wallets); err == nil && len(of) < len(wallets) {
		err = fmt.Errorf("%d of %d invoices are not recorded", len(wallets)-len(of), len(wallets))
	}
	for _, n := range of {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return of, slices.Compact(numbers), err
}

// payment returns what is known of a deposit now. A rate that is not of the moment of its first sight is no rate: the
// payment waits for a person, since nothing is guessed.
func (c Announcer) payment(
	v *bursar.InvoiceDetail, d bursar.Deposit, currency bursar.Currency, now time.Time,
) bursar.Payment {
	p := bursar.Payment{Deposit: d, Decimals: currency.Decimals, Places: currency.Places, Origin: c.origin(v, d)}
	if o := v.Option(d.Currency); o != nil && p.Origin == bursar.PaidAsAsked {
		if q, locked := o.At(d.SeenAt); locked {
			p.Rate, p.RateSource, p.RateAt = q.Rate, q.Source, q.RateAt
			return p
		}
	}
	if c.Prices == nil || !v.Unit.Fiat || now.Sub(d.SeenAt) > c.Prices.MaxAge() {
		return p
	}
	q := c.Prices.Price(d.Currency, v.Unit)
	p.Rate, p.RateSource, p.RateAt = q.Rate, q.Source, q.RateAt
	return p
}

// payInvoices returns those deposits that are each all that their invoice asked for. It locks nothing: the terms of an
// invoice and the rate of a payment never change.
func payInvoices(ctx context.Context, tx *store.Tx, deposits []bursar.Deposit) (map[bursar.ID]bool, error) {
	var ids []bursar.ID
	for _, d := range deposits {
		if d.Purpose == bursar.ForInvoice {
			ids = append(ids, d.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	asked, err := tx.Invoices().Asked(ctx, ids)
	pay := map[bursar.ID]bool{}
	for _, d := range deposits {
		a, known := asked[d.ID]
		if !known || a.Origin != bursar.PaidAsAsked || !a.Rate.IsKnown() {
			continue
		}
		value, err := a.Rate.Value(d.Amount, bursar.Currency{Decimals: a.Payment.Decimals}, a.Unit)
		pay[d.ID] = err == nil && !value.Less(a.Required.SubOrZero(a.Under))
	}
	return pay, err
}

// origin says how a deposit relates to what was asked for at its address.
func (c Announcer) origin(v *bursar.InvoiceDetail, d bursar.Deposit) bursar.PaymentOrigin {
	for _, o := range v.Options {
		if o.WalletID != d.WalletID || o.Currency == d.Currency {
			continue
		}
		if asked, err := c.Registry.Get(o.Currency); err == nil && asked.Chain == d.Chain {
			return bursar.PaidOtherAsset
		}
		return bursar.PaidOnOtherNet
	}
	return bursar.PaidAsAsked
}

// Advance records what invoices have become, which the caller has locked and changed in this transaction, and the
// events of that. The numbers are those of the invoices, each once.
func (c Announcer) Advance(ctx context.Context, tx *store.Tx, happened ...InvoiceChange) error {
	var numbers []int64
	for _, h := range happened {
		numbers = append(numbers, h.Invoice)
	}
	slices.Sort(numbers)
	invoices, err := tx.Invoices().LockAll(ctx, slices.Compact(numbers))
	if err != nil {
		return err
	}
	list, err := tx.Invoices().Detail(ctx, invoices)
	if err != nil {
		return err
	}
	return c.advance(ctx, tx, list, happened)
}

// advance raises the version of invoices by one, and records their state at it.
func (c Announcer) advance(
	ctx context.Context, tx *store.Tx, list []bursar.InvoiceDetail, happened []InvoiceChange,
) error {
	now := tx.Now()
	var events []bursar.Event
	to := changesByInvoice(happened)
	invoices, moments := make([]bursar.Invoice, len(list)), map[int64][]bursar.InvoiceMoment{}
	for i := range list {
		v := &list[i]
		before, turned := v.Recorded, v.Recorded.Turned(now)
		after := v.State(now)
		v.Recorded = bursar.InvoiceRecord{
			Version:   v.Version(now) + 1,
			Status:    after.Status,
			Labels:    after.Labels,
			Attention: after.Attention,
			TurnsAt:   after.TurnsAt,
		}
		if after.Attention {
			v.Recorded.AttentionAt = before.AttentionAt
			if !before.Attention || before.AttentionAt.IsZero() {
				v.Recorded.AttentionAt = now
			}
		}
		what, changed := to[v.Number].what, to[v.Number].deposits
		if turned && len(what) == 1 && what[0] == bursar.MomentExpired {
			v.Recorded.Version-- // the clock alone turned it, and that version was shown already
		}
		for _, w := range what {
			moments[v.Number] = append(moments[v.Number], bursar.InvoiceMoment{Version: v.Recorded.Version, At: now, What: w})
		}
		v.Moments = append(v.Moments, moments[v.Number]...)
		invoices[i] = v.Invoice
		some, err := c.invoiceEvents(v, after, after.Events(before, what, changed, v.Invoice), now)
		if err != nil {
			return err
		}
		events = append(events, some...)
	}
	if err := tx.Invoices().Record(ctx, invoices, moments); err != nil {
		return err
	}
	return c.record(ctx, tx, events)
}

// changes is what happened to an invoice, each kind once, and the payments to which it happened.
type changes struct {
	what     []bursar.Moment
	deposits []bursar.ID
}

// changesByInvoice returns what happened by the numbers of the invoices.
func changesByInvoice(happened []InvoiceChange) map[int64]changes {
	to := map[int64]changes{}
	for _, h := range happened {
		all := to[h.Invoice]
		if !slices.Contains(all.what, h.What) {
			all.what = append(all.what, h.What)
		}
		all.deposits = append(all.deposits, h.Deposits...)
		to[h.Invoice] = all
	}
	return to
}

func (c Announcer) invoiceEvents(
	v *bursar.InvoiceDetail, s bursar.InvoiceState, kinds []bursar.EventKind, now time.Time,
) (events []bursar.Event, err error) {
	for _, kind := range kinds {
		e, err := wire.InvoiceEvent(c.IDs.Next(), kind, v, s, c.Registry, now)
		if err != nil {
			return nil, fmt.Errorf("event about charge %s: %w", v.ID, err)
		}
		events = append(events, e)
	}
	return events, nil
}

// withoutInvoices returns the deposits that are not of invoices.
func withoutInvoices(deposits []bursar.Deposit) []bursar.Deposit {
	return slices.DeleteFunc(slices.Clone(deposits), func(d bursar.Deposit) bool { return d.Purpose == bursar.ForInvoice })
}

// sameMoment returns a function that gives the same moment for every deposit.
func sameMoment(m bursar.Moment) func(bursar.Deposit) bursar.Moment {
	return func(bursar.Deposit) bursar.Moment { return m }
}

// RefundEnded records that a withdrawal ended unpaid, or that this was undone, where it refunds a payment of an
// invoice: what was not paid is in the balance again, and may be refunded again.
func (c Announcer) RefundEnded(ctx context.Context, tx *store.Tx, withdrawal bursar.ID) error {
	n, err := tx.Invoices().OfRefund(ctx, withdrawal)
	if err != nil || n == 0 {
		return err
	}
	return c.Advance(ctx, tx, InvoiceChange{Invoice: n, What: bursar.MomentUnrefund})
}
