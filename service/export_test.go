package service

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// CheckAssets compares the tokens of a chain with their contracts now.
func (s *Service) CheckAssets(ctx context.Context, id bursar.ChainID) bool {
	c := s.workers[id].chain
	return s.checkAssets(ctx, c, c.(chain.AssetChecker))
}

// Halted returns the halts that the signer is sent.
var Halted = halted
