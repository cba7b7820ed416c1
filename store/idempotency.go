package store

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar"
)

// Errors of an idempotency key.
var (
	ErrOtherRequest = errors.New("the idempotency key was used for another request")
	ErrInProgress   = errors.New("the first request with this idempotency key is still in progress")
)

// Answer is a response kept under an idempotency key; Status 0 means that there is none yet.
type Answer struct {
	Status int
	Body   []byte
}

// Begin leases a key for a request until the time until, and returns the zero Answer to the one that shall do the
// work. Others get the kept answer, ErrInProgress while there is none, or ErrOtherRequest for a request with another
// hash. When the first one dies, the key is free again after its time.
func (tx IdempotencyKeys) Begin(ctx context.Context, account bursar.ID, name string, requestHash []byte,
	until time.Time) (Answer, error) {
	var first bool
	query, args := values{
		{"account_id", account},
		{"name", name},
		{"request_hash", requestHash},
		{"created_at", micros(tx.now)},
		{"locked_until", micros(until)},
	}.insertInto("idempotency")
	err := tx.row(ctx, "lease idempotency key", query+`
		ON CONFLICT (account_id, name) DO UPDATE SET locked_until = excluded.locked_until
		WHERE idempotency.status = 0 AND idempotency.locked_until < excluded.created_at
		AND idempotency.request_hash = excluded.request_hash RETURNING TRUE`, args, &first)
	if err == nil || !errors.Is(err, ErrNotFound) {
		return Answer{}, err
	}
	var kept Answer
	var hash []byte
	err = tx.row(ctx, "read idempotency key",
		`SELECT request_hash, status, body FROM idempotency WHERE account_id = $1 AND name = $2`,
		[]any{account, name}, &hash, &kept.Status, &kept.Body)
	switch {
	case err != nil:
		return Answer{}, err
	case !bytes.Equal(hash, requestHash):
		return Answer{}, ErrOtherRequest
	case kept.Status == 0:
		return Answer{}, ErrInProgress
	}
	return kept, nil
}

// End keeps the answer under its key. It belongs into the transaction that does the work, so that the work and
// the answer are there together or not at all.
func (tx IdempotencyKeys) End(ctx context.Context, account bursar.ID, name string, a Answer) error {
	return tx.change(ctx, "keep answer",
		`UPDATE idempotency SET status = $3, body = $4 WHERE account_id = $1 AND name = $2 AND status = 0`,
		account, name, a.Status, a.Body)
}

// Drop frees a key whose request was refused without any effect that must be remembered.
func (tx IdempotencyKeys) Drop(ctx context.Context, account bursar.ID, name string) error {
	_, err := tx.exec(ctx, "free idempotency key",
		`DELETE FROM idempotency WHERE account_id = $1 AND name = $2 AND status = 0`, account, name)
	return err
}

// Forget removes keys older than a time and returns how many.
func (tx IdempotencyKeys) Forget(ctx context.Context, before time.Time) (int64, error) {
	return tx.exec(ctx, "forget idempotency keys", `DELETE FROM idempotency WHERE created_at < $1`, micros(before))
}
