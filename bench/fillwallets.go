package main

import (
	"context"
	"fmt"
)

// walletsEach is how many wallets an account gets that a filler makes.
const walletsEach = 10_000

// wallets makes accounts with wallets of Bitcoin, numbered from 1, in a database that has none, and moves the counters
// behind them.
//
// Every tenth wallet belongs to the account hot, which has a key.
func (f filler) wallets(ctx context.Context, hot string, count int64) error {
	id, err := bytesOf(hot)
	if err != nil {
		return err
	}
	accounts := (count + walletsEach - 1) / walletsEach
	if err := f.accounts(ctx, accounts); err != nil {
		return err
	}
	err = each(ctx, 0, count, func(from, to int64) error {
		if from > 1 {
			progress("%s of %s wallets are made", number(float64(from-1)), number(float64(count)))
		}
		return f.fast(ctx, "make wallets", `INSERT INTO wallets(number, id, account_id, currency, family,
			key_index, base, webhook, webhook_version, metadata, for_charge, created_at)
			SELECT n, `+f.id(spaceWallet, "n")+`, CASE WHEN n % 10 = 0 THEN $3 ELSE `+
			f.id(spaceAccount, "(n - 1) / "+fmt.Sprint(walletsEach))+` END, 'BTC', 'bitcoin', n - 1, `+f.address("n")+`,
			'https://example.com/hook', 0, '', FALSE, `+f.now()+` FROM `+f.series(), from, to, id)
	})
	if err != nil {
		return err
	}
	err = f.exec(ctx, "count wallets", `INSERT INTO wallet_counts(account_id, currency, wallets)
		SELECT account_id, 'BTC', COUNT(*) FROM wallets GROUP BY account_id`)
	if err != nil {
		return err
	}
	for _, name := range []string{"wallets", "family:bitcoin"} {
		err := f.exec(ctx, "move a counter", `INSERT INTO counters(name, next) VALUES ($1, $2)
			ON CONFLICT (name) DO UPDATE SET next = excluded.next`, name, count)
		if err != nil {
			return err
		}
	}
	return f.analyze(ctx)
}

// accounts makes accounts, numbered from 0.
func (f filler) accounts(ctx context.Context, count int64) error {
	return f.exec(ctx, "make accounts", `INSERT INTO accounts(id, name, created_at)
		SELECT `+f.id(spaceAccount, "n - 1")+`, 'filled', `+f.now()+` FROM `+f.series(), 1, count)
}

// address is the text of an address that nobody has a key for. It ascends with the number, so that indexes are filled
// from one end, which is many times faster.
func (f filler) address(n string) string {
	return `'bcrt1qqqqqqqq' || ` + f.hexOf(n, 31)
}

// fast runs a statement that makes rows. PostgreSQL does not look up what their foreign keys refer to, row by row: it
// was just made. That needs a superuser, which the benchmark is on its own server.
func (f filler) fast(ctx context.Context, what, query string, args ...any) error {
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer func() { _ = tx.Rollback() }()
	if f.postgres {
		if _, err := tx.ExecContext(ctx, `SET LOCAL session_replication_role = replica`); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	if _, err := tx.ExecContext(ctx, query, args...); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return tx.Commit()
}

// analyze has the database count what it has, as it would itself after a while.
func (f filler) analyze(ctx context.Context) error {
	if f.postgres {
		return f.exec(ctx, "analyze", `VACUUM ANALYZE`)
	}
	return f.exec(ctx, "analyze", `ANALYZE`)
}
