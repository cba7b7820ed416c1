package deposit

import (
	"context"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// pay notes what is known of deposits at their first sight: how they were paid, and their rate. What is noted already
// stays. It returns what happened to which invoice. A deposit for which an invoice has no place happens to none: it is
// credited as any other, at a cost that does not grow with the number of such deposits.
func (c Announcer) pay(ctx context.Context, tx *store.Tx, list []bursar.InvoiceDetail, of map[bursar.ID]int64,
	what func(bursar.Deposit) bursar.Moment, deposits []bursar.Deposit) (happened []InvoiceChange, err error) {
	ours := slices.DeleteFunc(slices.Clone(deposits),
		func(d bursar.Deposit) bool { return d.Purpose != bursar.ForInvoice })
	ids := make([]bursar.ID, len(ours))
	for i, d := range ours {
		ids[i] = d.ID
	}
	known, err := tx.Invoices().Asked(ctx, ids)
	if err != nil {
		return nil, err
	}
	r, err := c.capacityOf(ctx, tx, list)
	if err != nil {
		return nil, err
	}
	for _, d := range ours {
		number, moment := of[d.WalletID], what(d)
		if _, is := known[d.ID]; !is && !r.take(r.invoices[number], d, moment) {
			continue
		}
		happened = append(happened, InvoiceChange{Invoice: number, What: moment, Deposits: []bursar.ID{d.ID}})
	}
	for _, v := range r.changed {
		if err := tx.Invoices().Take(ctx, v.Invoice); err != nil {
			return nil, err
		}
	}
	for _, number := range r.crowded {
		happened = append(happened, InvoiceChange{Invoice: number, What: bursar.MomentLeftOut})
	}
	return happened, tx.Invoices().Pay(ctx, r.payments, r.of)
}

// capacity says which deposits become payments of invoices.
type capacity struct {
	credits  Announcer
	tx       *store.Tx
	invoices map[int64]*bursar.InvoiceDetail
	due      map[int64]bursar.Amount // of those that have many payments

	payments []bursar.Payment
	of       []int64
	changed  []*bursar.InvoiceDetail
	crowded  []int64 // that left a deposit out for the first time
}

// capacityOf reads what is due of invoices that have many payments.
func (c Announcer) capacityOf(ctx context.Context, tx *store.Tx, list []bursar.InvoiceDetail) (*capacity, error) {
	r := &capacity{credits: c, tx: tx, invoices: map[int64]*bursar.InvoiceDetail{}, due: map[int64]bursar.Amount{}}
	var full []bursar.InvoiceDetail
	for i := range list {
		r.invoices[list[i].Number] = &list[i]
		if list[i].Count >= bursar.FreePayments && list[i].Count < bursar.MaxPayments {
			full = append(full, list[i])
		}
	}
	if len(full) == 0 {
		return r, nil
	}
	if err := tx.Invoices().Facts(ctx, full); err != nil {
		return nil, err
	}
	for i := range full {
		r.due[full[i].Number] = full[i].State(tx.Now()).Due
	}
	return r, nil
}

// take makes a deposit a payment, unless its invoice has no place for it.
func (r *capacity) take(v *bursar.InvoiceDetail, d bursar.Deposit, moment bursar.Moment) bool {
	currency, err := r.credits.Registry.Get(d.Currency)
	if v == nil || err != nil {
		return false // it is not configured any more, so its first sight was noted before
	}
	p := r.credits.payment(v, d, currency, r.tx.Now())
	var value bursar.Amount
	if p.Rate.IsKnown() && (p.Origin == bursar.PaidAsAsked || v.Other == bursar.HandlingAccept) {
		if value, err = p.Rate.Value(d.Amount, currency, v.Unit); err != nil {
			value = v.Required // more than an amount can be
		}
	}
	comes := moment == bursar.MomentSeen || moment == bursar.MomentCredited
	switch {
	case v.Takes(value, r.due[v.Number]) && (comes || v.Count < bursar.FreePayments):
		v.Count++
		r.payments, r.of = append(r.payments, p), append(r.of, v.Number)
	case comes && !v.Crowded:
		v.Crowded = true
		r.crowded = append(r.crowded, v.Number)
	default:
		return false
	}
	if !slices.Contains(r.changed, v) {
		r.changed = append(r.changed, v)
	}
	return len(r.payments) > 0 && r.payments[len(r.payments)-1].Deposit.ID == d.ID
}
