package store

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// Delivery states of an event.
const (
	DeliveryPending   = "pending"
	DeliveryDelivered = "delivered"
	DeliveryFailed    = "failed"   // every attempt of the schedule was used
	DeliveryDisabled  = "disabled" // the receiver answered 410 Gone
)

// Delivery is an event and how far its delivery has come.
type Delivery struct {
	bursar.Event
	Status      string
	Attempts    int64
	NextAt      time.Time
	LastCode    int64 // HTTP status of the newest attempt; 0 when there was no answer
	LastError   string
	DeliveredAt time.Time
}

const deliveryColumns = `number, id, account_id, kind, subject, url, body, created_at, status, attempts, next_at, last_code, last_error, delivered_at`

func scanDelivery(s scanner) (d Delivery, err error) {
	err = s.Scan(&d.Number, &d.ID, &d.AccountID, &d.Kind, &d.Subject, &d.URL, &d.Body, instant{&d.CreatedAt}, &d.Status, &d.Attempts,
		instant{&d.NextAt}, &d.LastCode, &d.LastError, instant{&d.DeliveredAt})
	return d, err
}

// InsertEvent is RecordEvent for who need not know whether the event will be sent.
func (tx *Tx) InsertEvent(ctx context.Context, e bursar.Event) error {
	_, err := tx.RecordEvent(ctx, e)
	return err
}

// RecordEvent records an event to be delivered as soon as the transaction commits, and reports whether it will be: one
// without a URL, or to a URL that answered 410 Gone, is kept and not sent.
func (tx *Tx) RecordEvent(ctx context.Context, e bursar.Event) (due bool, err error) {
	err = tx.row(ctx, "insert event", `INSERT INTO events(id, account_id, kind, subject, url, body, created_at, next_at, status)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, CASE WHEN $5 = '' OR EXISTS (SELECT 1 FROM dead_urls WHERE account_id = $2 AND url = $5)
			THEN 'disabled' ELSE 'pending' END) RETURNING status = 'pending'`,
		[]any{e.ID, e.AccountID, string(e.Kind), e.Subject, e.URL, e.Body, micros(e.CreatedAt), micros(tx.now)}, &due)
	return due, err
}

// ClaimDeliveries takes up to limit due events for one worker until the time until, and counts the attempt. A worker that dies loses them
// back to the others then.
func (tx *Tx) ClaimDeliveries(ctx context.Context, until time.Time, limit int) ([]Delivery, error) {
	return rows(ctx, tx, "claim deliveries", scanDelivery, `UPDATE events SET claimed_until = $2, next_at = $2, attempts = attempts + 1 WHERE number IN (
		SELECT number FROM events WHERE status = 'pending' AND next_at <= $1 ORDER BY next_at LIMIT $3`+tx.skipLocked()+`) RETURNING `+deliveryColumns,
		micros(tx.now), micros(until), limit)
}

// NextDelivery returns when the next event is due, and false when none waits.
func (tx *Tx) NextDelivery(ctx context.Context) (time.Time, bool, error) {
	var at time.Time
	err := tx.row(ctx, "read next delivery", `SELECT COALESCE((SELECT next_at FROM events WHERE status = 'pending' ORDER BY next_at LIMIT 1), 0)`, nil, instant{&at})
	return at, err == nil && !at.IsZero(), err
}

// Attempt is one try to deliver an event.
type Attempt struct {
	Number   int64
	At       time.Time
	Duration time.Duration
	Code     int64
	Error    string
}

// Outcome is what an attempt came to: the delivery's new state and, while it is pending, when to try again.
type Outcome struct {
	Attempt
	Event  int64 // the event's number
	Claim  int64 // Delivery.Attempts as it was claimed
	Status string
	NextAt time.Time
}

// RecordAttempts notes attempts and what they came to. One whose event was claimed anew meanwhile, by a worker that took it
// for dead, changes nothing but the log.
func (tx *Tx) RecordAttempts(ctx context.Context, outcomes []Outcome) error {
	for _, o := range outcomes {
		var delivered int64
		if o.Status == DeliveryDelivered {
			delivered = micros(tx.now)
		}
		_, err := tx.exec(ctx, "record attempt", `UPDATE events SET status = $2, next_at = $3, last_code = $4, last_error = $5, delivered_at = $6,
			claimed_until = 0 WHERE number = $1 AND attempts = $7 AND status = 'pending'`,
			o.Event, o.Status, micros(o.NextAt), o.Code, o.Error, delivered, o.Claim)
		if err != nil {
			return err
		}
	}
	return tx.insertAttempts(ctx, outcomes)
}

