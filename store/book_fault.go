package store

import (
	"context"
	"fmt"
	"time"

	"github.com/bursar/bursar"
)

// BookFault is something in which the books contradict themselves.
type BookFault struct {
	Number  int64
	Kind    string
	Ref     string
	Asset   bursar.CurrencyCode // empty: it concerns them all
	Message string
	At      time.Time
}

// String is one sentence for operators.
func (f BookFault) String() string { return fmt.Sprintf("%s: %s", f.Kind, f.Message) }

var faultColumns = columnsOf([]column[BookFault]{
	{"number", func(f *BookFault) any { return &f.Number }},
	{"kind", func(f *BookFault) any { return &f.Kind }},
	{"ref", func(f *BookFault) any { return &f.Ref }},
	{"asset", func(f *BookFault) any { return &f.Asset }},
	{"message", func(f *BookFault) any { return &f.Message }},
	{"at", func(f *BookFault) any { return instant{&f.At} }},
})

// List returns what the books contradict themselves in, oldest first.
func (tx BookFaults) List(ctx context.Context, limit int) ([]BookFault, error) {
	return tx.After(ctx, 0, limit)
}

// After is BookFaults behind a number.
func (tx BookFaults) After(ctx context.Context, after int64, limit int) ([]BookFault, error) {
	return faultColumns.rows(ctx, tx.Tx, "list faults of the books",
		`FROM book_faults WHERE number > $1 ORDER BY number LIMIT $2`, after, limit)
}

// Assets returns the oldest fault of each asset, and the oldest of those that concern them all.
func (tx BookFaults) Assets(ctx context.Context) ([]BookFault, error) {
	return faultColumns.rows(ctx, tx.Tx, "list faulty assets", `FROM book_faults
		WHERE number IN (SELECT MIN(number) FROM book_faults GROUP BY asset) ORDER BY number`)
}

// Put records a fault; one that is there keeps its time.
func (tx BookFaults) Put(ctx context.Context, f BookFault) error {
	query, args := values{
		{"kind", f.Kind},
		{"ref", f.Ref},
		{"asset", string(f.Asset)},
		{"message", f.Message},
		{"at", micros(tx.now)},
	}.insertInto("book_faults")
	_, err := tx.exec(ctx, "record a fault of the books",
		query+` ON CONFLICT (kind, ref) DO UPDATE SET message = excluded.message`, args...)
	return err
}

// Drop forgets a fault that is gone.
func (tx BookFaults) Drop(ctx context.Context, kind, ref string) error {
	_, err := tx.exec(ctx, "forget a fault of the books",
		`DELETE FROM book_faults WHERE kind = $1 AND ref = $2`, kind, ref)
	return err
}
