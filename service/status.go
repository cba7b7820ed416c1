package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/reconcile"
	"github.com/bursar/bursar/store"
)

// ChainStatus is the state of one chain and of its node.
type ChainStatus struct {
	store.ChainState
	HotAddress string // of the epoch in which a service leads the chain; empty if its keys are not here
	Native     bursar.CurrencyCode
	HotBalance string // decimal; empty while the node does not answer
	Node       chain.Head
	NodeError  string // error of the node; empty if it answers
}

// ChainStatus reads the state of every configured chain. A chain whose node is unreachable is reported, not an error.
func (s *Service) ChainStatus(ctx context.Context) ([]ChainStatus, error) {
	var list []ChainStatus
	for _, id := range s.order {
		status := ChainStatus{HotAddress: s.workers[id].hot.Base, ChainState: store.ChainState{Chain: id, Height: -1}}
		err := s.DB.View(ctx, func(tx *store.Tx) error {
			state, err := tx.Chains().State(ctx, id)
			if err == nil {
				status.ChainState = state
			}
			if errors.Is(err, store.ErrNotFound) {
				return nil // the chain never ran with this database
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if status.HotAddress, err = s.hotKnown(id, chain.Epoch(status.Epoch)); err != nil {
			return nil, err
		}
		s.askNode(ctx, &status)
		list = append(list, status)
	}
	return list, nil
}

// hotKnown returns the hot wallet of the epoch in which a service leads the chain: what is paid to that of a later one
// before would be credited to nobody, and to that of an earlier one nobody should pay any more. Without the keys of
// that epoch, which those of an earlier one are, it returns "".
func (s *Service) hotKnown(id bursar.ChainID, e chain.Epoch) (string, error) {
	w := s.workers[id]
	switch keys := s.Keys.Epoch(); {
	case e == keys:
		return w.hot.Base, nil
	case e > keys && !w.chain.Capabilities().SharedAddress:
		return "", nil
	}
	hot, err := s.hotOf(w.chain, e)
	return hot.Base, err
}

func (s *Service) askNode(ctx context.Context, status *ChainStatus) {
	w := s.workers[status.Chain]
	head, err := w.chain.Head(ctx)
	if err != nil {
		status.NodeError = err.Error()
		return
	}
	status.Node = head
	native, ok := s.Registry.Asset(status.Chain, "")
	if !ok || head.Final.Hash == "" {
		return
	}
	status.Native = native.Code
	if status.HotAddress == "" {
		return
	}
	held, err := w.chain.Holdings(ctx, []string{status.HotAddress}, "", head.Final)
	if err == nil && len(held) == 1 {
		status.HotBalance = native.Exact(held[0])
	}
}

// Reconcile compares the books with every configured chain.
func (s *Service) Reconcile(ctx context.Context, all bool) ([]reconcile.Line, error) {
	var lines []reconcile.Line
	for _, id := range s.order {
		w := s.workers[id]
		r := s.reconciler(w)
		r.All = all
		found, err := r.Run(ctx)
		if err != nil {
			return lines, fmt.Errorf("chain %s: %w", id, err)
		}
		lines = append(lines, found...)
	}
	return lines, nil
}
