package store

import (
	"bytes"
	"context"
	"time"

	"github.com/bursar/bursar"
)

// Find reads what is kept under a key, without leasing it and without waiting for anyone who works under it.
// Errors: ErrInProgress while the first request works, ErrOtherRequest for a request with another hash, and
// ErrNotFound for a key that may be leased.
func (tx IdempotencyKeys) Find(ctx context.Context, account bursar.ID, name string,
	requestHash []byte) (Answer, error) {
	var kept Answer
	var hash []byte
	var locked time.Time
	err := tx.row(ctx, "look up idempotency key",
		`SELECT request_hash, status, body, locked_until FROM idempotency WHERE account_id = $1 AND name = $2`,
		[]any{account, name}, &hash, &kept.Status, &kept.Body, instant{&locked})
	switch {
	case err != nil:
		return Answer{}, err
	case !bytes.Equal(hash, requestHash):
		return Answer{}, ErrOtherRequest
	case kept.Status != 0:
		return kept, nil
	case locked.Before(tx.now):
		return Answer{}, missing{what: "look up idempotency key"} // its holder has died
	}
	return Answer{}, ErrInProgress
}
