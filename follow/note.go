package follow

import (
	"context"
	"strings"
	"time"

	"github.com/bursar/bursar/store"
)

// unknownNote represents the note of an earlier process in the database, which the first step overwrites.
const unknownNote = "\x00"

// Limits of what is written about a failure.
const (
	noteLength = 500              // bytes
	noteAge    = 10 * time.Second // how often an error is written that changes with every attempt
)

// noteFailure logs that the chain cannot be followed, and writes the reason into the database, where the commands of
// other processes read it. In a series of failures the 1st, 2nd, 4th, 8th … one is logged.
func (f *Follower) noteFailure(ctx context.Context, lease store.Lease, failures int, err error) {
	id := f.Chain.Capabilities().ID
	if failures&(failures-1) == 0 {
		f.Log.Warn("chain cannot be followed now", "chain", id, "failures", failures, "error", err)
	}
	text := err.Error()
	text = strings.ToValidUTF8(text[:min(len(text), noteLength)], "")
	m := f.memory
	fresh := m.failureNote != "" && m.failureNote != unknownNote && f.DB.Now().Sub(m.failureNotedAt) < noteAge
	if text == m.failureNote || fresh {
		return
	}
	f.writeNote(ctx, lease, text)
}

// noteSuccess clears the note.
func (f *Follower) noteSuccess(ctx context.Context, lease store.Lease) {
	if f.memory.failureNote == "" {
		return
	}
	recovered := f.memory.failureNote != unknownNote
	if f.writeNote(ctx, lease, "") && recovered {
		f.Log.Info("chain is followed again", "chain", f.Chain.Capabilities().ID)
	}
}

func (f *Follower) writeNote(ctx context.Context, lease store.Lease, text string) bool {
	err := f.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		return tx.Chains().SetFailing(ctx, lease.Chain, text)
	})
	if err == nil {
		f.memory.failureNote, f.memory.failureNotedAt = text, f.DB.Now()
	}
	return err == nil
}
