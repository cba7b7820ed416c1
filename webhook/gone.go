package webhook

import (
	"context"

	"github.com/bursar/bursar/store"
)

// disabledAtOnce is how many waiting events of a receiver that answered 410 Gone one transaction disables at most, so
// that no number of them takes longer than a transaction may.
const disabledAtOnce = 1000

// disable disables all that waits for a receiver that answered 410 Gone, in transactions of their own, while other work
// continues. What is left, because the process ends or the database fails, is disabled when it is due.
func (d *Deliverer) disable(r store.Receiver) {
	if _, busy := d.disabling.LoadOrStore(r, true); busy {
		return
	}
	d.begin(func() {
		defer d.disabling.Delete(r)
		for !d.queues.isClosed() {
			n, err := d.disableSome(r)
			if err != nil {
				d.log.Error("failed to disable events of a webhook that answered 410", "error", err)
			}
			if err != nil || n < disabledAtOnce {
				return
			}
		}
	})
}

func (d *Deliverer) disableSome(r store.Receiver) (n int64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), recordTimeout)
	defer cancel()
	err = d.db.Do(ctx, func(tx *store.Tx) (err error) {
		n, err = tx.WebhookURLs().DisableWaiting(ctx, r, disabledAtOnce)
		return err
	})
	return n, err
}

// disableDue disables those of some due events whose receivers are dead, and once that is committed the others of those
// receivers.
func (d *Deliverer) disableDue(ctx context.Context, tx *store.Tx, due []store.Delivery,
	dead map[store.Receiver]bool) error {
	var numbers []int64
	for _, delivery := range due {
		if dead[store.ReceiverOf(delivery.Event)] {
			numbers = append(numbers, delivery.Number)
		}
	}
	tx.After(func() {
		for r := range dead {
			d.disable(r)
		}
	})
	return tx.WebhookURLs().DisableEach(ctx, numbers)
}
