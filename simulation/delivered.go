package main

import (
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// tokenKeeps is how many millionths (ppm) of each transfer a token keeps while it takes a fee.
const tokenKeeps = 1000

// reach identifies what one transaction delivered to one address of an asset.
type reach struct {
	chain          bursar.ChainID
	txID           string
	base, contract string
}

// reach adds a transfer.
func (m *model) reach(id bursar.ChainID, t chain.Transfer) error {
	k := reach{id, t.TxID, t.Address.Base, t.Contract}
	sum, err := m.reached[k].Add(t.Amount)
	m.reached[k] = sum
	return err
}

// delivered returns what the chain has delivered to the receiver of a withdrawal: nothing for one that is not
// confirmed, and the whole amount for a confirmed one. A token that keeps a part delivers only the rest, and only if
// the service has noticed and halted the currency: the customer is debited for what arrived and is refunded the rest.
func (h *history) delivered(m *model, o *order, w bursar.Withdrawal) (bursar.Amount, error) {
	paid := w.Status == bursar.WithdrawalConfirmed
	got := m.reached[reach{o.currency.Chain, w.TxID, o.to.Base, o.currency.Contract}]
	if !paid {
		got = bursar.Amount{}
	}
	holds := h.Chain(o.currency.Chain).Balance(o.to.Base, o.currency.Contract)
	wrong := fmt.Errorf("withdrawal %s of %s is %s and its receiver holds %s", o.id, o.amount, w.Status, holds)
	switch {
	case h.paidUndone(o, w, holds):
		return got, nil
	case o.inside == nil && holds != got:
		return got, wrong
	case !paid:
		return got, nil
	case !o.currency.IsToken():
		if o.inside == nil && got != o.amount {
			return got, wrong
		}
		return o.amount, nil // a batch may pay one wallet twice
	case got == o.amount:
		return got, nil
	}
	kept, err := o.amount.Mul(tokenKeeps)
	if err != nil {
		return got, err
	}
	kept, _ = kept.Div(1_000_000)
	if kept.IsZero() || got != o.amount.SubOrZero(kept) {
		return got, wrong
	}
	return got, h.noticedShort(o, w)
}

// noticedShort checks that the service halted a currency when its token did not deliver a payment whole.
func (h *history) noticedShort(o *order, w bursar.Withdrawal) error {
	return h.DB.View(h.ctx, func(tx *store.Tx) error {
		events, err := tx.Halts().Events(h.ctx, 10_000)
		if err != nil {
			return err
		}
		for _, e := range events {
			currency := e.Scope == store.HaltCurrency(o.currency.Code)
			if currency && e.Kind == store.HaltByShortPayout && e.Ref == w.OutgoingID.String() {
				return nil
			}
		}
		return fmt.Errorf("withdrawal %s was not delivered whole and %s was never halted", w.ID, o.currency.Code)
	})
}
