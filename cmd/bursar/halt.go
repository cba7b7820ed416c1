package main

import (
	"context"

	"github.com/bursar/bursar/store"
)

// resumeAll ends every halt of a scope.
func resumeAll(ctx context.Context, tx *store.Tx, scope store.HaltScope) error {
	halts, err := tx.HaltsOf(ctx, scope)
	for _, h := range halts {
		if err == nil {
			_, err = tx.Resume(ctx, scope, h.Kind, "")
		}
	}
	return err
}
