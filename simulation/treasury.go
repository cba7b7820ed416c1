package main

import (
	"context"
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/replicas"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/reconcile"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/treasury"
)

// drawn is a withdrawal of operator funds, to an address that no other withdrawal pays. Whether it was accepted may
// not be known.
type drawn struct {
	currency bursar.Currency
	amount   bursar.Amount
	to       string
}

// treasury makes the operator withdraw operator funds, as `bursar treasury withdraw` does, to an address that they
// have listed.
func (h *history) treasury(e Event) {
	h.requests++
	currency := h.currency(e.B)
	c := h.Chain(currency.Chain)
	d := &drawn{currency: currency, amount: bursar.Units(1000 + uint64(e.C)%(2*replicas.Unit)),
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
		_, err := p.Service.Treasury.Withdraw(ctx, treasury.Request{
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

// listCold lists an address for the treasury whose waiting period is over.
func (h *history) listCold(ctx context.Context, tx *store.Tx, p *replicas.Process, d *drawn) error {
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

// operatorsOwn checks that what customers own is there after operator funds were withdrawn, unless something has cost
// the operator more than they had.
func (h *history) operatorsOwn(currency bursar.Currency) error {
	if h.restored > 0 || h.stolen > 0 || h.edited != nil || h.lied || h.unruly || h.reorged {
		return nil
	}
	c := h.Chain(currency.Chain)
	r := reconcile.Reconciler{DB: h.DB, Chain: sim.Real{Chain: c}, Registry: h.Registry, Hot: h.Hot(currency.Chain).Base,
		Old: h.Olds(currency.Chain)}
	lines, err := r.Run(h.ctx)
	if err != nil {
		return nil // what is recorded is not on the chain any more
	}
	for _, l := range lines {
		if l.Currency == currency.Code && l.Custody.Less(l.Liabilities) {
			return fmt.Errorf("the treasury took what customers own: %+v", l)
		}
	}
	return nil
}

// drawnHolds checks that no withdrawal of the treasury was paid more than once, nor more than its amount.
func (h *history) drawnHolds() error {
	for _, d := range h.drawn {
		if got := h.Chain(d.currency.Chain).Balance(d.to, d.currency.Contract); d.amount.Less(got) {
			return fmt.Errorf("the treasury pays %s of %s to %s, which holds %s", d.amount, d.currency.Code, d.to, got)
		}
	}
	return nil
}

// drawnPaid checks that at the end every withdrawal of the treasury that the database knows is paid exactly or has
// ended, and that no other one was paid.
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
			return fmt.Errorf("the treasury's withdrawal of %s %s to %s is %q, and it holds "+
				"%s", d.amount, d.currency.Code, d.to,
				w.Status, got)
		}
	}
	return nil
}
