package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// asset is one customer's balance.
type asset struct {
	customer int
	code     bursar.CurrencyCode
}

// model is what the books must say at the end, computed from the chains' blocks and the customers' withdrawals alone.
type model struct {
	balances map[asset]*big.Int
	credits  []credit
	reached  map[reach]bursar.Amount // what each outgoing transaction delivered to which address
}

// credit is a deposit that must be credited, and be known to its receiver.
type credit struct {
	wallet *wallet
	txID   string
	output uint32
}

// watchAll makes a chain show everything.
type watchAll struct{}

// Pays returns true.
func (watchAll) Pays(string) bool { return true }

// Sent returns false.
func (watchAll) Sent(string) bool { return false }

func value(a bursar.Amount) *big.Int {
	n, _ := new(big.Int).SetString(a.String(), 10)
	return n
}

func (m *model) add(customer int, code bursar.CurrencyCode, a bursar.Amount, sign int64) {
	k := asset{customer, code}
	if m.balances[k] == nil {
		m.balances[k] = new(big.Int)
	}
	m.balances[k].Add(m.balances[k], new(big.Int).Mul(value(a), big.NewInt(sign)))
}

func (m *model) deposit(customer int, currency bursar.Currency, amount bursar.Amount) {
	m.add(customer, currency.Code, amount.SubOrZero(currency.DepositFee.Within(amount)), 1)
}

// expected computes the model of what has happened.
func (h *history) expected() (*model, error) {
	m := &model{balances: map[asset]*big.Int{}, reached: map[reach]bursar.Amount{}}
	var err error
	if h.lost, err = h.forgotten(); err != nil {
		return nil, err
	}
	for _, c := range h.Chains {
		blocks, err := c.After(h.ctx, c.Genesis(), 1<<20, everything{watchAll{}})
		if err != nil {
			return nil, err
		}
		ours := h.stays(c.Capabilities().ID)
		for _, b := range blocks {
			for _, t := range b.Transfers {
				if err := m.reach(c.Capabilities().ID, t); err != nil {
					return nil, err
				}
				if ours[t.TxID] {
					continue
				}
				if err := h.arrived(m, c.Capabilities().ID, t); err != nil {
					return nil, err
				}
			}
		}
	}
	return m, h.ordersIn(m)
}

// stays lists the outgoing transactions that are no deposit of any wallet.
func (h *history) stays(id bursar.ChainID) map[string]bool {
	ours := map[string]bool{}
	for _, s := range h.Signed {
		if s.Chain == id && s.Request.Kind != chain.KindWithdrawal {
			ours[s.TxID] = true
		}
	}
	return ours
}

// arrived adds a transfer to the customer who must be credited with it.
func (h *history) arrived(m *model, id bursar.ChainID, t chain.Transfer) error {
	currency, known := h.Registry.Asset(id, t.Contract)
	if !known {
		return nil
	}
	for _, w := range h.wallets {
		if h.lost[w.id] && w.address == t.Address && !h.found(t) {
			return fmt.Errorf("transfer %s %d to wallet %s, which an older database has forgotten, is not found", t.TxID,
				t.Output, w.id)
		}
		if !h.lost[w.id] && w.currency.Code == currency.Code && w.address == t.Address {
			if !t.Amount.Less(currency.Minimum) {
				m.deposit(w.customer, currency, t.Amount)
				m.credits = append(m.credits, credit{w, t.TxID, t.Output})
			}
			return nil
		}
	}
	for _, d := range h.decided {
		if d.TxID == t.TxID && d.Output == t.Output && d.Address == t.Address && d.Contract == t.Contract &&
			d.Purpose == bursar.ForAccount {
			for i, customer := range h.Template.Customers {
				if customer.ID == d.AccountID {
					m.deposit(i, currency, t.Amount)
				}
			}
		}
	}
	return nil
}

// found reports whether the service knows a transfer as unattributed.
func (h *history) found(t chain.Transfer) bool {
	return slices.ContainsFunc(h.decided, func(d bursar.Deposit) bool { return d.TxID == t.TxID && d.Output == t.Output })
}

// forgotten lists the wallets that an older database does not know.
func (h *history) forgotten() (map[bursar.ID]bool, error) {
	lost := map[bursar.ID]bool{}
	if h.restored == 0 {
		return lost, nil
	}
	return lost, h.DB.View(h.ctx, func(tx *store.Tx) error {
		for _, w := range h.wallets {
			_, err := tx.Wallets().ByID(h.ctx, w.id)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			lost[w.id] = err != nil
		}
		return nil
	})
}

// ordersIn subtracts what was paid, and adds what was paid internally.
func (h *history) ordersIn(m *model) error {
	for _, o := range h.orders {
		w, err := h.withdrawal(o)
		if errors.Is(err, store.ErrNotFound) && h.restored > 0 {
			continue // the database has forgotten it; it was paid once at most, or its money was never sent
		}
		if err != nil {
			return err
		}
		paid, got := w.Status == bursar.WithdrawalConfirmed, o.amount
		if o.inside == nil || w.TxID != bursar.TransferHash(w.ID) && paid {
			if got, err = h.delivered(m, o, w); err != nil {
				return err
			}
		} else if paid {
			m.deposit(o.inside.customer, o.currency, o.amount)
			m.credits = append(m.credits, credit{o.inside, w.TxID, 0})
		}
		if paid {
			m.add(o.customer, o.currency.Code, got, -1)
			m.add(o.customer, o.currency.Code, o.fee, -1)
		}
		if w.Amount != o.amount || w.Fee != o.fee {
			return fmt.Errorf("withdrawal %s was ordered as %s with a fee of %s and is %s with %s", o.id, o.amount, o.fee,
				w.Amount, w.Fee)
		}
	}
	return nil
}

func (h *history) withdrawal(o *order) (w bursar.Withdrawal, err error) {
	err = h.DB.View(h.ctx, func(tx *store.Tx) error {
		w, err = tx.Withdrawals().Get(h.ctx, h.Template.Customers[o.customer].ID, o.id)
		return err
	})
	if err != nil {
		return w, fmt.Errorf("withdrawal %s: %w", o.id, err)
	}
	return w, nil
}

// everything is a watch list that matches every address.
type everything struct{ watchAll }

// Sync does nothing.
func (everything) Sync(context.Context) error { return nil }
