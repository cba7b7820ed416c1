package oversight

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Bounds of a page's list.
const (
	usualRows = 50
	mostRows  = 500
)

// Query is what a page is asked for. Accounts are the only ones whose objects may be shown; none: all of them.
type Query struct {
	Values   url.Values
	Accounts []bursar.ID
}

// asked reads parameters, and keeps the first refusal.
type asked struct {
	Query
	err error
}

func (a *asked) refuse(field, format string, args ...any) {
	if a.err == nil {
		a.err = bursar.RefuseField(bursar.CodeInvalidRequest, field, format, args...)
	}
}

func (a *asked) text(name string) string { return a.Values.Get(name) }

// chosen reads one of some values; empty: none is chosen.
func chosen[T ~string](a *asked, name string, of []T) (v T) {
	given := T(a.text(name))
	if given != "" && !slices.Contains(of, given) {
		a.refuse(name, "%s must be one of %v", name, of)
		return v
	}
	return given
}

// options are the values of a choice, the empty one first.
func options[T ~string](of []T) []string {
	list := []string{""}
	for _, v := range of {
		list = append(list, string(v))
	}
	return list
}

func (a *asked) id(name string) (id bursar.ID) {
	given := a.text(name)
	if given == "" {
		return id
	}
	id, err := bursar.ParseID(given)
	if err != nil {
		a.refuse(name, "%s must be an ID", name)
	}
	return id
}

func (a *asked) requiredID() bursar.ID {
	id := a.id("id")
	if id.IsZero() {
		a.refuse("id", "id must be an ID")
	}
	return id
}

// day reads a day in UTC, or a time of RFC 3339. A day as an end is the end of that day.
func (a *asked) day(name string, end bool) (t time.Time) {
	given := a.text(name)
	if given == "" {
		return t
	}
	if t, err := time.Parse(time.DateOnly, given); err == nil {
		if end {
			t = t.AddDate(0, 0, 1)
		}
		return t
	}
	t, err := time.Parse(time.RFC3339, given)
	if err != nil {
		a.refuse(name, "%s must be a day such as 2026-01-31, in UTC, or a time such as 2026-01-31T12:00:00Z", name)
	}
	return t
}

// whole reads a number within bounds; preset where it is not given.
func (a *asked) whole(name string, preset, most int64) int64 {
	given := a.text(name)
	if given == "" {
		return preset
	}
	n, err := strconv.ParseInt(given, 10, 64)
	if err != nil || n < 1 || n > most {
		a.refuse(name, "%s must be a whole number from 1 to %d", name, most)
		return preset
	}
	return n
}

func (a *asked) page() store.Page {
	return store.Page{Before: a.whole("before", 0, 1<<62), Limit: int(a.whole("limit", usualRows, mostRows))}
}

// walk reads the page of a list, of one account where one is named.
func (a *asked) walk() store.Walk {
	page, accounts := a.page(), a.Accounts
	if one := a.id("account"); !one.IsZero() {
		if !a.shows(one) {
			a.refuse("account", "account %s is not among those that you may see", one)
		}
		accounts = []bursar.ID{one}
	}
	return store.Walk{Before: page.Before, Limit: page.Limit, Accounts: accounts}
}

// shows reports whether an account's objects may be shown.
func (q Query) shows(account bursar.ID) bool {
	return len(q.Accounts) == 0 || slices.Contains(q.Accounts, account)
}

// seen returns the object that a page is of. One of an account whose objects may not be shown is not there.
func seen[T any](
	ctx context.Context, r *reading, read func(context.Context, bursar.ID) (T, error), account func(T) bursar.ID,
) (object T, err error) {
	id := r.requiredID()
	if r.err != nil {
		return object, r.err
	}
	if object, err = read(ctx, id); err == nil && !r.shows(account(object)) {
		err = store.ErrNotFound
	}
	return object, err
}

// field returns a filter with what was given.
func (a *asked) field(name, label, hint string, options ...string) Field {
	return Field{Name: name, Label: label, Value: a.text(name), Hint: hint, Options: options}
}

// period are the two filters of a list by time.
func (a *asked) period() []Field {
	return []Field{a.field("from", "From", "2026-01-31"), a.field("to", "To", "2026-01-31")}
}

// cursor writes the cursor of the next page.
func cursor(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
