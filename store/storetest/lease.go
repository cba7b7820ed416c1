package storetest

import (
	"context"
	"time"

	"github.com/bursar/bursar/store"
)

// Lease takes up to limit due events for a deliverer that has leased nothing before, as webhook.Deliverer does, until
// the time until.
func Lease(ctx context.Context, tx *store.Tx, until time.Time, limit int) ([]store.Delivery, error) {
	leased, err := tx.Deliveries().LeasedByOthers(ctx, store.DeliveryLease{})
	if err != nil {
		return nil, err
	}
	due, err := tx.Deliveries().Due(ctx, leased, limit)
	if err != nil {
		return nil, err
	}
	var numbers []int64
	for _, d := range due {
		numbers = append(numbers, d.Number)
	}
	_, err = tx.Deliveries().KeepLease(ctx, store.DeliveryLease{}, until, numbers)
	return due, err
}
