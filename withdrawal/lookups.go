package withdrawal

import (
	"context"
	"errors"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// gather prepares the look-ups that a request needs before its money is held. Those of concurrent requests share a
// statement.
func (s *Service) gather() {
	s.receivers = store.NewGather(s.db, func(ctx context.Context, tx *store.Tx, at []store.WalletAddress) (
		map[store.WalletAddress]bursar.Wallet, error) {
		return tx.Wallets().At(ctx, at)
	})
	s.lists = store.NewGather(s.db, func(ctx context.Context, tx *store.Tx, accounts []bursar.ID) (
		map[bursar.ID]bursar.DestinationList, error) {
		return tx.DestinationLists().Of(ctx, accounts)
	})
	s.rules = store.NewGather(s.db, func(ctx context.Context, tx *store.Tx, accounts []bursar.ID) (
		map[bursar.ID]bursar.FeeRules, error) {
		all, err := tx.FeeRules().Of(ctx, accounts...)
		rules := map[bursar.ID]bursar.FeeRules{}
		for _, r := range all {
			rules[r.AccountID] = append(rules[r.AccountID], r)
		}
		return rules, err
	})
}

// found returns what a look-up found, or the zero value where there is nothing.
func found[V any](value V, err error) (V, error) {
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return value, err
}
