package store

import (
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar"
)

// receiversAtOnce bounds how many receivers one LeaseFrom looks at.
const receiversAtOnce = 16

// LeaseFrom is Lease in the order of the receivers and not of time, for when one receiver's backlog would delay all
// others: it takes up to limit due events of the receivers behind one, except some, of a few receivers at most. It
// returns the last receiver that it looked at, from which the next call goes on; the zero Receiver at the end.
func (tx Deliveries) LeaseFrom(ctx context.Context, until time.Time, limit int, after Receiver,
	except map[Receiver]bool) (leased []Delivery, last Receiver, err error) {
	if err := tx.byIndex(ctx); err != nil {
		return nil, after, err
	}
	for range receiversAtOnce {
		after, err = tx.nextReceiver(ctx, after)
		if errors.Is(err, ErrNotFound) {
			return leased, Receiver{}, nil
		}
		if err != nil {
			return nil, after, err
		}
		if except[after] {
			continue
		}
		list, err := tx.leaseOf(ctx, until, limit-len(leased), after)
		if leased = append(leased, list...); err != nil || len(leased) == limit {
			return leased, after, err
		}
	}
	return leased, after, nil
}

// nextReceiver returns the first receiver behind another one that has an event to be delivered, or ErrNotFound.
func (tx Deliveries) nextReceiver(ctx context.Context, after Receiver) (next Receiver, err error) {
	account := after.Account[:]
	if after == (Receiver{}) {
		account = []byte{} // before every account
	}
	err = tx.row(ctx, "look for the next receiver", `SELECT account_id, url FROM events
		WHERE status = 'pending' AND (account_id, url) > ($1, $2) ORDER BY account_id, url LIMIT 1`,
		[]any{account, after.URL}, &next.Account, &next.URL)
	return next, err
}

func (tx Deliveries) leaseOf(ctx context.Context, until time.Time, limit int, from Receiver) ([]Delivery, error) {
	return rows(ctx, tx.Tx, "lease a receiver's deliveries", deliveryColumns.scan,
		`UPDATE events SET next_at = $2, attempts = attempts + 1 WHERE number IN (
		SELECT number FROM events WHERE status = 'pending' AND account_id = $4 AND url = $5 AND next_at <= $1
		ORDER BY next_at LIMIT $3`+tx.skipLocked()+`) RETURNING `+deliveryColumns.names,
		micros(tx.now), micros(until), limit, from.Account, from.URL)
}

// ReceiverOf returns where an event goes.
func ReceiverOf(e bursar.Event) Receiver { return Receiver{e.AccountID, e.URL} }
