package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
)

// Due returns those up to limit due events that have waited longest, in the order in which they were recorded, without
// those that are leased.
func (tx Deliveries) Due(ctx context.Context, leased []int64, limit int) ([]Delivery, error) {
	return tx.due(ctx, deliveryColumns, leased, limit)
}

func (tx Deliveries) due(ctx context.Context, columns *columns[Delivery], leased []int64, limit int) ([]Delivery,
	error) {
	if err := tx.byIndex(ctx); err != nil {
		return nil, err
	}
	others, args := tx.notLeased(leased, micros(tx.now), limit)
	due, err := columns.rows(ctx, tx.Tx, "list due deliveries",
		`FROM events WHERE status = 'pending' AND next_at <= $1`+others+` ORDER BY next_at LIMIT $2`, args...)
	return asRecorded(due), err
}

// asRecorded sorts events that are due at the same time, of which an index knows no order.
func asRecorded(due []Delivery) []Delivery {
	slices.SortFunc(due, func(a, b Delivery) int { return cmp.Compare(a.Number, b.Number) })
	return due
}

// notLeased returns the condition that an event is none of some, and args with what it takes behind them.
func (tx *Tx) notLeased(leased []int64, args ...any) (condition string, _ []any) {
	if len(leased) == 0 {
		return "", args
	}
	query, args := tx.numbers(leased, args...)
	return ` AND number NOT IN (` + query + `)`, args
}

// numbers returns a query of some numbers, and args with what it takes behind them. Its text does not depend on how
// many they are.
func (tx *Tx) numbers(list []int64, args ...any) (query string, _ []any) {
	n := len(args) + 1
	if tx.postgres {
		return fmt.Sprintf(`SELECT unnest($%d::bigint[])`, n), append(args, list)
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // of numbers only
	}
	return fmt.Sprintf(`SELECT value FROM json_each($%d)`, n), append(args, string(text))
}

// Share is how many due events of a receiver to take at most.
type Share struct {
	Receiver
	Limit int
}

// DueOf returns due events of some receivers, of each up to its share of those that have waited longest, without those
// that are leased, in the order in which they were recorded.
func (tx Deliveries) DueOf(ctx context.Context, leased []int64, shares []Share) ([]Delivery, error) {
	if len(shares) == 0 {
		return nil, nil
	}
	if err := tx.byIndex(ctx); err != nil {
		return nil, err
	}
	if tx.postgres {
		return tx.dueTogether(ctx, leased, shares)
	}
	var all []Delivery
	for _, s := range shares {
		others, args := tx.notLeased(leased, micros(tx.now), s.Account, s.URL, s.Limit)
		list, err := deliveryColumns.rows(ctx, tx.Tx, "list a receiver's due deliveries", `FROM events
			WHERE status = 'pending' AND account_id = $2 AND url = $3 AND next_at <= $1`+others+
			` ORDER BY next_at LIMIT $4`, args...)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return asRecorded(all), nil
}

// dueTogether compares and orders rows, so that only the index over receivers can serve it: the one over times leads
// through the backlogs of all others. It reads as many as the share from there on and then drops those of the receivers
// behind: an upper bound of a row would not end the scan before the account does.
func (tx *Tx) dueTogether(ctx context.Context, leased []int64, shares []Share) ([]Delivery, error) {
	var accounts [][]byte
	var urls []string
	var limits []int64
	for _, s := range shares {
		accounts, urls, limits = append(accounts, s.Account[:]), append(urls, s.URL), append(limits, int64(s.Limit))
	}
	others, args := tx.notLeased(leased, micros(tx.now), accounts, urls, limits)
	due, err := deliveryColumns.rows(ctx, tx, "list receivers' due deliveries",
		`FROM unnest($2::bytea[], $3::text[], $4::bigint[]) AS s(of_account, of_url, at_most) CROSS JOIN LATERAL (
		SELECT * FROM (SELECT * FROM events
			WHERE status = 'pending' AND (account_id, url, next_at) >= (s.of_account, s.of_url, 0)`+others+`
			ORDER BY account_id, url, next_at LIMIT s.at_most) AS following
		WHERE account_id = s.of_account AND url = s.of_url AND next_at <= $1) AS due`, args...)
	return asRecorded(due), err
}

// NextDue returns when the next event is due that nobody has leased, and false when none waits.
func (tx Deliveries) NextDue(ctx context.Context) (time.Time, bool, error) {
	leased, err := tx.leasedBut(ctx, DeliveryLease{})
	if err != nil {
		return time.Time{}, false, err
	}
	var at time.Time
	others, args := tx.notLeased(leased)
	err = tx.row(ctx, "read next delivery", `SELECT COALESCE(
		(SELECT next_at FROM events WHERE status = 'pending'`+others+` ORDER BY next_at LIMIT 1), 0)`, args, instant{&at})
	return at, err == nil && !at.IsZero(), err
}

// DueAfter returns when the first event is due that is not yet due at a time, and false when there is none.
func (tx Deliveries) DueAfter(ctx context.Context, than time.Time) (time.Time, bool, error) {
	var at time.Time
	err := tx.row(ctx, "read next delivery", `SELECT COALESCE(
		(SELECT next_at FROM events WHERE status = 'pending' AND next_at > $1 ORDER BY next_at LIMIT 1), 0)`,
		[]any{micros(than)}, instant{&at})
	return at, err == nil && !at.IsZero(), err
}

// ReceiverOf returns where an event goes.
func ReceiverOf(e bursar.Event) Receiver { return Receiver{e.AccountID, e.URL} }
