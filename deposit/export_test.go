package deposit

import (
	"context"
	"time"

	"github.com/bursar/bursar/store"
)

// JudgePending is what Begin does.
func (h *Handler) JudgePending(ctx context.Context, lease store.Lease) error {
	return h.judgePending(ctx, lease)
}

// Waited has every deposit wait for a second opinion so much longer.
func (o *Opinions) Waited(longer time.Duration) {
	for id := range o.waiting {
		o.waiting[id] = o.waiting[id].Add(-longer)
	}
}
