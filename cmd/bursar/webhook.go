package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

type webhookCommands struct {
	List      webhookListCommand      `cmd:"" help:"List events and the state of their delivery, newest first."`
	Show      webhookShowCommand      `cmd:"" help:"Show an event with every attempt to deliver it."`
	Redeliver webhookRedeliverCommand `cmd:"" help:"Send events again."`
	Test      webhookTestCommand      `cmd:"" help:"Send a test event and report its delivery."`
	Enable    webhookEnableCommand    `cmd:"" help:"Enable a URL again that answered 410 Gone."`
}

type webhookListCommand struct {
	Account bursar.ID `type:"account" placeholder:"ACCOUNT" help:"List only events of this account."`
	Status  string    `enum:",pending,delivered,failed,disabled" default:"" help:"List only events that are pending, delivered, failed (given up) or disabled (no destination)."`
	Since   string    `placeholder:"TIME" help:"List only events since this time, such as 2026-01-31T12:00:00Z."`
	Limit   int       `default:"100" help:"Maximum number of events, 1 to 10000."`
	JSON    bool      `name:"json" help:"Print a JSON array."`
}

// Help returns an example.
func (webhookListCommand) Help() string {
	return "Example:\n\n    bursar webhook list --account 0193a6a0-0000-7000-8000-000000000000 --status failed"
}

// listedEvent is an event with the state of its delivery.
type listedEvent struct {
	EventID       bursar.ID        `json:"eventID"`
	AccountID     bursar.ID        `json:"accountID"`
	Event         bursar.EventKind `json:"event"`
	Subject       bursar.ID        `json:"subject"` // of the deposit, charge or withdrawal
	Webhook       *string          `json:"webhook"`
	Status        string           `json:"status"`
	Attempts      int              `json:"attempts"`
	LastAttemptAt *time.Time       `json:"lastAttemptAt"`
	LastStatus    int64            `json:"lastStatus"` // HTTP status; 0 if there was no answer
	LastError     *string          `json:"lastError"`
	NextAttemptAt *time.Time       `json:"nextAttemptAt"`
	DeliveredAt   *time.Time       `json:"deliveredAt"`
	CreatedAt     time.Time        `json:"createdAt"`
}

func listEvent(d store.Delivery, attempts []store.Attempt) listedEvent {
	l := listedEvent{
		EventID:     d.ID,
		AccountID:   d.AccountID,
		Event:       d.Kind,
		Subject:     d.Subject,
		Webhook:     optional(d.URL),
		Status:      d.Status,
		Attempts:    len(attempts),
		LastStatus:  d.LastCode,
		LastError:   optional(d.LastError),
		DeliveredAt: optional(d.DeliveredAt),
		CreatedAt:   d.CreatedAt,
	}
	if len(attempts) > 0 {
		l.LastAttemptAt = &attempts[len(attempts)-1].At
	}
	if d.Status == store.DeliveryPending {
		l.NextAttemptAt = &d.NextAt
	}
	return l
}

// Run lists events.
func (cmd *webhookListCommand) Run(ctx context.Context, c *call) error {
	since, err := sinceOf(cmd.Since)
	if err != nil {
		return err
	}
	if cmd.Limit < 1 || cmd.Limit > maxListed {
		return wrong("--limit must be between 1 and %d", maxListed)
	}
	db, _, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	listed, err := findEvents(ctx, db, store.DeliveryFilter{Account: cmd.Account, Status: cmd.Status, Since: since},
		cmd.Limit)
	if err != nil {
		return err
	}
	return list(c, cmd.JSON, listed, "EVENT CREATED ACCOUNT KIND STATUS ATTEMPTS LAST-ATTEMPT CODE WEBHOOK",
		func(l listedEvent) []any {
			return []any{l.EventID, l.CreatedAt, l.AccountID, l.Event, l.Status, l.Attempts, momentOf(l.LastAttemptAt),
				l.LastStatus, word(l.Webhook)}
		})
}

func momentOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return moment(*t)
}

// sinceOf parses --since; it returns the zero time if the flag is empty.
func sinceOf(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, wrong("--since %q is not a time such as 2026-01-31T12:00:00Z", text)
	}
	return at, nil
}

