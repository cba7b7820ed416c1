package service

import (
	"context"
	"sync"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// NodeFinding is one finding about a node of a chain.
type NodeFinding struct {
	Chain bursar.ChainID
	chain.Finding
}

// ExamineNodes asks every node of every configured chain what it is and what it offers, all at the same time, in the order
// of the configuration. It changes nothing, and a node that does not answer is a finding.
func (s *Service) ExamineNodes(ctx context.Context) []NodeFinding {
	found := make([][]chain.Finding, len(s.order))
	var group sync.WaitGroup
	for i, id := range s.order {
		examined, can := s.workers[id].chain.(chain.Examined)
		if can {
			group.Go(func() { found[i] = examined.Examine(ctx, s.DB.Now()) })
		}
	}
	group.Wait()
	var all []NodeFinding
	for i, list := range found {
		for _, f := range list {
			all = append(all, NodeFinding{s.order[i], f})
		}
	}
	return all
}
