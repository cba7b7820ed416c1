package withdrawal

import (
	"context"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// heldToLists refuses the orders of accounts that pay to their destinations only, where the order's is none of them or
// not usable yet. The accounts are locked, so that no list changes between the judgement and the commit.
func (s *Service) heldToLists(
	ctx context.Context, tx *store.Tx, orders []prepared, results []store.Result[bursar.Withdrawal],
) error {
	lists, err := tx.DestinationLists().Of(ctx, accountsOf(orders))
	if err != nil {
		return err
	}
	for i, p := range orders {
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

// heldToList judges one order by the list as it is now.
func (s *Service) heldToList(ctx context.Context, tx *store.Tx, w bursar.Withdrawal, family bursar.Family) error {
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

// expectedAtList refuses an order early that heldToLists would refuse, so that no node is asked about an address that
// cannot be paid anyway. A frozen account is told that it is frozen.
func (s *Service) expectedAtList(ctx context.Context, tx *store.Tx, w bursar.Withdrawal, family bursar.Family) error {
	refused := s.heldToList(ctx, tx, w, family)
	if refused == nil {
		return nil
	}
	account, err := tx.Accounts().Get(ctx, w.AccountID)
	if err == nil && account.Frozen != "" {
		return errFrozen
	}
	return refused
}

// mayGo judges an order by what is listed for its address: nil, or why not and from when.
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
