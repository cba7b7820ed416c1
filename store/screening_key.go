package store

import (
	"context"
	"time"
)

// The settings that say that a database is screened.
const (
	screeningKey = "screening_key" // of the service that screens it; empty: it is not screened
	screeningEnd = "screening_end" // who ended that last, when and why
)

// Screened returns the key of the service that screens this database; "" if none does.
func (tx Settings) Screened(ctx context.Context) (key string, err error) {
	return tx.Get(ctx, screeningKey)
}

// NoteScreened notes that a service with a key screens this database.
func (tx Settings) NoteScreened(ctx context.Context, key string) error {
	return tx.set(ctx, "note screening", screeningKey, key)
}

// EndScreened notes that nothing screens this database any more, with who ended it and why.
func (tx Settings) EndScreened(ctx context.Context, actor, reason string) error {
	if err := tx.set(ctx, "end screening", screeningKey, ""); err != nil {
		return err
	}
	return tx.set(ctx, "end screening", screeningEnd, tx.now.UTC().Format(time.RFC3339)+" "+actor+": "+reason)
}
