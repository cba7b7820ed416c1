package store

import "context"

// Deferred is the result of a statement that goes to PostgreSQL together with others, so that several reads take one
// round trip. It belongs to its transaction.
type Deferred[T any] struct {
	tx    *Tx
	here  bool // the result is known
	value T
	err   error
}

// Get returns the result. The first Get of several results waits for all that were asked for so far.
func (s *Deferred[T]) Get(ctx context.Context) (T, error) {
	if !s.here && s.err == nil {
		if err := s.tx.session.sync(ctx); err != nil && s.err == nil {
			s.err = s.tx.fail("read", err)
		}
	}
	if !s.here && s.err == nil { // it went over with a statement that failed, whose error was passed over
		s.err = s.tx.failed
	}
	return s.value, s.err
}

// known is a result that needs no statement.
func known[T any](value T) *Deferred[T] { return &Deferred[T]{here: true, value: value} }

// ask asks for rows, of which of makes the result.
func ask[Row, T any](ctx context.Context, tx *Tx, what string, scan func(scanner) (Row, error),
	of func([]Row) (T, error), query string, args ...any) *Deferred[T] {
	s := &Deferred[T]{tx: tx}
	err := tx.later(ctx, pipelined{what: what, query: query, args: args, rows: func(found cursor) error {
		list, err := collect(found, scan)
		if err != nil {
			return err
		}
		s.here = true
		s.value, s.err = of(list)
		return nil
	}})
	if err != nil {
		s.err = err
	}
	return s
}

// collect reads all rows of a result.
func collect[Row any](found cursor, scan func(scanner) (Row, error)) (list []Row, err error) {
	for found.Next() {
		row, err := scan(found)
		if err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	return list, found.Err()
}
