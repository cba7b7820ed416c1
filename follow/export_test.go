package follow

import (
	"context"

	"github.com/bursar/bursar/store"
)

// NoteFailure does what Run does after a step that failed.
func (f *Follower) NoteFailure(ctx context.Context, lease store.Lease, failures int, err error) {
	f.noteFailure(ctx, lease, failures, err)
}

// NoteSuccess does what Run does after a step that succeeded.
func (f *Follower) NoteSuccess(ctx context.Context, lease store.Lease) { f.noteSuccess(ctx, lease) }
