package follow

import (
	"context"

	"github.com/bursar/bursar/store"
)

// Creditors are several creditors of a chain, which book in their order.
type Creditors []Creditor

// Begin implements Creditor.
func (c Creditors) Begin(ctx context.Context, lease store.Lease) {
	for _, one := range c {
		one.Begin(ctx, lease)
	}
}

// AnyDue implements Creditor.
func (c Creditors) AnyDue(ctx context.Context, tx *store.Tx, at Finality) (bool, error) {
	for _, one := range c {
		if due, err := one.AnyDue(ctx, tx, at); err != nil || due {
			return due, err
		}
	}
	return false, nil
}

// Credit implements Creditor.
func (c Creditors) Credit(ctx context.Context, tx *store.Tx, at Finality) (credited int, more bool, err error) {
	for _, one := range c {
		n, rest, err := one.Credit(ctx, tx, at)
		if err != nil {
			return 0, false, err
		}
		credited, more = credited+n, more || rest
	}
	return credited, more, nil
}
