package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
)

// ErrRecovering is returned for a change of a payment while a database restored from a backup may not know that it was
// made. Nothing has changed then.
var ErrRecovering = errors.New("the chain recovers, or is about to: it may be paid already; see `bursar recovery " +
	"status`")

// Behind returns the reason why the database is, or may be, older than the chains; "" if there is none. nil: there
// never is one.
type Behind func(context.Context) (string, error)

// Refuse returns ErrRecovering with the reason if the database may lack payments and no chain recovers yet: between a
// restore or a failover and the service's next check of it. what is about to change.
func (b Behind) Refuse(ctx context.Context, what string) error {
	if b == nil {
		return nil
	}
	why, err := b(ctx)
	if err != nil {
		return fmt.Errorf("compare the database with the marks before %s changes: %w", what, err)
	}
	if why != "" {
		return fmt.Errorf("%w: %s; start the service, which checks it, and try again", ErrRecovering, why)
	}
	return nil
}

// Refuse returns ErrRecovering while a chain is in a recovery, which may show that a payment was made.
func (tx Recoveries) Refuse(ctx context.Context, chain bursar.ChainID) error {
	open, err := tx.IsOpen(ctx, chain)
	if err == nil && open {
		err = ErrRecovering
	}
	return err
}
