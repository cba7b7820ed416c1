package store

import (
	"context"
	"errors"
	"fmt"
)

// ErrMismatch is returned by Pin when the database was made for something else.
var ErrMismatch = errors.New("the database belongs to another configuration")

// Pin writes a setting the first time and afterwards insists that it has not changed: the seed's fingerprint, the
// network.
func (tx Settings) Pin(ctx context.Context, name, value string) error {
	_, err := tx.exec(ctx, "pin setting",
		`INSERT INTO settings(name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, name, value)
	if err != nil {
		return err
	}
	var kept string
	if err := tx.row(ctx, "read setting", `SELECT value FROM settings WHERE name = $1`, []any{name}, &kept); err != nil {
		return err
	}
	if kept != value {
		return fmt.Errorf("%w: its %s is %q, configured is %q", ErrMismatch, name, kept, value)
	}
	return nil
}

// Keep writes a setting the first time, and returns what it is.
func (tx Settings) Keep(ctx context.Context, name, value string) (kept string, err error) {
	_, err = tx.exec(ctx, "keep setting",
		`INSERT INTO settings(name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, name, value)
	if err != nil {
		return "", err
	}
	return kept, tx.row(ctx, "read setting", `SELECT value FROM settings WHERE name = $1`, []any{name}, &kept)
}

// Get returns a pinned setting, or "" where there is none.
func (tx Settings) Get(ctx context.Context, name string) (string, error) {
	var value string
	err := tx.row(ctx, "read setting", `SELECT value FROM settings WHERE name = $1`, []any{name}, &value)
	if errors.Is(err, ErrNotFound) {
		return "", nil
	}
	return value, err
}

// set writes a setting, whatever it was.
func (tx Settings) set(ctx context.Context, what, name, value string) error {
	_, err := tx.exec(ctx, what, `INSERT INTO settings(name, value) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name, value)
	return err
}

// take hands out n consecutive numbers of a counter and returns the first; counters begin at 0. The counter stays
// locked until the transaction ends, so numbers become visible in their order.
func (tx *Tx) take(ctx context.Context, name string, n int) (int64, error) {
	return takeDeferred(ctx, tx, name, n, func(first int64) int64 { return first }).Get(ctx)
}

// takeDeferred is take, beside other statements; of makes the result of the first number.
func takeDeferred[T any](ctx context.Context, tx *Tx, name string, n int, of func(first int64) T) *Deferred[T] {
	return ask(ctx, tx, "take numbers", scanOne[int64], func(next []int64) (result T, err error) {
		if len(next) != 1 {
			return result, fmt.Errorf("taking %d numbers of %s gave %d rows", n, name, len(next))
		}
		return of(next[0] - int64(n)), nil
	}, `INSERT INTO counters(name, next) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET next = counters.next + excluded.next RETURNING next`, name, n)
}
