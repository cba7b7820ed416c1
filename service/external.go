package service

import (
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/recovery"
)

// BookOf returns the book that assesses and settles the external spends of a chain.
func (s *Service) BookOf(id bursar.ChainID) (recovery.Book, error) {
	w, found := s.workers[id]
	if !found {
		return recovery.Book{}, fmt.Errorf("chain %q is not configured", id)
	}
	return recovery.Book{Capabilities: w.chain.Capabilities(), Registry: s.Registry, IDs: s.IDs, Hot: w.hot}, nil
}

// addKin tells every follower which other chains share its keys: an external spend on one of them halts all.
func (s *Service) addKin() {
	for _, id := range s.order {
		w := s.workers[id]
		for _, other := range s.order {
			if other != id && s.workers[other].chain.Capabilities().Family == w.chain.Capabilities().Family {
				w.follower.Externals.Kin = append(w.follower.Externals.Kin, other)
			}
		}
	}
}
