package store

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/bursar/bursar"
)

// LoggedRequest is a request of the API as the log has it: nothing that the client wrote itself.
type LoggedRequest struct {
	Number  int64
	ID      bursar.ID // as in X-Request-ID
	At      time.Time
	Account bursar.ID // zero: no key was taken
	Key     bursar.ID
	Method  string
	Path    string // of an endpoint; empty: there is none at the path
	Status  int64
	Code    bursar.ErrorCode // of a refusal; empty: a success
	Took    time.Duration
	LeftOut int64 // requests of the account that are not in the log, in the second before
}

var requestColumns = columnsOf([]column[LoggedRequest]{
	{"number", func(r *LoggedRequest) any { return &r.Number }},
	{"request_id", func(r *LoggedRequest) any { return &r.ID }},
	{"at", func(r *LoggedRequest) any { return instant{&r.At} }},
	{"account_id", func(r *LoggedRequest) any { return &r.Account }},
	{"key_id", func(r *LoggedRequest) any { return &r.Key }},
	{"method", func(r *LoggedRequest) any { return &r.Method }},
	{"path", func(r *LoggedRequest) any { return &r.Path }},
	{"status", func(r *LoggedRequest) any { return &r.Status }},
	{"code", func(r *LoggedRequest) any { return (*string)(&r.Code) }},
	{"micros", func(r *LoggedRequest) any { return duration{&r.Took} }},
	{"left_out", func(r *LoggedRequest) any { return &r.LeftOut }},
})

// Add adds requests behind the last one, and gives them their numbers.
func (tx RequestLog) Add(ctx context.Context, list []LoggedRequest) error {
	in := insertion{what: "log requests", table: "request_log", rows: len(list)}
	for _, r := range list {
		in.add(values{
			{"request_id", r.ID},
			{"at", micros(r.At)},
			{"account_id", r.Account},
			{"key_id", r.Key},
			{"method", r.Method},
			{"path", r.Path},
			{"status", r.Status},
			{"code", string(r.Code)},
			{"micros", r.Took.Microseconds()},
			{"left_out", r.LeftOut},
		})
	}
	return tx.insertRows(ctx, in)
}

// RequestFilter selects requests. What is left zero does not restrict.
type RequestFilter struct {
	Account bursar.ID
	Least   int64 // status
	Most    int64 // status
	Path    string
	ID      bursar.ID
}

// statusClass is one status, or all that begin with a digit.
var statusClass = regexp.MustCompile(`^[1-5]([0-9][0-9]|xx)$`)

// OfStatus selects a status such as 422, or a class of them such as 4xx. It returns false for any other text.
func (f *RequestFilter) OfStatus(text string) bool {
	if !statusClass.MatchString(text) {
		return false
	}
	f.Least, _ = strconv.ParseInt(strings.ReplaceAll(text, "x", "0"), 10, 64) // the pattern guarantees digits
	f.Most, _ = strconv.ParseInt(strings.ReplaceAll(text, "x", "9"), 10, 64)
	return true
}

// List returns requests that a filter selects, newest first.
func (tx RequestLog) List(ctx context.Context, f RequestFilter, page Page) ([]LoggedRequest, error) {
	q := condition{args: []any{page.bound(), page.Limit}}
	if !f.Account.IsZero() {
		q.and(`account_id = $?`, f.Account)
	}
	if f.Least > 0 {
		q.and(`status >= $?`, f.Least)
	}
	if f.Most > 0 {
		q.and(`status <= $?`, f.Most)
	}
	if f.Path != "" {
		q.and(`path = $?`, f.Path)
	}
	if !f.ID.IsZero() {
		q.and(`request_id = $?`, f.ID)
	}
	return requestColumns.rows(ctx, tx.Tx, "list requests", `FROM request_log WHERE number < $1`+q.text+
		` ORDER BY number DESC LIMIT $2`, q.args...)
}

// Newest returns the number of the newest request, 0 where there is none.
func (tx RequestLog) Newest(ctx context.Context) (number int64, err error) {
	err = tx.row(ctx, "read the newest request", `SELECT COALESCE(MAX(number), 0) FROM request_log`, nil, &number)
	return number, err
}

// Forget removes some of the oldest requests, where they are older than a time or more than rows come behind them, and
// returns how many: fewer than limit when none is left to remove.
func (tx RequestLog) Forget(ctx context.Context, before time.Time, rows int64, limit int) (int64, error) {
	newest, err := tx.Newest(ctx)
	if err != nil {
		return 0, err
	}
	return tx.exec(ctx, "forget requests", `DELETE FROM request_log WHERE number IN
		(SELECT number FROM request_log ORDER BY number LIMIT $1) AND (at < $2 OR number <= $3)`, limit, micros(before),
		newest-rows)
}
