package store

import (
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar"
)

// A list of an account whose filter has no index of its own goes down the account's rows and leaves out what is not
// selected. An index for each filter would be written with every deposit. So a page looks at a number of rows at most,
// however long the history is: where these hold no whole page, the page is short, and the list continues behind them.

// looked is how many rows one page of a list looks at.
const looked = 20_000

// looks returns how many rows a page looks at.
func (p Page) looks() int { return p.looksAt(looked) }

// looksAt is looks for a list that looks at another number of rows.
func (p Page) looksAt(usual int) int {
	if p.Looks > 0 {
		usual = p.Looks
	}
	return max(usual, p.Limit)
}

// filter is what selects the rows of an account's list: what one index serves, and the rest, for which rows have to be
// looked at.
type filter struct {
	indexed func(q *condition) // nil: there is none
	rest    []func(q *condition)
}

// served adds a condition that an index serves. Of several the first is what rows are looked up by.
func (f *filter) served(add func(q *condition)) {
	if f.indexed != nil {
		f.checked(add)
		return
	}
	f.indexed = add
}

// checked adds a condition that is checked for each row.
func (f *filter) checked(add func(q *condition)) { f.rest = append(f.rest, add) }

// equals adds that a column is some text, unless that is empty.
func (f *filter) equals(column, text string) {
	if text != "" {
		f.checked(func(q *condition) { q.and(column+` = $?`, text) })
	}
}

// between adds a period of a column, if there is one.
func (f *filter) between(column string, from, to time.Time) {
	if !from.IsZero() || !to.IsZero() {
		f.checked(func(q *condition) { q.between(column, from, to) })
	}
}

// status adds a status. An index has those that are not the usual one, which nearly everything ends with.
func (f *filter) status(column, status, usual string) {
	if status == "" || status == usual {
		f.equals(column, status)
		return
	}
	f.served(func(q *condition) { q.and(column+` <> '`+usual+`' AND `+column+` = $?`, status) })
}

// accountList is a list of what an account has.
type accountList[T any] struct {
	what   string
	from   string // with alias
	alias  string // with its point
	table  string // of from, with alias, what is only read left out
	always string // a condition of the list itself
	of     *columns[T]
}

// page returns a page of the list, newest first. next is the number below which it continues where the page is short
// before the list ends; 0: the page is whole, or the list ends with it.
func (l accountList[T]) page(ctx context.Context, tx *Tx, account bursar.ID, f filter, page Page) (found []T,
	next int64, err error) {
	floor, err := l.floor(ctx, tx, account, f, page)
	if err != nil {
		return nil, 0, err
	}
	found, err = l.above(ctx, tx, account, f, page, floor)
	if len(found) >= page.Limit {
		return found, 0, err
	}
	return found, floor, err
}

// floor returns the number of the last row that a page looks at; 0: it looks at all that are left, or needs to look at
// none but those that are selected.
func (l accountList[T]) floor(ctx context.Context, tx *Tx, account bursar.ID, f filter, page Page) (number int64,
	err error) {
	if len(f.rest) == 0 {
		return 0, nil
	}
	q := condition{args: []any{account, page.bound(), page.looks() - 1}}
	if f.indexed != nil {
		f.indexed(&q)
	}
	err = tx.row(ctx, l.what+": how far a page looks", `SELECT `+l.alias+`number FROM `+l.table+l.where(q)+` LIMIT 1
		OFFSET $3`, q.args, &number)
	if errors.Is(err, ErrNotFound) {
		return 0, nil
	}
	return number, err
}

// above returns the rows of a page whose numbers are not below a floor.
func (l accountList[T]) above(ctx context.Context, tx *Tx, account bursar.ID, f filter, page Page, floor int64) ([]T,
	error) {
	q := condition{args: []any{account, page.bound(), page.Limit}}
	if f.indexed != nil {
		f.indexed(&q)
	}
	for _, add := range f.rest {
		add(&q)
	}
	if floor > 0 {
		q.and(l.alias+`number >= $?`, floor)
	}
	return l.of.rows(ctx, tx, l.what, l.from+l.where(q)+` LIMIT $3`, q.args...)
}

// where is the end of a query, whose first arguments are the account and the number below which it begins.
func (l accountList[T]) where(q condition) string {
	return ` WHERE ` + l.alias + `account_id = $1 AND ` + l.alias + `number < $2` + l.always + q.text + ` ORDER BY ` +
		l.alias + `number DESC`
}
