package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// lists are requests for lists of the account hot, with filters that an index serves and with some that none does.
func (s *sized) lists() []subject {
	get := func(path string) func(s *site, _ fixture) call {
		return func(s *site, _ fixture) call { return fixed("GET", "/api/v1"+path, headersOf(s.account), "") }
	}
	rows := s.entries / listed
	hash, other := fmt.Sprintf("%064x", rows), fmt.Sprintf("b%063x", rows)
	month := time.Now().UTC().AddDate(0, -2, 0)
	old := time.Now().UTC().Add(-history / 2).Format(time.RFC3339)
	return []subject{
		{name: "100 deposits", service: get("/account/deposits?limit=100")},
		{name: "deposits of a rare status", service: get("/account/deposits?limit=100&status=orphaned")},
		{name: "deposits of a currency without any", service: get("/account/deposits?limit=100&currency=LTC")},
		{name: "deposits of a year ago", service: get("/account/deposits?limit=100&to=" + old)},
		{name: "deposits of a transaction", service: get("/account/deposits?hashID=" + hash)},
		{name: "100 withdrawals", service: get("/account/withdrawals?limit=100")},
		{name: "withdrawals of a rare status", service: get("/account/withdrawals?limit=100&status=failed")},
		{name: "withdrawals of a transaction", service: get("/account/withdrawals?hashID=" + other)},
		{name: "100 wallets of a currency", service: get("/account/wallets?limit=100&currency=BTC")},
		{name: "100 events with their delivery", service: get("/account/webhooks?limit=100")},
		{name: "events that failed", service: get("/account/webhooks?limit=100&status=failed")},
		{name: "100 events of the feed", service: get("/account/events?limit=100")},
		{name: "ledger lines of a year ago", service: get("/account/ledger?limit=100&until=" + old)},
		{name: "ledger lines of a kind without any", service: get("/account/ledger?limit=100&kind=payout_short")},
		{name: "a search for a transaction", service: get("/account/search?q=" + hash)},
		{name: "the statement of a month, 100 lines", service: get("/account/statement?limit=100&month=" +
			month.Format("2006-01"))},
	}
}

// lookUps measures lists over fewer connections than other requests: a page of a hundred items is a hundred requests.
func (s *sized) lookUps(ctx context.Context) error { return s.measured(ctx, 8, s.lists()) }

// pagesRead returns how many pages of 8 KiB the server has looked at so far in the service's database, in its memory or
// not; 0 on SQLite. How many a request takes says how its cost grows, whatever else the machine does.
func (s *sized) pagesRead(ctx context.Context) (pages int64, err error) {
	if s.kind != "postgres" {
		return 0, nil
	}
	// A process of the server reports what it did once a second, with the end of a transaction.
	if err := sleep(ctx, 1100*time.Millisecond); err != nil {
		return 0, err
	}
	if _, err := drive(ctx, driving{addresses: []string{s.api}, conns: 64, end: after(100 * time.Millisecond),
		next: fixed("GET", "/api/v1/account", headersOf(s.account), ""), turn: &s.turn}); err != nil {
		return 0, err
	}
	err = s.db.QueryRowContext(ctx, `SELECT blks_hit + blks_read FROM pg_stat_database
		WHERE datname = 'bursar'`).Scan(&pages)
	return pages, err
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// keepPages keeps how many pages each of some requests took.
func (s *sized) keepPages(ctx context.Context, name string, before int64, requests int64) error {
	if s.kind != "postgres" || requests == 0 || strings.HasPrefix(name, "POST") {
		return nil
	}
	now, err := s.pagesRead(ctx)
	if err != nil {
		return err
	}
	s.keep(name+": pages of the database for each", figure{Unit: "pages", Value: float64(now-before) / float64(requests)})
	return nil
}