func (tx *Tx) insertAttempts(ctx context.Context, outcomes []Outcome) error {
	if len(outcomes) == 0 {
		return nil
	}
	var args []any
	for _, o := range outcomes {
		args = append(args, o.Event, o.Number, micros(o.At), o.Duration.Microseconds(), o.Code, o.Error)
	}
	_, err := tx.exec(ctx, "insert attempts", `INSERT INTO attempts(event, attempt, at, duration, code, error) VALUES `+tuples(len(outcomes), 6, 0)+
		` ON CONFLICT (event, attempt) DO NOTHING`, args...)
	return err
}

// Attempts returns the tries of one event, oldest first.
func (tx *Tx) Attempts(ctx context.Context, event int64) ([]Attempt, error) {
	return rows(ctx, tx, "list attempts", func(s scanner) (a Attempt, err error) {
		var micro int64
		err = s.Scan(&a.Number, instant{&a.At}, &micro, &a.Code, &a.Error)
		a.Duration = time.Duration(micro) * time.Microsecond
		return a, err
	}, `SELECT attempt, at, duration, code, error FROM attempts WHERE event = $1 ORDER BY attempt`, event)
}

// Deliveries returns an account's events with the state of their delivery, newest first.
func (tx *Tx) Deliveries(ctx context.Context, account bursar.ID, page Page) ([]Delivery, error) {
	return rows(ctx, tx, "list deliveries", scanDelivery, `SELECT `+deliveryColumns+` FROM events WHERE account_id = $1 AND number < $2
		ORDER BY number DESC LIMIT $3`, account, page.bound(), page.Limit)
}

// Redeliver makes an account's event due again, from the start of the schedule; another account's is bursar.ErrNotFound.
func (tx *Tx) Redeliver(ctx context.Context, account, id bursar.ID) error {
	return tx.change(ctx, "redeliver", bursar.ErrNotFound, `UPDATE events SET status = 'pending', next_at = $3 WHERE id = $1 AND account_id = $2 AND url <> ''`,
		id, account, micros(tx.now))
}

// RedeliverSince makes an account's events created since a time due again and returns how many.
func (tx *Tx) RedeliverSince(ctx context.Context, account bursar.ID, since time.Time) (int64, error) {
	return tx.exec(ctx, "redeliver", `UPDATE events SET status = 'pending', next_at = $3 WHERE account_id = $1 AND created_at >= $2 AND url <> ''`,
		account, micros(since), micros(tx.now))
}

// DisableURL stops deliveries to a URL of an account that answered 410 Gone: those that wait, and those to come.
func (tx *Tx) DisableURL(ctx context.Context, account bursar.ID, url string) error {
	_, err := tx.exec(ctx, "disable URL", `INSERT INTO dead_urls(account_id, url, at) VALUES ($1, $2, $3) ON CONFLICT (account_id, url) DO NOTHING`, account, url, micros(tx.now))
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, "disable deliveries", `UPDATE events SET status = 'disabled' WHERE account_id = $1 AND url = $2 AND status = 'pending'`, account, url)
	return err
}

// EnableURL allows a URL again, as setting it anew does.
func (tx *Tx) EnableURL(ctx context.Context, account bursar.ID, url string) error {
	_, err := tx.exec(ctx, "enable URL", `DELETE FROM dead_urls WHERE account_id = $1 AND url = $2`, account, url)
	return err
}

// Disabled reports whether a URL of an account answered 410 Gone.
func (tx *Tx) Disabled(ctx context.Context, account bursar.ID, url string) (bool, error) {
	var n int64
	err := tx.row(ctx, "look up URL", `SELECT COUNT(*) FROM dead_urls WHERE account_id = $1 AND url = $2`, []any{account, url}, &n)
	return n > 0, err
}