// findEvents reads page by page until it has enough events.
func findEvents(ctx context.Context, db *store.DB, f store.DeliveryFilter, limit int) ([]listedEvent, error) {
	var found []listedEvent
	page := store.Page{}
	for {
		page.Limit = min(pageSize, limit-len(found))
		var next []store.Delivery
		var attempts map[int64][]store.Attempt
		err := db.View(ctx, func(tx *store.Tx) (err error) {
			if next, err = tx.Deliveries().Find(ctx, f, page); err != nil {
				return err
			}
			numbers := make([]int64, len(next))
			for i, d := range next {
				numbers[i] = d.Number
			}
			attempts, err = tx.Deliveries().AttemptsOf(ctx, numbers)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, d := range next {
			found = append(found, listEvent(d, attempts[d.Number]))
			page.Before = d.Number
		}
		if len(next) < page.Limit || len(found) == limit {
			return found, nil
		}
	}
}

type webhookShowCommand struct {
	ID   bursar.ID `arg:"" placeholder:"EVENT" help:"ID of the event."`
	JSON bool      `name:"json" help:"Print one line of JSON."`
}

// Help returns an example.
func (webhookShowCommand) Help() string {
	return "Example:\n\n    bursar webhook show 0193a6a0-0000-7000-8000-000000000000"
}

// shownEvent is an event with its delivery attempts.
type shownEvent struct {
	listedEvent
	Tries []shownAttempt  `json:"tries"`
	Body  json.RawMessage `json:"body"`
}

type shownAttempt struct {
	Attempt    int64     `json:"attempt"`
	At         time.Time `json:"at"`
	Millis     int64     `json:"milliseconds"`
	HTTPStatus int64     `json:"httpStatus"` // 0 if there was no answer
	Error      *string   `json:"error"`
}

// readEvent reads an event with all its attempts. It returns bursar.ErrNotFound if the event is unknown.
func readEvent(ctx context.Context, db *store.DB, id bursar.ID) (e shownEvent, err error) {
	err = db.View(ctx, func(tx *store.Tx) error {
		d, err := tx.Deliveries().ByID(ctx, id)
		if err != nil {
			return err
		}
		attempts, err := tx.Deliveries().Attempts(ctx, d.Number)
		e = shownEvent{listedEvent: listEvent(d, attempts), Tries: []shownAttempt{}, Body: d.Body}
		for _, a := range attempts {
			e.Tries = append(e.Tries, shownAttempt{a.Number, a.At, a.Duration.Milliseconds(), a.Code, optional(a.Error)})
		}
		return err
	})
	return e, err
}

// Run shows an event.
func (cmd *webhookShowCommand) Run(ctx context.Context, c *call) error {
	db, _, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	e, err := readEvent(ctx, db, cmd.ID)
	if err != nil {
		return unknownEvent(err, cmd.ID)
	}
	return c.showEvent(e, cmd.JSON)
}

func (c *call) showEvent(e shownEvent, asJSON bool) error {
	if asJSON {
		return c.PrintJSON(e)
	}
	err := c.pairs("eventID", e.EventID.String(), "accountID", e.AccountID.String(), "event", string(e.Event), "subject",
		e.Subject.String(),
		"webhook", cell(word(e.Webhook)), "status", e.Status, "created", moment(e.CreatedAt), "next attempt",
		cell(momentOf(e.NextAttemptAt)),
		"delivered", cell(momentOf(e.DeliveredAt)), "body", cell(string(e.Body)))
	if err != nil || len(e.Tries) == 0 {
		return err
	}
	return list(c, false, e.Tries, "ATTEMPT AT MILLISECONDS CODE ERROR", func(a shownAttempt) []any {
		return []any{a.Attempt, a.At, a.Millis, a.HTTPStatus, word(a.Error)}
	})
}

// unknownEvent turns bursar.ErrNotFound into an error message about an unknown event ID.
func unknownEvent(err error, id bursar.ID) error {
	return named(err, "there is no event %s: see `bursar webhook list`", id)
}

// sent describes how an event was received.
func (e shownEvent) sent() string {
	last := e.Tries[len(e.Tries)-1]
	return fmt.Sprintf("%s answered %d after %d ms", word(e.Webhook), last.HTTPStatus, last.Millis)
}
