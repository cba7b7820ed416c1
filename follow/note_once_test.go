package follow_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
)

// A chain that is followed without errors writes no note, however often it steps; a note is cleared once.
func TestAChainWithoutErrorsWritesNoNote(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		notes := 0
		f.DB = f.DB.As(f.DB.Now, store.Conduct{Before: func(_ context.Context, at store.Point, what string) error {
			if at == store.Running && strings.Contains(what, "failing = ") {
				notes++
			}
			return nil
		}})
		for _, step := range []struct {
			name  string
			do    func()
			notes int
		}{
			{"no error", func() { f.NoteSuccess(ctx, f.Lease) }, 0},
			{"the node is away", func() { f.NoteFailure(ctx, f.Lease, 1, errors.New("away")) }, 1},
			{"it is still away", func() { f.NoteFailure(ctx, f.Lease, 2, errors.New("away")) }, 0},
			{"it is back", func() { f.NoteSuccess(ctx, f.Lease) }, 1},
			{"it is still there", func() { f.NoteSuccess(ctx, f.Lease) }, 0},
		} {
			notes = 0
			if step.do(); notes != step.notes {
				t.Errorf("%s: %d notes are written, want %d", step.name, notes, step.notes)
			}
		}
	})
}
