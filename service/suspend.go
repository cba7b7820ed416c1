package service

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// alarmSuspended is raised for each currency that is neither credited nor paid. Its ref is the currency code.
const alarmSuspended = "currency_suspended"

// How often the tokens of a chain are compared with their contracts: until the first comparison succeeds, and after it.
const (
	assetsFirst = 2 * time.Second
	assetsAgain = 10 * time.Minute
)

// uncheckedReason is the reason for tokens whose contracts were not queried yet in this process.
const uncheckedReason = "its contract has not been compared with the configuration since startup"

// suspensions knows which currencies are neither credited nor paid now, and why. A token whose contract differs from
// the configuration, or misbehaves, suspends its own currency and nothing else.
type suspensions struct {
	mu      sync.RWMutex
	reasons map[bursar.ChainID]map[bursar.CurrencyCode]string
	waiting map[bursar.ChainID]bool // the chain's tokens have not been compared yet
}

func newSuspensions() *suspensions {
	return &suspensions{reasons: map[bursar.ChainID]map[bursar.CurrencyCode]string{}, waiting: map[bursar.ChainID]bool{}}
}

// reason returns why a currency is suspended, "" if it is not.
func (s *suspensions) reason(c bursar.Currency) string {
	if s.unchecked(c) {
		return uncheckedReason
	}
	return s.problem(c)
}

// unchecked reports whether a token has not been compared with its contract yet.
func (s *suspensions) unchecked(c bursar.Currency) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return c.IsToken() && s.waiting[c.Chain]
}

// problem returns the known problem of a currency, "" if there is none.
func (s *suspensions) problem(c bursar.Currency) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.reasons[c.Chain][c.Code]
}

func (s *suspensions) set(id bursar.ChainID, reasons map[bursar.CurrencyCode]string) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed = s.waiting[id] || !maps.Equal(s.reasons[id], reasons)
	s.waiting[id], s.reasons[id] = false, reasons
	return changed
}

// all returns the problems of currencies by code. Currencies that were not compared yet are not among them.
func (s *suspensions) all() map[bursar.CurrencyCode]string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := map[bursar.CurrencyCode]string{}
	for _, reasons := range s.reasons {
		maps.Copy(all, reasons)
	}
	return all
}

// Suspended returns why a currency is neither credited nor paid now, "" if it is. It makes no request.
func (s *Service) Suspended(code bursar.CurrencyCode) string {
	currency, err := s.Registry.Get(code)
	if err != nil {
		return "it is not configured"
	}
	return s.suspended.reason(currency)
}

// refuses returns why wallets and withdrawals of a currency are refused now, "" if they are not. Unlike Suspended it
// accepts a token that could not be checked yet: while a chain is down, addresses are issued and withdrawals accepted.
func (s *Service) refuses(code bursar.CurrencyCode) string {
	currency, err := s.Registry.Get(code)
	if err != nil {
		return "it is not configured"
	}
	return s.suspended.problem(currency)
}

// watchAssets compares the tokens of a chain with their contracts repeatedly until ctx ends.
func (s *Service) watchAssets(ctx context.Context, w *worker) error {
	checker, able := w.chain.(chain.AssetChecker)
	if !able {
		return nil
	}
	for {
		wait := assetsFirst
		if s.checkAssets(ctx, w.chain, checker) {
			wait = assetsAgain
		}
		sleep(ctx, wait)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// checkAssets compares the tokens once. It reports false while the chain's nodes do not answer at all, because then a
// token without a problem may be one that was not checked.
func (s *Service) checkAssets(ctx context.Context, c chain.Chain, checker chain.AssetChecker) bool {
	id := c.Capabilities().ID
	if _, err := c.Head(ctx); err != nil {
		return false
	}
	reasons := map[bursar.CurrencyCode]string{}
	for _, problem := range checker.CheckAssets(ctx) {
		if currency, known := s.Registry.Asset(id, problem.Contract); known {
			reasons[currency.Code] = problem.What
		}
	}
	if ctx.Err() != nil {
		return false
	}
	if s.suspended.set(id, reasons) {
		for code, reason := range reasons {
			s.log.Error("currency suspended", "currency", code, "chain", id, "reason", reason)
		}
		s.updateSuspended(ctx)
	}
	return true
}

// updateSuspended brings the alarms about suspended currencies up to date: one for each suspended currency, and one for
// each currency that is no longer configured while deposits or withdrawals of it wait.
func (s *Service) updateSuspended(ctx context.Context) {
	err := s.DB.Do(ctx, func(tx *store.Tx) error {
		wanted := map[string]store.Alarm{}
		for code, reason := range s.suspended.all() {
			currency, err := s.Registry.Get(code)
			if err != nil {
				continue
			}
			wanted[string(code)] = store.Alarm{Kind: alarmSuspended, Chain: currency.Chain,
				Message: fmt.Sprintf("%s is neither credited nor paid: %s", code, reason)}
		}
		waiting, err := tx.Deposits().UnfinishedCurrencies(ctx)
		if err != nil {
			return err
		}
		for code, id := range waiting {
			if _, err := s.Registry.Get(code); err != nil {
				wanted[string(code)] = store.Alarm{Kind: alarmSuspended, Chain: id, Message: fmt.Sprintf(
					"%s is no longer configured, but deposits or withdrawals of it wait: add it to currencies again, at least "+
						"until they are done", code)}
			}
		}
		return setSuspended(ctx, tx, wanted)
	})
	if err != nil && ctx.Err() == nil {
		s.log.Warn("alarms about suspended currencies not updated", "error", err)
	}
}

// setSuspended opens the wanted alarms, by their refs, and closes the others.
func setSuspended(ctx context.Context, tx *store.Tx, wanted map[string]store.Alarm) error {
	open, err := tx.Alarms().OfKind(ctx, alarmSuspended)
	if err != nil {
		return err
	}
	for _, a := range open {
		if w, still := wanted[a.Ref]; still && w.Message == a.Message {
			delete(wanted, a.Ref)
		} else if !still {
			if err := tx.Alarms().Resolve(ctx, a.Kind, a.Ref); err != nil {
				return err
			}
		}
	}
	for ref, a := range wanted {
		a.Ref = ref
		if err := tx.Alarms().Raise(ctx, a); err != nil {
			return err
		}
	}
	return nil
}
