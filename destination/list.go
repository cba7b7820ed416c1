package destination

import (
	"context"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Listed is an account's list and its current state.
type Listed struct {
	On           bool
	Until        time.Time // end of the list's effect; zero: it is off or stays on
	Destinations []bursar.Destination
}

// List returns a page of an account's list, newest first. The list of an unknown account is empty and off.
func (s *Service) List(ctx context.Context, account bursar.ID, page store.Page) (l Listed, err error) {
	return s.Select(ctx, account, store.DestinationFilter{}, page)
}

// Select is List for the destinations that a filter selects.
func (s *Service) Select(
	ctx context.Context, account bursar.ID, f store.DestinationFilter, page store.Page,
) (l Listed, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		state, err := tx.DestinationLists().Get(ctx, account)
		if err != nil {
			return err
		}
		l = Listed{On: state.Binds(tx.Now())}
		if l.On {
			l.Until = state.Until
		}
		l.Destinations, err = tx.Destinations().Select(ctx, account, f, page)
		return err
	})
	return l, err
}

// Currencies returns the codes of the configured currencies whose addresses are of a family, in the registry's order.
func (s *Service) Currencies(family bursar.Family) []bursar.CurrencyCode {
	codes := []bursar.CurrencyCode{}
	for _, currency := range s.Registry.All() {
		if c, on := s.Chains[currency.Chain]; on && c.Capabilities().Family == family {
			codes = append(codes, currency.Code)
		}
	}
	return codes
}
