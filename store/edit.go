package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Edit has f change a database in memory behind the service's back, as somebody does who can write to it: for
// simulations of that. No link and no seal covers what f writes.
func (db *DB) Edit(ctx context.Context, f func(tx *sql.Tx) error) error {
	if db.postgres || db.read != db.write {
		return errors.New("only a database in memory is edited")
	}
	tx, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("edit: %w", err)
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return fmt.Errorf("edit: %w", err)
	}
	return tx.Commit()
}
