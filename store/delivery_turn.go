package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bursar/bursar"
)

// Accounts returns up to limit accounts behind another one that have events to be delivered, due or not, in their
// order; the zero ID is before all. It reads as many rows as it returns, whatever the number of events and receivers.
func (tx Deliveries) Accounts(ctx context.Context, after bursar.ID, limit int) ([]bursar.ID, error) {
	if err := tx.byIndex(ctx); err != nil {
		return nil, err
	}
	if tx.postgres {
		return rows(ctx, tx.Tx, "list accounts with deliveries", scanOne[bursar.ID],
			`WITH RECURSIVE waiting(account_id, place) AS (
			(SELECT account_id, 1 FROM events WHERE status = 'pending' AND account_id > $1 ORDER BY account_id LIMIT 1)
			UNION ALL
			SELECT n.account_id, w.place + 1 FROM waiting w CROSS JOIN LATERAL (SELECT e.account_id FROM events e
				WHERE e.status = 'pending' AND e.account_id > w.account_id ORDER BY e.account_id LIMIT 1) n
			WHERE w.place < $2)
			SELECT account_id FROM waiting`, after[:], limit)
	}
	var list []bursar.ID
	for len(list) < limit {
		err := tx.row(ctx, "look for the next account with deliveries", `SELECT account_id FROM events
			WHERE status = 'pending' AND account_id > $1 ORDER BY account_id LIMIT 1`, []any{slices.Clone(after[:])}, &after)
		if errors.Is(err, ErrNotFound) {
			break
		}
		if err != nil {
			return nil, err
		}
		list = append(list, after)
	}
	return list, nil
}

// WaitingReceiver is a receiver that has events to be delivered.
type WaitingReceiver struct {
	Receiver
	Due bool // one of them is due, leased or not
}

// Receivers returns of each of some accounts up to limit receivers that have events to be delivered, in the order of
// their URLs: those behind the one that is given of the account, whose URL may be empty. It reads a row of each.
func (tx Deliveries) Receivers(ctx context.Context, behind []Receiver, limit int) ([]WaitingReceiver, error) {
	if len(behind) == 0 {
		return nil, nil
	}
	if err := tx.byIndex(ctx); err != nil {
		return nil, err
	}
	if tx.postgres {
		return tx.receiversTogether(ctx, behind, limit)
	}
	var list []WaitingReceiver
	for _, r := range behind {
		for range limit {
			var at time.Time
			err := tx.row(ctx, "look for the next receiver", `SELECT url, next_at FROM events
				WHERE status = 'pending' AND account_id = $1 AND url > $2 ORDER BY url, next_at LIMIT 1`,
				[]any{r.Account, r.URL}, &r.URL, instant{&at})
			if errors.Is(err, ErrNotFound) {
				break
			}
			if err != nil {
				return nil, err
			}
			list = append(list, WaitingReceiver{r, !at.After(tx.now)})
		}
	}
	return list, nil
}

// receiversTogether steps through the index from receiver to receiver. It compares rows, so that no other index can
// serve it, and ends at the first receiver of another account.
func (tx *Tx) receiversTogether(ctx context.Context, behind []Receiver, limit int) ([]WaitingReceiver, error) {
	var accounts [][]byte
	var urls []string
	for _, r := range behind {
		accounts, urls = append(accounts, r.Account[:]), append(urls, r.URL)
	}
	return rows(ctx, tx, "list receivers", func(s scanner) (r WaitingReceiver, err error) {
		return r, s.Scan(&r.Account, &r.URL, &r.Due)
	}, `SELECT r.account_id, r.url, r.next_at <= $1
		FROM unnest($2::bytea[], $3::text[]) WITH ORDINALITY AS b(of_account, of_url, place) CROSS JOIN LATERAL (
		WITH RECURSIVE receivers(account_id, url, next_at, place) AS (
			SELECT b.of_account, b.of_url, 0::bigint, 0
			UNION ALL
			SELECT n.account_id, n.url, n.next_at, r.place + 1 FROM receivers r CROSS JOIN LATERAL (
				SELECT e.account_id, e.url, e.next_at FROM events e
				WHERE e.status = 'pending' AND (e.account_id, e.url) > (r.account_id, r.url)
				ORDER BY e.account_id, e.url, e.next_at LIMIT 1) n
			WHERE r.place < $4 AND n.account_id = r.account_id)
		SELECT * FROM receivers WHERE place > 0) AS r ORDER BY b.place, r.place`,
		micros(tx.now), accounts, urls, limit)
}
