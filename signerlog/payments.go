package signerlog

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// unlike says how an entry pays otherwise than a request of the books; empty: it does not.
func (c *comparison) unlike(e *entry, request chain.TxRequest) string {
	if e.Kind == chain.KindSweep || e.Kind == chain.KindConsolidation {
		// The fee is taken out of what it moves, and a sweep that hangs gives its nonce to one of another asset.
		for _, p := range e.Payments {
			if !slices.ContainsFunc(request.Payments, func(q chain.Payment) bool { return q.Address == p.Address }) {
				return c.paid("it pays", e, p) + ", which the books do not ask for"
			}
		}
		return ""
	}
	if absent := missing(e.Payments, request.Payments); len(absent) > 0 {
		return c.paid("the books ask for", e, absent[0]) + ", which it does not pay"
	}
	rest := missing(request.Payments, e.Payments)
	if e.Home == "" { // an earlier release did not note where the rest returns to
		if len(rest) > 1 {
			return c.paid("it pays", e, rest[0]) + ", which the books do not ask for"
		}
		return ""
	}
	for _, p := range rest {
		if (p.Address != bursar.Address{Base: e.Home}) {
			return c.paid("it pays", e, p) + ", which the books do not ask for"
		}
	}
	return ""
}

func (c *comparison) paid(what string, e *entry, p chain.Payment) string {
	return fmt.Sprintf("%s %s to %s", what, c.text(e.Chain, p.Contract, p.Amount), p.Address)
}

// missing returns those payments of wanted that are not in list, each as often as it is there too seldom.
func missing(list, wanted []chain.Payment) (absent []chain.Payment) {
	left := map[chain.Payment]int{}
	for _, p := range list {
		left[p]++
	}
	for _, p := range wanted {
		if left[p]--; left[p] < 0 {
			absent = append(absent, p)
		}
	}
	return absent
}

// pays compares what a transaction pays with the withdrawals and refunds that the books settle with it, whose seals it
// checks. Not known: one of them is not as it was sealed.
func (c *comparison) pays(tx *store.Tx, e *entry, p bursar.OutgoingTx) (known bool, err error) {
	if e.Kind != chain.KindWithdrawal {
		return true, nil
	}
	paid, err := paidBy(e, p)
	if err != nil {
		return false, err
	}
	booked, err := c.booked(tx, p)
	if err != nil {
		return false, c.altered(e, p, err)
	}
	if absent := missing(booked, paid); len(absent) > 0 {
		c.differs(OtherPayments, e, p.TxID, "%s, which is no withdrawal or refund of the books",
			c.paid("it pays", e, absent[0]))
	}
	if absent := missing(paid, booked); len(absent) > 0 {
		c.differs(OtherPayments, e, p.TxID, "%s, which was not signed for it", c.paid("the books pay with it", e, absent[0]))
	}
	return true, nil
}

// paidBy returns what a transaction pays to others.
func paidBy(e *entry, p bursar.OutgoingTx) ([]chain.Payment, error) {
	if e.Home != "" {
		return outside(e.SignedEntry), nil
	}
	request, err := outgoing.DecodeRequest(p) // an earlier release: the rest is what the request does not have
	return request.Payments, err
}

// settled is pays of a transaction that counts, and adds up both sides once it is final.
func (c *comparison) settled(tx *store.Tx, e *entry, p bursar.OutgoingTx) error {
	if known, err := c.pays(tx, e, p); err != nil || !known {
		return err
	}
	paid, err := paidBy(e, p)
	if err != nil {
		return err
	}
	if p.Height == 0 || p.Status != bursar.OutgoingFinal {
		return nil
	}
	for _, q := range paid {
		switch e.Kind {
		case chain.KindToCold:
			c.add(e.Chain, q, func(s *Sum) *bursar.Amount { return &s.ColdByLog })
		case chain.KindWithdrawal:
			c.add(e.Chain, q, func(s *Sum) *bursar.Amount { return &s.PaidByLog })
		}
	}
	return c.addBooks(tx, p)
}

// altered turns the error of a row that is not as it was sealed into a difference.
func (c *comparison) altered(e *entry, p bursar.OutgoingTx, err error) error {
	if !errors.Is(err, store.ErrAltered) {
		return err
	}
	c.differs(Altered, e, p.TxID, "a withdrawal or refund that it pays is not as it was requested: %v", err)
	return nil
}

