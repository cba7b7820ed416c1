package main

import (
	"context"
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/reconcile"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/treasury"
)

// drawn is some of the operator's own that they ordered, to an address of which no other order knows. Whether the order
// was taken may not be known.
type drawn struct {
	currency bursar.Currency
	amount   bursar.Amount
	to       string
}

// treasury has the operator take some of their own, as `bursar treasury withdraw` does, to an address that they have
// listed.
func (h *history) treasury(e Event) {
	h.requests++
	currency := h.currency(e.B)
	c := h.Chain(currency.Chain)
	d := &drawn{currency: currency, amount: bursar.Units(1000 + uint64(e.C)%(2*bursartest.Unit)),
		to: c.Named(fmt.Sprint("cold ", h.requests))}
	p := h.process(e.A)
	outcome := p.Do("treasury", e.Interrupts, func(ctx context.Context) error {
		if err := p.Service.Treasury.Open(ctx); err != nil {
			return err
		}
		if err := p.Change(ctx, func(tx *store.Tx) error { return h.listCold(ctx, tx, p, d) }); err != nil {
			return err
		}
		h.drawn = append(h.drawn, d)
		_, err := p.Service.Treasury.Withdraw(ctx, treasury.Order{
			Currency: currency.Code,
			Amount:   currency.Exact(d.amount),
			To:       d.to,
			Reason:   "a test",
			Actor:    "operator",
		})
		if err == nil {
			h.fail(h.operatorsOwn(currency))
		}
		return err
	})
	h.log("  the treasury pays %s of %s to %s: %s", d.amount, currency.Code, d.to, outcome)
}

// listCold lists an address for the treasury, as one whose hold has passed.
func (h *history) listCold(ctx context.Context, tx *store.Tx, p *bursartest.Process, d *drawn) error {
	before := tx.Now().Add(-24 * time.Hour)
	_, _, err := tx.Destinations().Insert(ctx, bursar.Destination{
		ID:         p.Service.IDs.Next(),
		AccountID:  treasury.Account,
		Family:     h.Chain(d.currency.Chain).Capabilities().Family,
		Currency:   d.currency.Code,
		Address:    bursar.Address{Base: d.to},
		Label:      d.to,
		CreatedAt:  before,
		UsableFrom: before,
	})
	return err
}

// operatorsOwn insists that what is owed to customers is there, after some of the operator's own was taken, where
// nothing has cost the operator more than they had.
func (h *history) operatorsOwn(currency bursar.Currency) error {
	if h.restored > 0 || h.stolen > 0 || h.edited != nil || h.lied || h.unruly || h.reorged {
		return nil
	}
	c := h.Chain(currency.Chain)
	r := reconcile.Reconciler{DB: h.DB, Chain: sim.Real{Chain: c}, Registry: h.Registry, Hot: h.Hot(currency.Chain).Base}
	lines, err := r.Run(h.ctx)
	if err != nil {
		return nil // what is recorded is not on the chain any more
	}
	for _, l := range lines {
		if l.Currency == currency.Code && l.Custody.Less(l.Liabilities) {
			return fmt.Errorf("the treasury took of what is customers': %+v", l)
		}
	}
	return nil
}

// drawnHolds insists that no order of the treasury was paid more than once, nor more than it says.
func (h *history) drawnHolds() error {
	for _, d := range h.drawn {
		if got := h.Chain(d.currency.Chain).Balance(d.to, d.currency.Contract); d.amount.Less(got) {
			return fmt.Errorf("the treasury pays %s of %s to %s, which holds %s", d.amount, d.currency.Code, d.to, got)
		}
	}
	return nil
}

// drawnPaid insists that in the end every order of the treasury that the database knows is paid exactly or has ended,
// and that no other one was paid.
func (h *history) drawnPaid() error {
	list, err := h.process(0).Service.Withdrawals.List(h.ctx, treasury.Account, store.Page{Limit: 1000})
	if err != nil {
		return err
	}
	known := map[string]bursar.Withdrawal{}
	for _, w := range list {
		known[w.Address.Base] = w
	}
	for _, d := range h.drawn {
		got := h.Chain(d.currency.Chain).Balance(d.to, d.currency.Contract)
		w, taken := known[d.to]
		paid := taken && w.Status == bursar.WithdrawalConfirmed
		short := d.currency.IsToken() && h.unruly
		if paid && got != d.amount && !short || !paid && !got.IsZero() && (taken || h.restored == 0) {
			return fmt.Errorf("the treasury's order of %s %s to %s is %q, and it holds %s", d.amount, d.currency.Code, d.to,
				w.Status, got)
		}
	}
	return nil
}
