package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar/service"
)

// prices asks the sources of rates in fiat once, if some are configured. Without a rate that counts, nobody can pay a
// price in that currency: a warning, because nothing else stops.
func (e *healthCheck) prices(ctx context.Context) {
	if len(e.cfg.Prices.Feeds) == 0 {
		return
	}
	board := service.NewPrices(e.cfg, time.Now, slog.New(slog.DiscardHandler))
	failed := board.Ask(ctx)
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		e.advise("prices", resultWarning, "check the URL or the file of this feed under `prices`", "feed %s: %v", name,
			failed[name])
	}
	missing := board.Missing()
	if len(missing) == 0 {
		e.note("prices", resultOK, "%d feeds agree on all rates", len(e.cfg.Prices.Feeds))
		return
	}
	var pairs []string
	for _, p := range missing {
		pairs = append(pairs, fmt.Sprintf("%s in %s", p.Currency, p.Unit))
	}
	e.advise("prices", resultWarning, "compare the feeds: two must know a rate that is fresh, within max_spread",
		"no rate counts for %s", strings.Join(pairs, ", "))
}
