package store

import (
	"context"
	"fmt"
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

// DeliveryStates returns every delivery state.
func DeliveryStates() []string {
	return []string{DeliveryPending, DeliveryDelivered, DeliveryFailed, DeliveryDisabled}
}

// Delivery is an event and how far its delivery has come.
type Delivery struct {
	bursar.Event
	Status      string
	Attempts    int64 // on record; an event of an earlier version also counts leases that came to nothing
	Tries       int64 // attempts of the schedule that are used up
	NextAt      time.Time
	LastCode    int64 // HTTP status of the newest attempt; 0 when there was no answer
	LastError   string
	DeliveredAt time.Time
}

var deliveryColumns = columnsOf([]column[Delivery]{
	{"number", func(d *Delivery) any { return &d.Number }},
	{"id", func(d *Delivery) any { return &d.ID }},
	{"account_id", func(d *Delivery) any { return &d.AccountID }},
	{"kind", func(d *Delivery) any { return &d.Kind }},
	{"subject", func(d *Delivery) any { return &d.Subject }},
	{"url", func(d *Delivery) any { return &d.URL }},
	{"body", func(d *Delivery) any { return &d.Body }},
	{"created_at", func(d *Delivery) any { return instant{&d.CreatedAt} }},
	{"status", func(d *Delivery) any { return &d.Status }},
	{"attempts", func(d *Delivery) any { return &d.Attempts }},
	{"tries", func(d *Delivery) any { return &d.Tries }},
	{"next_at", func(d *Delivery) any { return instant{&d.NextAt} }},
	{"last_code", func(d *Delivery) any { return &d.LastCode }},
	{"last_error", func(d *Delivery) any { return &d.LastError }},
	{"delivered_at", func(d *Delivery) any { return instant{&d.DeliveredAt} }},
})

// Insert is Events.Record for who need not know whether the event will be sent.
func (tx Events) Insert(ctx context.Context, e bursar.Event) error {
	_, err := tx.Record(ctx, e)
	return err
}

// Record records an event to be delivered as soon as the transaction commits, and reports whether it will be: one
// without a URL, or to a URL that answered 410 Gone, is kept and not sent.
func (tx Events) Record(ctx context.Context, e bursar.Event) (due bool, err error) {
	if err := tx.drawNumbers(ctx); err != nil {
		return false, err
	}
	query, args := values{
		{"account_id", e.AccountID}, // $1
		{"url", e.URL},              // $2
		{"status", expression(`CASE WHEN $2 = '' OR EXISTS (SELECT 1 FROM dead_urls WHERE account_id = $1 AND url = $2)
			THEN 'disabled' ELSE 'pending' END`)},
		{"id", e.ID},
		{"kind", string(e.Kind)},
		{"subject", e.Subject},
		{"body", e.Body},
		{"created_at", micros(e.CreatedAt)},
		{"next_at", micros(tx.now)},
	}.insertInto("events")
	err = tx.row(ctx, "insert event", query+` RETURNING status = 'pending'`, args, &due)
	return due, err
}

// RecordAll is Record for several events, in one statement on PostgreSQL and two on SQLite. What it returns says which
// events will be sent, in their order; it is known when the transaction commits.
func (tx Events) RecordAll(ctx context.Context, events []bursar.Event) (*Deferred[[]bool], error) {
	if len(events) == 0 {
		return known([]bool(nil)), nil
	}
	if tx.postgres {
		return tx.recordTogether(ctx, events)
	}
	dead, err := tx.deadURLs(ctx, events)
	if err != nil {
		return nil, err
	}
	due := make([]bool, len(events))
	in := insertion{what: "insert events", table: "events", rows: len(events)}
	for i, e := range events {
		status := DeliveryDisabled
		if due[i] = e.URL != "" && !dead[ReceiverOf(e)]; due[i] {
			status = DeliveryPending
		}
		in.add(append(tx.recordedEvent(e), value{"status", status}))
	}
	return known(due), tx.insertRows(ctx, in)
}

func (tx *Tx) recordedEvent(e bursar.Event) values {
	return values{
		{"account_id", e.AccountID},
		{"url", e.URL},
		{"id", e.ID},
		{"kind", string(e.Kind)},
		{"subject", e.Subject},
		{"body", e.Body},
		{"created_at", micros(e.CreatedAt)},
		{"next_at", micros(tx.now)},
	}
}

// recordTogether has the server itself look which receivers answered 410 Gone.
func (tx *Tx) recordTogether(ctx context.Context, events []bursar.Event) (*Deferred[[]bool], error) {
	if err := tx.drawNumbers(ctx); err != nil {
		return nil, err
	}
	in := insertion{what: "insert events", table: "events", rows: len(events)}
	for _, e := range events {
		in.add(tx.recordedEvent(e))
	}
	all, arrays, err := columnsFirst(in.args, in.width, 0)
	if err != nil {
		return nil, fmt.Errorf("insert events: %w", err)
	}
	type recorded struct {
		id  bursar.ID
		due bool
	}
	return ask(ctx, tx, in.what, func(s scanner) (r recorded, err error) {
		return r, s.Scan(&r.id, &r.due)
	}, func(list []recorded) ([]bool, error) {
		dueOf := make(map[bursar.ID]bool, len(list))
		for _, r := range list {
			dueOf[r.id] = r.due
		}
		due := make([]bool, len(events))
		for i, e := range events {
			due[i] = dueOf[e.ID]
		}
		return due, nil
	}, `INSERT INTO events(account_id, url, id, kind, subject, body, created_at, next_at, status)
		SELECT e.*, CASE WHEN e.url = '' OR EXISTS (SELECT 1 FROM dead_urls d WHERE d.account_id = e.account_id
		AND d.url = e.url) THEN 'disabled' ELSE 'pending' END
		FROM (`+all+`) AS e(account_id, url, id, kind, subject, body, created_at, next_at)
		RETURNING id, status = 'pending'`, arrays...), nil
}

// Receiver is where events of an account go.
type Receiver struct {
	Account bursar.ID
	URL     string
}

// deadURLs returns the receivers of some events that answered 410 Gone.
func (tx *Tx) deadURLs(ctx context.Context, events []bursar.Event) (map[Receiver]bool, error) {
	receivers := make([]Receiver, len(events))
	for i, e := range events {
		receivers[i] = ReceiverOf(e)
	}
	return WebhookURLs{tx}.Disabled(ctx, receivers)
}

// Disabled returns those of some receivers that answered 410 Gone.
func (tx WebhookURLs) Disabled(ctx context.Context, of []Receiver) (map[Receiver]bool, error) {
	dead, asked := map[Receiver]bool{}, map[Receiver]bool{}
	var names []any
	for _, r := range of {
		if !asked[r] {
			asked[r], names = true, append(names, r.Account, r.URL)
		}
	}
	if len(names) == 0 {
		return dead, nil
	}
	those, args, err := pairs(tx.Tx, "(account_id, url)", names)
	if err != nil {
		return nil, err
	}
	_, err = rows(ctx, tx.Tx, "list dead webhooks", func(s scanner) (struct{}, error) {
		var r Receiver
		err := s.Scan(&r.Account, &r.URL)
		dead[r] = true
		return struct{}{}, err
	}, `SELECT account_id, url FROM dead_urls WHERE `+those, args...)
	return dead, err
}

// Attempt is one try to deliver an event.
type Attempt struct {
	Number   int64
	At       time.Time
	Duration time.Duration
	Code     int64
	Error    string
}

var attemptColumns = columnsOf([]column[Attempt]{
	{"attempt", func(a *Attempt) any { return &a.Number }},
	{"at", func(a *Attempt) any { return instant{&a.At} }},
	{"duration", func(a *Attempt) any { return duration{&a.Duration} }},
	{"code", func(a *Attempt) any { return &a.Code }},
	{"error", func(a *Attempt) any { return &a.Error }},
})

// Attempts returns the tries of one event, oldest first.
func (tx Deliveries) Attempts(ctx context.Context, event int64) ([]Attempt, error) {
	of, err := tx.AttemptsOf(ctx, []int64{event})
	return of[event], err
}

// List returns an account's events with the state of their delivery, newest first.
func (tx Deliveries) List(ctx context.Context, account bursar.ID, page Page) ([]Delivery, error) {
	return deliveryColumns.rows(ctx, tx.Tx, "list deliveries", `FROM events WHERE account_id = $1 AND number < $2
		ORDER BY number DESC LIMIT $3`, account, page.bound(), page.Limit)
}

// Disable notes that a URL of an account answered 410 Gone: nothing is sent to it any more. Events to come are disabled
// from the start; those that wait are by DisableWaiting, since there may be more than one statement should change.
func (tx WebhookURLs) Disable(ctx context.Context, account bursar.ID, url string) error {
	_, err := tx.exec(ctx, "disable URL", `INSERT INTO dead_urls(account_id, url, at) VALUES ($1, $2, $3)
		ON CONFLICT (account_id, url) DO NOTHING`, account, url, micros(tx.now))
	return err
}

// DisableWaiting disables up to limit of the events that wait for a receiver, as long as it counts as gone, and returns
// how many those were.
func (tx WebhookURLs) DisableWaiting(ctx context.Context, of Receiver, limit int) (int64, error) {
	return tx.exec(ctx, "disable deliveries", `UPDATE events SET status = 'disabled' WHERE status = 'pending'
		AND number IN (SELECT number FROM events WHERE account_id = $1 AND url = $2 AND status = 'pending' LIMIT $3)
		AND EXISTS (SELECT 1 FROM dead_urls WHERE account_id = $1 AND url = $2)`, of.Account, of.URL, limit)
}

// DisableEach disables those of some events that wait, in one statement, as long as their receivers count as gone.
func (tx WebhookURLs) DisableEach(ctx context.Context, events []int64) error {
	if len(events) == 0 {
		return nil
	}
	among, args := tx.numbers(events)
	_, err := tx.exec(ctx, "disable due deliveries",
		`UPDATE events SET status = 'disabled' WHERE status = 'pending' AND number IN (`+among+`)
		AND EXISTS (SELECT 1 FROM dead_urls d WHERE d.account_id = events.account_id AND d.url = events.url)`, args...)
	return err
}

// Enable allows a URL again, as setting it again does.
func (tx WebhookURLs) Enable(ctx context.Context, account bursar.ID, url string) error {
	_, err := tx.exec(ctx, "enable URL", `DELETE FROM dead_urls WHERE account_id = $1 AND url = $2`, account, url)
	return err
}

// EnableEach is Enable for several receivers, in one statement: most accounts have no URL that answered so.
func (tx WebhookURLs) EnableEach(ctx context.Context, receivers []Receiver) error {
	seen := map[Receiver]bool{}
	var names []any
	for _, r := range receivers {
		if !seen[r] {
			seen[r], names = true, append(names, r.Account, r.URL)
		}
	}
	if len(names) == 0 {
		return nil
	}
	those, args, err := pairs(tx.Tx, "(account_id, url)", names)
	if err != nil {
		return err
	}
	return tx.later(ctx, pipelined{what: "enable URLs", query: `DELETE FROM dead_urls WHERE ` + those, args: args})
}
