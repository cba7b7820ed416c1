package wallet

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Marks keeps outside the database which key indexes, and tags, may have been given out, so that a database that is put
// back gives none of them out again.
type Marks interface {
	// Take asks whether n indexes from first on may be given out by the copy of the database that answers. It answers from
	// memory, within the transaction that takes them; commit is run once that is committed. An error says that they are to
	// be reserved first.
	Take(answers store.Identity, family bursar.Family, first uint32, n int) (commit func(), err error)
	// Reserve makes more indexes durable. It waits for a disk or another process, so it runs outside of transactions.
	Reserve(ctx context.Context, family bursar.Family) error
}

// unreservedError says that the indexes of a family are used up to what the marks know.
type unreservedError struct {
	family bursar.Family
	cause  error
}

func (e *unreservedError) Error() string { return e.cause.Error() }
func (e *unreservedError) Unwrap() error { return e.cause }

func (s *Service) mark(ctx context.Context, tx *store.Tx, family bursar.Family, first uint32, n int) error {
	if s.Marks == nil {
		return nil
	}
	// Asked of the server in this very transaction: another one may have been promoted since the service last looked,
	// which has forgotten what other processes gave out.
	answers, err := tx.Settings().Identity(ctx)
	if err != nil {
		return err
	}
	commit, err := s.Marks.Take(answers, family, first, n)
	if err != nil {
		return &unreservedError{family, err}
	}
	tx.After(commit)
	return nil
}

// reservations bounds how often a wallet waits for indexes to be reserved: others may take them first.
const reservations = 5

// create makes a wallet, and has indexes reserved where there are none. Nearly always there are: they are reserved
// ahead.
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
