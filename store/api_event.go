package store

import (
	"context"
	"slices"
	"time"
)

// AttemptsOf returns the tries of several events by the events' numbers, each event's oldest first.
func (tx Deliveries) AttemptsOf(ctx context.Context, events []int64) (map[int64][]Attempt, error) {
	type attempt struct {
		event int64
		Attempt
	}
	of := map[int64][]Attempt{}
	for chunk := range slices.Chunk(events, 500) {
		args := make([]any, len(chunk))
		for i, event := range chunk {
			args[i] = event
		}
		found, err := rows(ctx, tx.Tx, "list attempts", func(s scanner) (a attempt, err error) {
			var micro int64
			err = s.Scan(&a.event, &a.Number, instant{&a.At}, &micro, &a.Code, &a.Error)
			a.Duration = time.Duration(micro) * time.Microsecond
			return a, err
		}, `SELECT event, attempt, at, duration, code, error FROM attempts WHERE event IN (`+list(len(chunk), 0)+`) ORDER BY event, attempt`, args...)
		if err != nil {
			return nil, err
		}
		for _, a := range found {
			of[a.event] = append(of[a.event], a.Attempt)
		}
	}
	return of, nil
}
