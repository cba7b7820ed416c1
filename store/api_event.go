package store

import (
	"context"
	"strings"
)

// eventAttempt is an attempt with the number of its event.
type eventAttempt struct {
	Attempt
	event int64
}

var eventAttemptColumns = columnsWithin(attemptColumns, func(a *eventAttempt) *Attempt { return &a.Attempt },
	column[eventAttempt]{"event", func(a *eventAttempt) any { return &a.event }})

// AttemptsOf returns the tries of several events by the events' numbers, each event's oldest first.
func (tx Deliveries) AttemptsOf(ctx context.Context, events []int64) (map[int64][]Attempt, error) {
	of := map[int64][]Attempt{}
	for chunk := range parts(tx.Tx, events) {
		those, args := among(tx.Tx, "event", chunk)
		first := strings.Replace(those, "event", "number", 1)
		found, err := eventAttemptColumns.rows(ctx, tx.Tx, "list attempts", `FROM (
			SELECT event, attempt, at, duration, code, error FROM attempts WHERE `+those+` UNION ALL
			SELECT number, 1, first_at, first_duration, first_code, '' FROM events WHERE first_at > 0 AND `+first+`
			) AS made ORDER BY event, attempt`, args...)
		if err != nil {
			return nil, err
		}
		for _, a := range found {
			of[a.event] = append(of[a.event], a.Attempt)
		}
	}
	return of, nil
}
