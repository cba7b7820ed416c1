package wallet

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Marks records outside the database which key indexes, and tags, may have been given out, so that a restored backup of
// the database never gives one of them out again.
type Marks interface {
	// Take asks whether the copy of the database that answers may give out n indexes, starting at first. It answers
	// from memory, within the transaction that takes them; commit is called once that is committed. An error means that
	// the indexes must be reserved first.
	Take(answers store.Identity, family bursar.Family, first uint32, n int) (commit func(), err error)
	// Reserve makes more indexes durable. It waits for a disk or another process, so it runs outside transactions.
	Reserve(ctx context.Context, family bursar.Family) error
}

// unreservedError says that all indexes of a family that the marks have reserved are used.
type unreservedError struct {
	family bursar.Family
	cause  error
}

func (e *unreservedError) Error() string { return e.cause.Error() }
func (e *unreservedError) Unwrap() error { return e.cause }

func (s *Service) mark(tx *store.Tx, answers store.Identity, family bursar.Family, first uint32, n int) error {
	if s.Marks == nil {
		return nil
	}
	commit, err := s.Marks.Take(answers, family, first, n)
	if err != nil {
		return &unreservedError{family, err}
	}
	tx.After(commit)
	return nil
}

// reservations is how often a wallet's creation reserves indexes before it gives up: others may take them first.
const reservations = 5

// create makes a wallet, and reserves indexes where there are none. That is rare: indexes are reserved ahead of use.
func (s *Service) create(ctx context.Context, n New) (w bursar.Wallet, err error) {
	for range reservations {
		w, err = s.batch.Do(ctx, n)
		var short *unreservedError
		if !errors.As(err, &short) {
			return w, err
		}
		if err := s.Marks.Reserve(ctx, short.family); err != nil {
			return w, fmt.Errorf("reserve key indexes: %w", err)
		}
	}
	return w, err
}
