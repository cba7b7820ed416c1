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

// ErrLeaseTaken is returned by the commit of a transaction that ended a request whose key another request took over, or
// has answered already: nothing of the transaction stands.
var ErrLeaseTaken = errors.New("the lease on an idempotency key was taken over by another request")

// ended is an answer to be kept under its key.
type ended struct {
	account bursar.ID
	name    string
	answer  Answer
}

// End keeps the answer under its key, in one statement with the other answers of the transaction, as one of the last
// things before the commit. It belongs into the transaction that does the work, so that the work and the answer are
// there together or not at all: where a key is no longer the request's, the transaction fails with ErrLeaseTaken.
func (tx IdempotencyKeys) End(account bursar.ID, name string, a Answer) {
	tx.ended = append(tx.ended, ended{account, name, a})
}

// keepAnswers writes what End was given.
func (tx *Tx) keepAnswers(ctx context.Context) error {
	if len(tx.ended) == 0 {
		return nil
	}
	const what = "keep answers"
	var kept int64
	var err error
	if tx.postgres {
		accounts, names := make([][]byte, len(tx.ended)), make([]string, len(tx.ended))
		statuses, bodies := make([]int64, len(tx.ended)), make([][]byte, len(tx.ended))
		for i, e := range tx.ended {
			accounts[i], names[i], statuses[i], bodies[i] = e.account[:], e.name, int64(e.answer.Status), e.answer.Body
		}
		kept, err = tx.exec(ctx, what, `UPDATE idempotency SET status = e.status, body = e.body
			FROM unnest($1::bytea[], $2::text[], $3::bigint[], $4::bytea[]) AS e(account_id, name, status, body)
			WHERE idempotency.account_id = e.account_id AND idempotency.name = e.name AND idempotency.status = 0`,
			accounts, names, statuses, bodies)
	} else {
		for _, e := range tx.ended {
			var n int64
			if n, err = tx.exec(ctx, what,
				`UPDATE idempotency SET status = $3, body = $4 WHERE account_id = $1 AND name = $2 AND status = 0`,
				e.account, e.name, e.answer.Status, e.answer.Body); err != nil {
				break
			}
			kept += n
		}
	}
	if err == nil && kept != int64(len(tx.ended)) {
		err = ErrLeaseTaken
	}
	return err
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
