package withdrawal

import (
	"context"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// checkDestinations refuses the withdrawals of accounts that are restricted to their destinations, where the address is
// not on the list or not usable yet. The accounts are locked, so that no list changes between this check and the
// commit.
func (s *Service) checkDestinations(
	ctx context.Context, tx *store.Tx, lists map[bursar.ID]bursar.DestinationList, requests []prepared,
	results []store.Result[bursar.Withdrawal],
) error {
	for i, p := range requests {
		w := p.withdrawal
		if results[i].Err != nil || !lists[w.AccountID].Binds(tx.Now()) {
			continue
		}
		known, err := tx.Destinations().To(ctx, w.AccountID, s.chains[p.currency.Chain].Capabilities().Family, w.Address)
		if err != nil {
			return err
		}
		results[i].Err = mayGo(known, w.Currency, tx.Now())
	}
	return nil
}

// checkDestination evaluates one withdrawal by the current list.
func (s *Service) checkDestination(ctx context.Context, tx *store.Tx, w bursar.Withdrawal, family bursar.Family) error {
	list, err := tx.DestinationLists().Get(ctx, w.AccountID)
	if err != nil || !list.Binds(tx.Now()) {
		return err
	}
	known, err := tx.Destinations().To(ctx, w.AccountID, family, w.Address)
	if err != nil {
		return err
	}
	return mayGo(known, w.Currency, tx.Now())
}

// expectedAtList refuses a withdrawal early that checkDestinations would refuse, so that no node is asked about an
// address that cannot be paid anyway. For a frozen account it returns the error about the freeze.
func (s *Service) expectedAtList(
	ctx context.Context, list bursar.DestinationList, w bursar.Withdrawal, family bursar.Family,
) error {
	if !list.Binds(s.db.Now()) {
		return nil
	}
	return s.db.View(ctx, func(tx *store.Tx) error {
		refused := s.checkDestination(ctx, tx, w, family)
		if refused == nil {
			return nil
		}
		account, err := tx.Accounts().Get(ctx, w.AccountID)
		if err == nil && account.Frozen != "" {
			return errFrozen
		}
		return refused
	})
}

// mayGo evaluates a withdrawal by the list entries of its address: nil, or the refusal with the reason and the time
// from which it is allowed.
func mayGo(listed []bursar.Destination, currency bursar.CurrencyCode, now time.Time) error {
	var from time.Time
	for _, d := range listed {
		switch {
		case !d.Takes(currency):
		case d.UsableAt(now):
			return nil
		case from.IsZero() || d.UsableFrom.Before(from):
			from = d.UsableFrom
		}
	}
	if from.IsZero() {
		return bursar.RefuseField(bursar.CodeDestinationRefused, "address",
			"this account withdraws to its listed destinations only, and this address is not listed for %s", currency)
	}
	return bursar.RefuseField(bursar.CodeDestinationRefused, "address",
		"this address is on the account's list of destinations and can be paid from %s on",
		from.Add(time.Second-1).Truncate(time.Second).Format(time.RFC3339))
}
