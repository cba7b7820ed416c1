package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/replicas"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/reconcile"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/treasury"
)

// evaluate checks a history that came to rest against everything that must be true of it.
func (h *history) evaluate() error {
	h.observe(0)
	h.decided = h.unattributed(true)
	m, err := h.expected()
	if err != nil {
		return err
	}
	h.logEnd()
	for _, holds := range []func() error{h.chainsHold, h.custodyHolds, h.reconciled, h.nothingHeld, h.nothingHalted,
		h.refundsHold, h.drawnPaid, h.screeningHolds,
		func() error {
			return h.balancesHold(m)
		}, func() error { return h.statementsHold(m) }, func() error { return h.hooksHold(m) }} {
		if err := holds(); err != nil {
			return err
		}
	}
	return nil
}

// logEnd logs the final books and the raised alarms.
func (h *history) logEnd() {
	h.fail(h.DB.View(h.ctx, func(tx *store.Tx) error {
		var lines []string // in an order that is the same on every database
		err := tx.Ledger().EachBalance(h.ctx, func(k ledger.Key, b ledger.Balance) error {
			lines = append(lines, fmt.Sprintf("%s %s: %s %s", k.Account, k.Asset, b.Debits, b.Credits))
			return nil
		})
		if err != nil {
			return err
		}
		alarms, err := tx.Alarms().List(h.ctx, 100)
		for _, a := range alarms {
			if a.ResolvedAt.IsZero() {
				lines = append(lines, fmt.Sprintf("ALARM %s %s: %s", a.Kind, a.Ref, a.Message))
			}
		}
		slices.Sort(lines)
		for _, line := range lines {
			h.log("%s", line)
		}
		return err
	}))
}

func (h *history) chainsHold() error {
	for _, c := range h.Chains {
		if err := c.Check(); err != nil {
			return fmt.Errorf("chain %s: %w", c.Capabilities().ID, err)
		}
	}
	return nil
}

// custodyHolds checks that the books agree to the unit with the chains' balances of the service's addresses.
func (h *history) custodyHolds() error {
	return h.DB.View(h.ctx, func(tx *store.Tx) error {
		newest, err := tx.Wallets().Newest(h.ctx)
		if err != nil {
			return err
		}
		for _, currency := range h.Registry.All() {
			c, hot := h.Chain(currency.Chain), h.Hot(currency.Chain).Base
			held := c.Balance(hot, currency.Contract)
			add := func(base string) {
				if base != hot {
					held, _ = held.Add(c.Balance(base, currency.Contract))
				}
			}
			for _, old := range h.Olds(currency.Chain) {
				add(old)
			}
			if err := tx.Wallets().EachWatched(h.ctx, c.Capabilities().Family, 0, newest, add, nil); err != nil {
				return err
			}
			gaps, err := tx.GapAddresses().After(h.ctx, c.Capabilities().Family, 0)
			if err != nil {
				return err
			}
			for _, g := range gaps {
				if c.Balance(g.Base, currency.Contract).IsZero() {
					continue
				}
				if _, err := tx.Wallets().ByAddress(h.ctx, c.Capabilities().Family,
					bursar.Address{Base: g.Base}); errors.Is(err, store.ErrNotFound) {
					add(g.Base)
				}
			}
			b, err := tx.Ledger().Balance(h.ctx, ledger.Custody, currency.Code)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			if custody, below := b.Net(ledger.Asset); below || custody != held {
				return fmt.Errorf("custody of %s is %s, the chain holds %s", currency.Code, custody, held)
			}
		}
		return nil
	})
}

// reconciled checks that the service itself finds no difference in its books.
func (h *history) reconciled() error {
	for _, c := range h.Chains {
		id := c.Capabilities().ID
		r := reconcile.Reconciler{DB: h.DB, Chain: c, Registry: h.Registry, Hot: h.Hot(id).Base, Old: h.Olds(id)}
		lines, err := r.Run(h.ctx)
		if err != nil {
			return fmt.Errorf("reconcile %s: %w", c.Capabilities().ID, err)
		}
		for _, l := range lines {
			if !l.Balanced() {
				return fmt.Errorf("the service finds a difference: %+v", l)
			}
		}
	}
	return nil
}

func (h *history) nothingHeld() error {
	return h.DB.View(h.ctx, func(tx *store.Tx) error {
		for _, customer := range append(slices.Clone(h.Template.Customers), replicas.Customer{ID: treasury.Account}) {
			balances, err := tx.Ledger().Balances(h.ctx, ledger.Held(customer.ID))
			if err != nil {
				return err
			}
			for _, currency := range h.Registry.All() {
				if held, _ := balances[currency.Code].Net(ledger.Liability); !held.IsZero() {
					return fmt.Errorf("%s of %s is still held for %s", held, currency.Code, customer.ID)
				}
			}
		}
		return nil
	})
}

