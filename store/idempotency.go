package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bursar/bursar"
)

// Errors of an idempotency key.
var (
	ErrOtherRequest = errors.New("the idempotency key was used for another request")
	ErrInProgress   = errors.New("the first request with this idempotency key is still in progress")
	ErrKeyTaken     = errors.New("another request with the same idempotency key was answered first")
)

// Answer is a response kept under an idempotency key.
type Answer struct {
	Status int
	Body   []byte
}

// KeyName is an idempotency key of an account.
type KeyName struct {
	Account bursar.ID
	Name    string
}

// KeptAnswer is what is stored under an idempotency key.
type KeptAnswer struct {
	name        KeyName
	hash        []byte
	answer      Answer
	lockedUntil time.Time
}

var keptColumns = columnsOf([]column[KeptAnswer]{
	{"account_id", func(k *KeptAnswer) any { return &k.name.Account }},
	{"name", func(k *KeptAnswer) any { return &k.name.Name }},
	{"request_hash", func(k *KeptAnswer) any { return &k.hash }},
	{"status", func(k *KeptAnswer) any { return &k.answer.Status }},
	{"body", func(k *KeptAnswer) any { return &k.answer.Body }},
	{"locked_until", func(k *KeptAnswer) any { return instant{&k.lockedUntil} }},
})

// Find returns what is stored under keys, by key, in one statement.
func (tx IdempotencyKeys) Find(ctx context.Context, names []KeyName) (map[KeyName]KeptAnswer, error) {
	args := make([]any, 0, 2*len(names))
	for _, n := range names {
		args = append(args, n.Account, n.Name)
	}
	source, those, args, err := sought(tx.Tx, "idempotency", "i", []string{"account_id", "name"}, args)
	if err != nil {
		return nil, err
	}
	list, err := keptColumns.rows(ctx, tx.Tx, "look up idempotency keys", `FROM `+source+` WHERE `+those, args...)
	found := make(map[KeyName]KeptAnswer, len(list))
	for _, k := range list {
		found[k.name] = k
	}
	return found, err
}

// For returns the answer that a request with a hash gets at a time. Errors: ErrOtherRequest for a request with another
// hash; where a process of an earlier version has leased the key, ErrInProgress while its lease lasts, and then
// ErrNotFound.
func (k KeptAnswer) For(requestHash []byte, now time.Time) (Answer, error) {
	switch {
	case !bytes.Equal(k.hash, requestHash):
		return Answer{}, ErrOtherRequest
	case k.answer.Status != 0:
		return k.answer, nil
	case k.lockedUntil.Before(now):
		return Answer{}, missing{what: "look up idempotency key"} // its holder has died
	}
	return Answer{}, ErrInProgress
}

// keptNow is an answer that a transaction keeps.
type keptNow struct {
	name   KeyName
	hash   []byte
	answer Answer
}

// Keep stores the answer to a request under its key, in one statement with the other answers of the transaction, as one
// of the last things before the commit. It belongs into the transaction that does the work, so that the work and the
// answer are there together or not at all: where another request has stored its answer under the key meanwhile, the
// transaction fails with ErrKeyTaken.
func (tx IdempotencyKeys) Keep(name KeyName, requestHash []byte, a Answer) {
	tx.kept = append(tx.kept, keptNow{name, requestHash, a})
}

// keepAnswers writes what Keep was given, in an order that is the same everywhere: a transaction waits here for another
// one with the same key until that has ended, and so never in a circle.
func (tx *Tx) keepAnswers(ctx context.Context) error {
	slices.SortFunc(tx.kept, func(a, b keptNow) int {
		return cmp.Or(bytes.Compare(a.name.Account[:], b.name.Account[:]), cmp.Compare(a.name.Name, b.name.Name))
	})
	in := insertion{what: "keep answers", table: "idempotency", rows: len(tx.kept), all: ErrKeyTaken,
		after: ` ON CONFLICT (account_id, name)
		DO UPDATE SET status = excluded.status, body = excluded.body, created_at = excluded.created_at
		WHERE idempotency.status = 0 AND idempotency.locked_until < excluded.created_at
		AND idempotency.request_hash = excluded.request_hash`}
	for _, k := range tx.kept {
		in.add(values{
			{"account_id", k.name.Account},
			{"name", k.name.Name},
			{"request_hash", k.hash},
			{"created_at", micros(tx.now)},
			{"locked_until", 0},
			{"status", k.answer.Status},
			{"body", k.answer.Body},
		})
	}
	return tx.insertRows(ctx, in)
}

// Forget removes keys older than a time and returns how many.
func (tx IdempotencyKeys) Forget(ctx context.Context, before time.Time) (int64, error) {
	return tx.exec(ctx, "forget idempotency keys", `DELETE FROM idempotency WHERE created_at < $1`, micros(before))
}