// booked returns the payments that the books settled with an outgoing transaction. The error may be store.ErrAltered.
func (c *comparison) booked(tx *store.Tx, p bursar.OutgoingTx) (list []chain.Payment, err error) {
	withdrawals, err := tx.Withdrawals().PaidBy(c.ctx, p.ID)
	if err != nil {
		return nil, err
	}
	request, err := outgoing.DecodeRequest(p)
	if err != nil {
		return nil, err
	}
	requested := ""
	if len(request.Payments) > 0 {
		requested = request.Payments[0].Contract // one transaction pays one currency
	}
	for _, w := range withdrawals {
		list = append(list, chain.Payment{Address: w.Address, Contract: c.contractOf(w.Currency, p.Chain, requested),
			Amount: w.Amount})
	}
	refund, err := tx.Resolutions().RefundPaidBy(c.ctx, p.ID)
	if errors.Is(err, store.ErrNotFound) {
		return list, nil
	}
	return append(list, chain.Payment{Address: refund.Address, Contract: c.contractOf(refund.Currency, p.Chain, requested),
		Amount: refund.Amount}), err
}

// contractOf returns the contract of a currency that was ordered, for a transaction of a chain that pays a contract. A
// currency that is not configured any more is taken for what the transaction pays, unless that is another one.
//
// The attack: what is signed and booked for a withdrawal is as many units of a currency that is worth more.
func (c *comparison) contractOf(code bursar.CurrencyCode, id bursar.ChainID, requested string) string {
	ordered, err := c.registry.Get(code)
	if err == nil && ordered.Chain == id {
		return ordered.Contract
	}
	if _, another := c.registry.Asset(id, requested); err != nil && !another {
		return requested
	}
	return string(code) // which is no contract of the chain
}

// addBooks adds what the books say that an outgoing transaction paid.
func (c *comparison) addBooks(tx *store.Tx, p bursar.OutgoingTx) error {
	switch chain.Kind(p.Kind) {
	case chain.KindWithdrawal:
		booked, err := c.booked(tx, p)
		if errors.Is(err, store.ErrAltered) {
			return nil // which is a difference already, and makes the totals differ
		}
		for _, q := range booked {
			c.add(p.Chain, q, func(s *Sum) *bursar.Amount { return &s.PaidByBooks })
		}
		return err
	case chain.KindToCold:
		request, err := outgoing.DecodeRequest(p)
		for _, q := range request.Payments {
			c.add(p.Chain, q, func(s *Sum) *bursar.Amount { return &s.ColdByBooks })
		}
		return err
	}
	return nil
}

// add adds a payment to a sum of its currency. What cannot be added stays at the highest amount there is.
func (c *comparison) add(id bursar.ChainID, p chain.Payment, to func(*Sum) *bursar.Amount) {
	of := asset{id, p.Contract}
	if c.sums[of] == nil {
		c.sums[of] = &Sum{Chain: id, Contract: p.Contract}
	}
	into := to(c.sums[of])
	if sum, err := into.Add(p.Amount); err == nil {
		*into = sum
	}
}

// total compares the sums.
func (c *comparison) total() {
	for _, s := range c.sums {
		c.report.Sums = append(c.report.Sums, *s)
	}
	slices.SortFunc(c.report.Sums, func(a, b Sum) int {
		return cmp.Or(cmp.Compare(a.Chain, b.Chain), cmp.Compare(a.Contract, b.Contract))
	})
	for _, s := range c.report.Sums {
		for _, of := range []struct {
			what       string
			log, books bursar.Amount
		}{{"paid to others", s.PaidByLog, s.PaidByBooks}, {"paid to cold wallets", s.ColdByLog, s.ColdByBooks}} {
			if of.log != of.books {
				c.differ(Difference{Kind: OtherTotal, Chain: s.Chain, Message: fmt.Sprintf("by the log %s was %s, and by the "+
					"books %s", c.text(s.Chain, s.Contract, of.log), of.what, c.text(s.Chain, s.Contract, of.books))})
			}
		}
	}
}
