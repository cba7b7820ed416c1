package withdrawal

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// destinationOf is what a request is looked up by: who pays, and where to.
type destinationOf struct {
	account bursar.ID
	at      store.WalletAddress
}

// destinationInfo is what is known of a request's destination before its money is held.
type destinationInfo struct {
	wallet *bursar.Wallet         // of this service; nil: no wallet of this service has the address
	list   bursar.DestinationList // of the account that pays
	signs  bool                   // it has or had keys: its withdrawals are orders that it signed
}

// gather prepares the look-up that a request needs before its money is held. Those of concurrent requests share its
// statements, which go to the database together.
func (s *Service) gather() {
	s.destinations = store.NewGather(s.db, func(ctx context.Context, tx *store.Tx, asked []destinationOf) (
		map[destinationOf]destinationInfo, error) {
		at, accounts := make([]store.WalletAddress, len(asked)), make([]bursar.ID, len(asked))
		for i, d := range asked {
			at[i], accounts[i] = d.at, d.account
		}
		wallets, err := tx.Wallets().AtDeferred(ctx, distinct(at))
		if err != nil {
			return nil, err
		}
		signers := tx.OrderKeys().OwnersDeferred(ctx, distinct(accounts))
		lists, err := tx.DestinationLists().OfDeferred(ctx, distinct(accounts)).Get(ctx)
		if err != nil {
			return nil, err
		}
		signs, err := signers.Get(ctx)
		if err != nil {
			return nil, err
		}
		known, err := wallets.Get(ctx)
		all := make(map[destinationOf]destinationInfo, len(asked))
		for _, d := range asked {
			to := destinationInfo{list: lists[d.account], signs: signs[d.account]}
			if w, is := known[d.at]; is {
				to.wallet = &w
			}
			all[d] = to
		}
		return all, err
	})
}

// distinct returns values, each once, in their order.
func distinct[T comparable](values []T) []T {
	seen := make(map[T]bool, len(values))
	var list []T
	for _, v := range values {
		if !seen[v] {
			seen[v] = true
			list = append(list, v)
		}
	}
	return list
}

// Waits returns what those of some withdrawals wait for that cannot be signed now, by their IDs.
func (s *Service) Waits(ctx context.Context, ids ...bursar.ID) (waits map[bursar.ID]bursar.OutgoingWait, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	err = s.db.View(ctx, func(tx *store.Tx) error {
		waits, err = tx.Outgoing().Waits(ctx, ids)
		return err
	})
	return waits, err
}
