package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bursar/bursar/ledger"
)

// entryName is what an entry has that no other one has.
type entryName struct {
	kind ledger.Kind
	ref  ledger.Ref
}

// takenNames are the numbers that entries get for their names.
type takenNames struct {
	entries int
	index   map[entryName]int // of those that were asked for, in the list of entries
	got     *Deferred[[]numberedName]
}

type numberedName struct {
	entryName
	number int64
}

// insertEntries takes each entry's (kind, ref); errs gets the error of an entry that cannot be taken, and has that of
// one that must not.
func (tx *Tx) insertEntries(ctx context.Context, entries []ledger.Entry, errs []error) (takenNames, error) {
	names := takenNames{len(entries), map[entryName]int{}, nil}
	in := insertion{what: "insert entries", table: "entries", rows: len(entries),
		after: tx.unlessPosted() + ` RETURNING number, kind, ref`}
	for i, e := range entries {
		if errs[i] = cmp.Or(errs[i], e.Check()); errs[i] != nil {
			continue
		}
		name := entryName{e.Kind, e.Ref}
		if _, twice := names.index[name]; twice {
			errs[i] = fmt.Errorf("%w: %s %s", ErrPosted, e.Kind, e.Ref)
			continue
		}
		names.index[name] = i
		in.add(values{{"kind", string(e.Kind)}, {"ref", string(e.Ref)}, {"at", micros(e.At)}})
	}
	var err error
	names.got, err = insertReturning(ctx, tx, in, func(s scanner) (n numberedName, err error) {
		return n, s.Scan(&n.number, &n.kind, &n.ref)
	})
	return names, err
}

// unlessPosted has an entry that is posted already left out where one is to be expected. PostgreSQL looks for each
// entry before it writes it so, marks what it writes as not yet certain and then as certain: a third of what an entry
// takes. Entries are new nearly always, so that it first writes them all. Where one is not new, its unique
// key refuses the transaction, which is run again, carefully (DB.Do).
func (tx *Tx) unlessPosted() string {
	if tx.postgres && !tx.careful {
		return ""
	}
	return ` ON CONFLICT (kind, ref) DO NOTHING`
}

// postedTwice reports that a transaction which was not careful wrote an entry that is posted already. It goes by the
// table: a constraint has another name where somebody has built its index again.
func postedTwice(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23505" && pg.TableName == "entries" // unique_violation
}

// numbers returns the number that each entry got; one whose name was taken before gets 0, and ErrPosted in errs.
func (n takenNames) numbers(ctx context.Context, errs []error) ([]int64, error) {
	numbers := make([]int64, n.entries)
	got, err := n.got.Get(ctx)
	if err != nil {
		return numbers, err
	}
	for _, g := range got {
		numbers[n.index[g.entryName]] = g.number
	}
	for name, i := range n.index {
		if numbers[i] == 0 {
			errs[i] = fmt.Errorf("%w: %s %s", ErrPosted, name.kind, name.ref)
		}
	}
	return numbers, nil
}

// dropEntries removes entries that were refused, by their numbers; 0 is one that was not inserted.
func (tx *Tx) dropEntries(ctx context.Context, numbers []int64) error {
	inserted := slices.DeleteFunc(slices.Clone(numbers), func(n int64) bool { return n == 0 })
	if len(inserted) == 0 {
		return nil
	}
	those, args := among(tx, "number", inserted)
	_, err := tx.exec(ctx, "drop refused entries", `DELETE FROM entries WHERE `+those, args...)
	return err
}
