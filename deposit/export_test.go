package deposit

import (
	"context"

	"github.com/bursar/bursar/store"
)

// JudgePending is what Run begins with.
func (f *Follower) JudgePending(ctx context.Context, lease store.Lease) error {
	return f.judgePending(ctx, lease)
}
