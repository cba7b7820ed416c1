package follow

import (
	"context"
	"strings"
	"time"

	"github.com/bursar/bursar/store"
)

// unknownNote stands for a note of an earlier process in the database, which the first step overwrites.
const unknownNote = "\x00"

// Bounds of what is written about a failure.
const (
	noteLength = 500              // bytes
	noteAge    = 10 * time.Second // an error that changes with every try is written so often
)

// noteFailure logs that the chain cannot be followed and writes why into the database, where the commands of other
// processes read it. A row of failures is logged at its 1st, 2nd, 4th, 8th … one.
func (f *Follower) noteFailure(ctx context.Context, lease store.Lease, failures int, err error) {
	id := f.Chain.Capabilities().ID
	if failures&(failures-1) == 0 {
		f.Log.Warn("chain cannot be followed now", "chain", id, "failures", failures, "error", err)
	}
	text := err.Error()
	text = strings.ToValidUTF8(text[:min(len(text), noteLength)], "")
	fresh := f.noted != "" && f.noted != unknownNote && f.DB.Now().Sub(f.notedAt) < noteAge
	if text == f.noted || fresh {
		return
	}
	f.note(ctx, lease, text)
}

// noteSuccess takes the note back.
func (f *Follower) noteSuccess(ctx context.Context, lease store.Lease) {
	if f.noted == "" {
		return
	}
	recovered := f.noted != unknownNote
	if f.note(ctx, lease, "") && recovered {
		f.Log.Info("chain is followed again", "chain", f.Chain.Capabilities().ID)
	}
}

func (f *Follower) note(ctx context.Context, lease store.Lease, text string) bool {
	err := f.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		return tx.Chains().SetFailing(ctx, lease.Chain, text)
	})
	if err == nil {
		f.noted, f.notedAt = text, f.DB.Now()
	}
	return err == nil
}
