package main

import (
	"context"

	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/store"
)

// acts reads the whole log of acts, and says the hash that it ends with.
func (e *healthCheck) acts(ctx context.Context, db *store.DB) {
	last, err := operator.Verify(ctx, db)
	switch {
	case err != nil:
		e.advise("log of acts", resultFailed, "find out who can write to the database; a backup has the rows as they were",
			"%v", err)
	case last.Number == 0:
		e.note("log of acts", resultOK, "nothing was recorded yet")
	default:
		e.note("log of acts", resultOK, "%d acts are whole; the last has the hash %x", last.Number, last.Hash)
	}
}
