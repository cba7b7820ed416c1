package store

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
)

// Feed reads the events of accounts in an order in which none appears behind one that was read.
type Feed struct{ *Tx }

// Feed returns the handle.
func (tx *Tx) Feed() Feed { return Feed{tx} }

// FeedPage is a part of an account's events, in the order of their numbers.
type FeedPage struct {
	Events []bursar.Event
	Start  int64 // the number up to which delivered events were archived: nothing is complete before it; 0: all are there
}

// FeedQuery says which events of an account to read.
type FeedQuery struct {
	Account bursar.ID
	After   int64 // above this number
	Settled int64 // and up to this one, which Settled returned before the transaction began
	Limit   int
}

var eventColumns = columnsOf([]column[bursar.Event]{
	{"number", func(e *bursar.Event) any { return &e.Number }},
	{"id", func(e *bursar.Event) any { return &e.ID }},
	{"account_id", func(e *bursar.Event) any { return &e.AccountID }},
	{"kind", func(e *bursar.Event) any { return &e.Kind }},
	{"subject", func(e *bursar.Event) any { return &e.Subject }},
	{"body", func(e *bursar.Event) any { return &e.Body }},
	{"created_at", func(e *bursar.Event) any { return instant{&e.CreatedAt} }},
})

// Read returns a page, and from where an account's events are complete. It belongs in a View: both are of one state.
func (tx Feed) Read(ctx context.Context, q FeedQuery) (page FeedPage, err error) {
	starts, err := rows(ctx, tx.Tx, "read the start of a feed", scanOne[int64],
		`SELECT number FROM feed_starts WHERE account_id = $1`, q.Account)
	if err != nil {
		return page, err
	}
	if len(starts) > 0 {
		page.Start = starts[0]
	}
	page.Events, err = eventColumns.rows(ctx, tx.Tx, "read a feed", `FROM events WHERE account_id = $1 AND number > $2
		AND number <= $3 ORDER BY number LIMIT $4`, q.Account, max(q.After, page.Start), q.Settled, q.Limit)
	return page, err
}

// NumberOf returns the number of an account's event, or ErrNotFound.
func (tx Feed) NumberOf(ctx context.Context, account, event bursar.ID) (number int64, err error) {
	err = tx.row(ctx, "read an event's number", `SELECT number FROM events WHERE id = $1 AND account_id = $2`,
		[]any{event, account}, &number)
	return number, err
}

// Newest returns the number of the newest event of some accounts, in one statement; it may be one that is not settled
// yet. An account without events is left out.
func (tx Feed) Newest(ctx context.Context, accounts []bursar.ID) (map[bursar.ID]int64, error) {
	asked := make([]any, len(accounts))
	for i, id := range accounts {
		asked[i] = id
	}
	source, args := `(VALUES `+tuples(len(asked), 1, 0)+`) AS a`, asked
	if tx.postgres {
		var err error
		if source, args, err = rowsOfArrays(asked, 1, 0); err != nil {
			return nil, fmt.Errorf("read newest events: %w", err)
		}
		source += ` AS a(column1)`
	}
	newest := map[bursar.ID]int64{}
	_, err := rows(ctx, tx.Tx, "read newest events", func(s scanner) (none struct{}, err error) {
		var account bursar.ID
		var number int64
		err = s.Scan(&account, &number)
		if number > 0 {
			newest[account] = number
		}
		return none, err
	}, `SELECT a.column1, COALESCE((SELECT number FROM events WHERE account_id = a.column1
		ORDER BY account_id DESC, number DESC LIMIT 1), 0) FROM `+source, args...)
	return newest, err
}

// A transaction that records events on PostgreSQL holds a shared lock until it ends, whose name holds a number below
// all that it draws. The locks that are held say below which number all is settled: nobody waits for anybody. Such a
// lock is released once the transaction is visible to others (PostgreSQL 15, CommitTransaction in xact.c).
const (
	numberingLock int64 = 0x6576 << numberBits // its upper 16 bits distinguish these locks from all others
	numberBits          = 48
)

// drawNumbers notes, before the transaction draws its first number of an event, that it will.
func (tx *Tx) drawNumbers(ctx context.Context) error {
	if !tx.postgres || tx.numbering {
		return nil
	}
	tx.numbering = true
	return tx.later(ctx, pipelined{
		what: "lock numbers of events",
		query: `SELECT pg_advisory_xact_lock_shared($1 + last_value - CASE WHEN is_called THEN 0 ELSE 1 END)
			FROM events_number_seq`,
		args: []any{numberingLock},
	})
}

// Settled returns the number up to which every event there will ever be can be read: each that recorded one has
// committed or given up. Read it before the transaction that reads the events begins, and outside of one, by DB.Read.
func (tx Feed) Settled(ctx context.Context) (number int64, err error) {
	query, args := `SELECT COALESCE(MAX(number), 0) FROM events`, []any(nil)
	if tx.postgres {
		// The newest number is that of the statement's snapshot, and so from before the locks are looked at: who drew a
		// number up to it holds a lock, or has ended and is in every snapshot to come.
		query = `SELECT LEAST(COALESCE((SELECT MAX(number) FROM events), 0), (SELECT MIN((classid::bigint << 32
			| objid::bigint) - $1) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1
			AND classid::bigint >> 16 = $2 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())))`
		args = []any{numberingLock, numberingLock >> numberBits}
	}
	err = tx.row(ctx, "read settled events", query, args, &number)
	return number, err
}
