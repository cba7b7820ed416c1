package main

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// booksEvery is after how many events the books are checked: more often would take most of the time.
const booksEvery = 8

// observe checks after every event what must hold at any time.
func (h *history) observe(i int) {
	h.fail(h.Scheduler.Failure())
	h.fail(h.noneOverpaid())
	h.fail(h.Receivers.Changed)
	h.momentHolds()
	h.fail(h.haltsHold())
	h.fail(h.paceHolds())
	h.fail(h.drawnHolds())
	if i%booksEvery == 0 && h.edited == nil {
		h.fail(h.booksHold())
	}
}

// noteHalts records what is halted by command, how much was signed until now, and what a recovery has to put back. It
// records no halt while a task is suspended that passed its check before the halt.
func (h *history) noteHalts() {
	h.halted, h.signed, h.putBack = nil, len(h.Signed), map[bursar.ID]bool{}
	if !h.Scheduler.Idle() {
		return
	}
	h.fail(h.DB.View(h.ctx, func(tx *store.Tx) error {
		halts, err := tx.Halts().List(h.ctx)
		for _, halt := range halts {
			if halt.Kind == store.HaltByOperator {
				h.halted = append(h.halted, halt.Scope)
			}
		}
		return errors.Join(err, h.notePutBack(tx, halts))
	}))
}

// notePutBack records what the recoveries have to put back: they end no sooner, so a halt of a currency does not hold
// it.
func (h *history) notePutBack(tx *store.Tx, halts []store.Halt) error {
	states, err := tx.Chains().States(h.ctx)
	if err != nil {
		return err
	}
	for _, state := range states {
		recovers := func(halt store.Halt) bool {
			return halt.Kind == store.HaltByRecovery && halt.Scope == store.HaltChain(state.Chain)
		}
		if !slices.ContainsFunc(halts, recovers) {
			continue
		}
		waits, err := tx.ForgottenPayments().List(h.ctx, state.Chain, math.MaxInt32)
		if err != nil {
			return err
		}
		for _, f := range waits {
			h.putBack[f.OutgoingID] = true
		}
	}
	return nil
}

// haltsHold checks that nothing was signed in an event that was halted by command before it, and still is.
func (h *history) haltsHold() error {
	if len(h.halted) == 0 || len(h.Signed) == h.signed {
		return nil
	}
	halted, putBack, fresh := h.halted, h.putBack, h.Signed[min(h.signed, len(h.Signed)):]
	before := map[string]bool{}
	for _, s := range h.Signed[:len(h.Signed)-len(fresh)] {
		before[s.TxID] = true
	}
	h.noteHalts()
	for _, s := range fresh {
		for _, p := range s.Request.Payments {
			currency, _ := h.Registry.Asset(s.Chain, p.Contract)
			scopes := []store.HaltScope{store.HaltAll, store.HaltChain(s.Chain)}
			// What the journal restores was signed before, or may have been, and is held back when it is broadcast.
			if !before[s.TxID] && !putBack[s.Request.ID] {
				scopes = append(scopes, store.HaltCurrency(currency.Code))
			}
			for _, scope := range scopes {
				if slices.Contains(halted, scope) && slices.Contains(h.halted, scope) {
					return fmt.Errorf("%s of %s was signed while %s was halted", s.Request.Kind, currency.Code, scope)
				}
			}
		}
	}
	return nil
}

// noneOverpaid checks that no external address holds more than the one withdrawal that pays it.
func (h *history) noneOverpaid() error {
	for _, o := range h.orders {
		if o.inside != nil {
			continue
		}
		if got := h.Chain(o.currency.Chain).Balance(o.to.Base, o.currency.Contract); o.amount.Less(got) {
			return fmt.Errorf("withdrawal %s pays %s and its receiver holds %s", o.id, o.amount, got)
		}
	}
	return nil
}

// booksHold checks that debits equal credits in every asset, that no customer is below zero except after a reversal,
// and that no more is credited than exists.
func (h *history) booksHold() error {
	sums := map[bursar.CurrencyCode][2]bursar.Amount{}
	err := h.DB.View(h.ctx, func(tx *store.Tx) error {
		return tx.Ledger().EachBalance(h.ctx, func(k ledger.Key, b ledger.Balance) (err error) {
			s := sums[k.Asset]
			if s[0], err = s[0].Add(b.Debits); err != nil {
				return err
			}
			if s[1], err = s[1].Add(b.Credits); err != nil {
				return err
			}
			sums[k.Asset] = s
			if id, customers := k.Account.Customer(); customers {
				return h.mayBeBelow(tx, id, k, b)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	for _, currency := range h.Registry.All() {
		if s := sums[currency.Code]; s[0] != s[1] {
			return fmt.Errorf("debits of %s are %s, credits %s", currency.Code, s[0], s[1])
		}
	}
	return nil
}

func (h *history) mayBeBelow(tx *store.Tx, id bursar.ID, k ledger.Key, b ledger.Balance) error {
	amount, negative := b.Net(ledger.Liability)
	if !negative {
		return nil
	}
	h.below = append(h.below, id)
	_ = tx
	if k.Account == ledger.Held(id) {
		return fmt.Errorf("less than zero is held for %s: %s of %s", id, amount, k.Asset)
	}
	return nil
}
