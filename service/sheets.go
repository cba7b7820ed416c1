package service

import (
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/oversight"
	"github.com/bursar/bursar/store"
)

// sheets returns what the console's pages are read from.
func (s *Service) sheets() *oversight.Reader {
	chains, cold := map[bursar.ChainID]oversight.Chain{}, map[bursar.ChainID][]string{}
	for id, w := range s.workers {
		chains[id], cold[id] = w.chain, bursar.ColdBases(w.sender.Cold)
	}
	return &oversight.Reader{Config: oversight.Config{
		DB:       s.DB,
		Registry: s.Registry,
		Chains:   chains,
		Hot:      func(id bursar.ChainID) string { return s.Hot(id).Base },
		Cold:     cold,
		Nodes:    s.nodes,
		Worth:    s.worth,
		Settings: s.parts.Settings,
		Epochs:   s.epochSheet,
	}}
}

// epochSheet returns the epochs of every configured chain as pages show them.
func (s *Service) epochSheet(ctx context.Context, tx *store.Tx) (list []oversight.Epoch, err error) {
	for _, id := range s.order {
		status, err := s.epochStatus(ctx, tx, id)
		if err != nil {
			return nil, err
		}
		one := oversight.Epoch{Chain: id, Keys: int(status.Keys), Leads: int(status.Leads), Since: status.Since,
			Hot: status.Hot}
		for _, held := range status.Held {
			one.Held = append(one.Held, oversight.EpochHeld(held))
		}
		list = append(list, one)
	}
	return list, nil
}

// nodes returns the state of a chain's nodes.
func (s *Service) nodes(id bursar.ChainID) (list []oversight.Node) {
	w, known := s.workers[id]
	if !known {
		return nil
	}
	if adapter, reports := w.chain.(statsReporter); reports {
		for _, e := range adapter.Stats() {
			list = append(list, oversight.Node{Name: e.Name, InUse: e.PausedTill.IsZero(), Height: e.Height, Fault: e.LastFault})
		}
	}
	return list
}

// settingsOf returns what a configuration sets.
func settingsOf(cfg config.Config) (list []oversight.Setting) {
	for _, set := range cfg.Effective() {
		list = append(list, oversight.Setting(set))
	}
	return list
}

// worth returns what a currency is worth in the reference currency: the fiat currency in which most of the others have
// a rate now, by its name where several do, or else USDT.
func (s *Service) worth(code bursar.CurrencyCode) oversight.Worth {
	if unit, found := s.reference(); found {
		if q := s.parts.Prices.Price(code, unit); q.Rate.IsKnown() {
			return oversight.Worth{Rate: q.Rate, Unit: unit, Source: q.Source, At: q.RateAt}
		}
		return oversight.Worth{Unit: unit}
	}
	if s.parts.Rates == nil {
		return oversight.Worth{}
	}
	w := oversight.Worth{Rate: s.parts.Rates.Rate(code), Unit: bursar.Unit{Code: bursar.USDT, Decimals: 6, Places: 2},
		Source: "the source of rates in USDT"}
	if aged, has := s.parts.Rates.(interface {
		Ages() map[bursar.CurrencyCode]time.Duration
	}); has {
		if age, known := aged.Ages()[code]; known {
			w.At = s.DB.Now().Add(-age)
		}
	}
	return w
}

// reference is the fiat currency of the totals.
func (s *Service) reference() (unit bursar.Unit, found bool) {
	if s.parts.Prices == nil {
		return unit, false
	}
	count, best := map[bursar.CurrencyCode]int{}, bursar.CurrencyCode("")
	for _, r := range s.parts.Prices.All() {
		count[r.Unit]++
	}
	for code, n := range count {
		if n > count[best] || n == count[best] && code < best {
			best = code
		}
	}
	return bursar.FiatUnit(best)
}

// figuresEvery is how often the figures of days and the sums of months are continued. Who reads them adds what is
// younger.
const figuresEvery = time.Minute

// foldFigures sums the figures of days and the postings of months in the background, a bounded part in each
// transaction.
func (s *Service) foldFigures(ctx context.Context) error {
	for {
		days, months := false, false
		err := errors.Join(s.DB.Do(ctx, func(tx *store.Tx) (err error) {
			days, err = tx.DayFigures().Fold(ctx)
			return err
		}), s.DB.Do(ctx, func(tx *store.Tx) (err error) {
			months, err = tx.MonthSums().Fold(ctx)
			return err
		}))
		if err != nil && ctx.Err() == nil {
			s.log.Warn("failed to sum the figures of days and months", "error", err)
		}
		if (days || months) && err == nil {
			continue
		}
		if !s.DB.Sleep(ctx, figuresEvery) {
			return ctx.Err()
		}
	}
}
