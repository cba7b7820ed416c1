package bursartest

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

// Quoted is a chain whose fees the test sets.
type Quoted struct {
	*sim.Chain
	Fee func(chain.Payment) (bursar.Amount, error)
}

// Quote implements the chain's method with the test's fee.
func (q Quoted) Quote(_ context.Context, p chain.Payment) (bursar.Amount, error) { return q.Fee(p) }
