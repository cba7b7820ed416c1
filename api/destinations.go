package api

import (
	"context"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
)

type destinationsAnswer struct {
	Enabled      bool                   `json:"enabled"`
	EnabledUntil *time.Time             `json:"enabledUntil"` // null: without an end, or not enabled
	Destinations []wire.DestinationView `json:"destinations"`
	NextCursor   string                 `json:"nextCursor,omitempty"`
}

// listDestinations is GET account/destinations. No endpoint changes the list: it protects against an attacker who has
// both key and secret.
func (a *api) listDestinations(ctx context.Context, c *call) (any, error) {
	page := c.in.page(destinationList)
	f := store.DestinationFilter{Currency: a.optionalCurrency(c), Usable: c.in.flag("usable"),
		At: a.addressed(c, "address")}
	if c.in.err != nil {
		return nil, c.in.err
	}
	if f.Currency != "" {
		currency, err := a.currency(f.Currency)
		if err != nil {
			return nil, err
		}
		f.Family = a.Chains[currency.Chain].Family
	}
	listed, err := a.Destinations.Select(ctx, c.identity.Account, f, page)
	if err != nil {
		return nil, err
	}
	answer := destinationsAnswer{Enabled: listed.On}
	if !listed.Until.IsZero() {
		answer.EnabledUntil = &listed.Until
	}
	list, next := cut(listed.Destinations, page, destinationList, func(d bursar.Destination) int64 { return d.Number })
	answer.NextCursor = next
	answer.Destinations, err = each(list, func(d bursar.Destination) (wire.DestinationView, error) {
		return wire.Destination(d, a.Destinations.Currencies(d.Family), c.now), nil
	})
	return answer, err
}