func (h *history) nothingHalted() error {
	return h.DB.View(h.ctx, func(tx *store.Tx) error {
		states, err := tx.Chains().States(h.ctx)
		for _, s := range states {
			if s.Halted != "" {
				return fmt.Errorf("%s is halted: %s", s.Chain, s.Halted)
			}
		}
		halts, haltsErr := tx.Halts().List(h.ctx)
		for _, halt := range halts {
			if _, account := halt.Scope.Account(); account && (len(h.gone) > 0 || h.paidAfterAll(tx, halt)) {
				continue // a deposit that was reorged out for good freezes its account
			}
			return fmt.Errorf("%s is halted by %s: %s", halt.Scope, halt.Kind, halt.Reason)
		}
		return errors.Join(err, haltsErr)
	})
}

// refundsHold checks that no sender was refunded more than they sent, nor without an operator's resolution.
func (h *history) refundsHold() error {
	for _, d := range h.decided {
		got := h.Chain(d.Chain).Balance(h.Chain(d.Chain).Named("sender of "+d.TxID), d.Contract)
		if d.Amount.Less(got) || h.restored == 0 && d.Status == bursar.DepositConfirmed &&
			got.IsZero() == (d.Purpose == bursar.ForRefunded) {
			return fmt.Errorf("unattributed deposit %s of %s is for %s, and its sender holds %s", d.ID, d.Amount, d.Purpose, got)
		}
	}
	return nil
}

// balancesHold checks that every customer has the model's balance in the API.
func (h *history) balancesHold(m *model) error {
	for i := range h.Template.Customers {
		var shown struct {
			Response struct {
				Account struct {
					Balance map[bursar.CurrencyCode]string
				}
			}
		}
		if err := h.read(i, "account", &shown); err != nil {
			return err
		}
		for _, currency := range h.Registry.All() {
			if err := m.compare(i, currency, shown.Response.Account.Balance[currency.Code]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *model) compare(customer int, currency bursar.Currency, shown string) error {
	want := m.balances[asset{customer, currency.Code}]
	if want == nil {
		want = new(big.Int)
	}
	got, err := units(currency, shown)
	if err != nil || got.Cmp(want) != 0 {
		return fmt.Errorf("customer %d has %s units of %s and the API shows %q "+
			"(%v)", customer, want, currency.Code, shown, err)
	}
	return nil
}

// units parses a decimal with a sign.
func units(currency bursar.Currency, text string) (*big.Int, error) {
	plain := strings.TrimPrefix(text, "-")
	amount, err := bursar.ParseDecimal(plain, currency.Decimals)
	n := value(amount)
	if plain != text {
		n.Neg(n)
	}
	return n, err
}

func (h *history) read(customer int, path string, into any) error {
	var answer replicas.Answer
	outcome := h.process(0).Do("read "+path, nil, func(ctx context.Context) (err error) {
		answer, err = h.process(0).Ask(ctx, replicas.Request{Customer: h.Template.Customers[customer],
			Method: http.MethodGet, Path: path})
		return err
	})
	if outcome != "ok" || answer.Status != http.StatusOK {
		return fmt.Errorf("read %s: %s: %d %s", path, outcome, answer.Status, answer.Body)
	}
	return json.Unmarshal(answer.Body, into)
}

// statementsHold checks that the lines of a customer's statement add up to the balance.
func (h *history) statementsHold(m *model) error {
	for i := range h.Template.Customers {
		var shown struct {
			Response struct {
				Ledger []struct {
					Currency        bursar.CurrencyCode
					Available, Held string
				}
				NextCursor string
			}
		}
		if err := h.read(i, "account/ledger?limit=1000", &shown); err != nil {
			return err
		}
		sums := map[bursar.CurrencyCode]*big.Int{}
		for _, line := range shown.Response.Ledger {
			currency, err := h.Registry.Get(line.Currency)
			if err != nil {
				return err
			}
			n, err := units(currency, line.Available)
			if err != nil {
				return err
			}
			if sums[line.Currency] == nil {
				sums[line.Currency] = new(big.Int)
			}
			sums[line.Currency].Add(sums[line.Currency], n)
		}
		for _, currency := range h.Registry.All() {
			got, want := sums[currency.Code], m.balances[asset{i, currency.Code}]
			if got == nil {
				got = new(big.Int)
			}
			if want == nil {
				want = new(big.Int)
			}
			if got.Cmp(want) != 0 {
				return fmt.Errorf("the statement of customer %d adds up to %s of %s, want %s", i, got, currency.Code, want)
			}
		}
	}
	return nil
}
