package deposit

import (
	"context"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// EvaluatePending re-evaluates pending deposits, as Begin does.
func (h *Handler) EvaluatePending(ctx context.Context, lease store.Lease) error {
	return h.evaluatePending(ctx, lease)
}

// Waited makes every deposit's wait for a second opinion so much longer.
func (o *Quorum) Waited(longer time.Duration) {
	for id := range o.waiting {
		o.waiting[id] = o.waiting[id].Add(-longer)
	}
}

// Hear asks every endpoint about a deposit that waits in a block, and returns the evaluation.
func (o *Quorum) Hear(ctx context.Context, ref chain.BlockRef, d bursar.Deposit) string {
	j := o.collectReports(ctx, awaitingBlock{ref: ref, waiting: []bursar.Deposit{d}, all: []bursar.Deposit{d}})
	switch {
	case len(j.agreed) == 1:
		return "agreed"
	case len(j.refuted) == 1:
		return "refuted"
	}
	return "open"
}
