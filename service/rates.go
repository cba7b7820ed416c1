package service

import (
	"context"
	"log/slog"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/rate"
)

// Rates returns what a whole unit of a currency is worth in USDT; the zero Rate if that is unknown now.
type Rates interface {
	Rate(code bursar.CurrencyCode) bursar.Rate
}

// ratesOf creates the source of a configuration; nil if none is configured. Only rates of usable currencies are
// requested.
func ratesOf(cfg config.Config, now func() time.Time, log *slog.Logger) Rates {
	switch cfg.Rates.Source {
	case config.RatesStatic:
		return rate.Static(cfg.Rates.Static)
	case config.RatesHTTP:
		return NewRateFeed(cfg, now, log)
	}
	return nil
}

// NewRateFeed creates the HTTP source of a configuration that has one.
func NewRateFeed(cfg config.Config, now func() time.Time, log *slog.Logger) *rate.Feed {
	pointers := map[bursar.CurrencyCode]string{}
	for code, pointer := range cfg.Rates.Pointers {
		if _, off := cfg.Off[code]; !off {
			pointers[code] = pointer
		}
	}
	return rate.NewFeed(rate.FeedConfig{
		URL:      cfg.Rates.URL.Reveal(),
		Pointers: pointers,
		Every:    cfg.Rates.Refresh,
		MaxAge:   cfg.Rates.MaxAge,
		Now:      now,
		Log:      log,
	})
}

// pricesOf creates the sources of rates in fiat of a configuration; nil if none is configured.
func pricesOf(cfg config.Config, now func() time.Time, log *slog.Logger) Prices {
	if len(cfg.Prices.Feeds) == 0 {
		return nil
	}
	return NewPrices(cfg, now, log)
}

// NewPrices creates the sources of rates in fiat of a configuration that has some.
func NewPrices(cfg config.Config, now func() time.Time, log *slog.Logger) *rate.Board {
	board := &rate.Board{Age: cfg.Prices.MaxAge, Spread: cfg.Prices.MaxSpread, Now: now}
	for _, f := range cfg.Prices.Feeds {
		named := rate.Named{Name: f.Name, Origin: f.Origin()}
		fixed, pointers := map[rate.Pair]bursar.Rate{}, map[rate.Pair]string{}
		for p, r := range f.Fixed {
			fixed[pairOf(p)] = r
			named.Pairs = append(named.Pairs, pairOf(p))
		}
		for p, pointer := range f.Pointers {
			pointers[pairOf(p)] = pointer
			named.Pairs = append(named.Pairs, pairOf(p))
		}
		if f.Fixed != nil {
			named.Source = rate.Fixed{Rates: fixed, Now: now}
		} else {
			named.Source = rate.NewPolled(rate.FeedConfig{URL: f.URL.Reveal(), File: f.File, Every: f.Refresh,
				MaxAge: cfg.Prices.MaxAge, Now: now, Log: log.With("feed", f.Name)}, pointers)
		}
		board.Sources = append(board.Sources, named)
	}
	return board
}

func pairOf(p config.PricePair) rate.Pair { return rate.Pair{Currency: p.Currency, Unit: p.Fiat} }

// runPrices keeps the rates in fiat up to date if their sources have to be polled.
func (s *Service) runPrices(ctx context.Context) error {
	board, asks := s.parts.Prices.(interface {
		Run(ctx context.Context) error
	})
	if !asks {
		return nil
	}
	return board.Run(ctx)
}

// runRates keeps the rates up to date if their source has to be polled.
func (s *Service) runRates(ctx context.Context) error {
	feed, asks := s.parts.Rates.(interface {
		Run(ctx context.Context) error
	})
	if !asks {
		return nil
	}
	return feed.Run(ctx)
}
