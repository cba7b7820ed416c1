package service

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/spend"
	"github.com/bursar/bursar/store"
)

// ResolveOutgoing ends a sent outgoing transaction whose fate could not be learnt, as spend.Spender.Resolve does, through the
// nodes that this service was opened with. It returns what became of it.
func (s *Service) ResolveOutgoing(ctx context.Context, id bursar.ID, r spend.Resolution) (string, error) {
	var p bursar.Spend
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		p, err = tx.Spend(ctx, id)
		return err
	})
	if err != nil {
		return "", err
	}
	w, found := s.workers[p.Chain]
	if !found {
		return "", fmt.Errorf("chain %q is not configured", p.Chain)
	}
	return w.spender.Resolve(ctx, id, w.chain, r)
}
