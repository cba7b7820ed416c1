package service

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// ResolveOutgoing resolves a sent outgoing transaction whose outcome could not be determined, as
// outgoing.Sender.Resolve does, with the nodes that this service was opened with. It returns the outcome.
func (s *Service) ResolveOutgoing(ctx context.Context, id bursar.ID, r outgoing.Resolution) (string, error) {
	w, err := s.workerOf(ctx, id)
	if err != nil {
		return "", err
	}
	return w.sender.Resolve(ctx, id, w.chain, r)
}

// AbandonOutgoing abandons a sent transaction, as outgoing.Sender.Abandon does. It returns the ID of
// the outgoing transaction that replaces it; the service signs and sends that.
func (s *Service) AbandonOutgoing(ctx context.Context, id bursar.ID, a outgoing.Abandonment) (bursar.ID, error) {
	w, err := s.workerOf(ctx, id)
	if err != nil {
		return bursar.ID{}, err
	}
	return w.sender.Abandon(ctx, id, a)
}

// UseUpNonces has lost nonces of an address used up, as outgoing.Sender.UseUpNonces does. The service signs and sends
// what uses them up.
func (s *Service) UseUpNonces(
	ctx context.Context, id bursar.ChainID, u outgoing.UseUp,
) (lowest, highest uint64, err error) {
	w, found := s.workers[id]
	if !found {
		return 0, 0, fmt.Errorf("chain %q is not configured", id)
	}
	address, err := w.chain.ParseAddress(u.Base)
	if err != nil {
		return 0, 0, fmt.Errorf("address %q: %w", u.Base, err)
	}
	u.Base = address.Base
	return w.sender.UseUpNonces(ctx, u)
}

func (s *Service) workerOf(ctx context.Context, id bursar.ID) (w *worker, err error) {
	var p bursar.OutgoingTx
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		p, err = tx.Outgoing().Get(ctx, id)
		return err
	})
	if err != nil {
		return w, err
	}
	w, found := s.workers[p.Chain]
	if !found {
		return w, fmt.Errorf("chain %q is not configured", p.Chain)
	}
	return w, nil
}
