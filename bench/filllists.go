package main

import (
	"context"
	"fmt"
	"time"
)

// history is how far back filled rows go, and youngest how old the newest of them is: the sums of months take over what
// is older than some hours.
const (
	history  = 2 * 365 * 24 * time.Hour
	youngest = 3 * time.Hour
)

// listed is how many entries there are for each deposit, withdrawal and event of a filled database.
const listed = 10

// rareEvery is how many rows there are for each with a status that is rare.
const rareEvery = 1000

// spread is an expression of the time of a row among so many, which are evenly spread over the history.
func (f filler) spread(n string, count int64) string {
	newest := time.Now().Add(-youngest).UnixMicro()
	return fmt.Sprintf(`(%d - (%d - %s) * %d)`, newest, count, n, max(history.Microseconds()/count, 1))
}

// lists makes deposits, withdrawals and delivered events, numbered from 1, in a database that has none, with wallets
// that were made before: as many of each. Every tenth belongs to the account hot. Of a thousand one has a status that
// is rare.
func (f filler) lists(ctx context.Context, hot string, wallets, count int64) error {
	if err := f.deposits(ctx, wallets, count); err != nil {
		return err
	}
	if err := f.withdrawals(ctx, hot, wallets, count); err != nil {
		return err
	}
	return f.delivered(ctx, hot, wallets, count)
}

// rare is an SQL expression with the value unusual in one row of every rareEvery, and usual in the others.
func rare(usual, unusual string) string {
	return fmt.Sprintf(`CASE WHEN n %% %d = 0 THEN '%s' ELSE '%s' END`, rareEvery, unusual, usual)
}

// deposits makes deposits that other customers paid: they are in no block.
func (f filler) deposits(ctx context.Context, wallets, count int64) error {
	query := `INSERT INTO deposits(number, id, purpose, account_id, wallet, currency, chain, tx_id, output, base, memo,
		contract, amount, fee, status, height, block_hash, seen_at, confirmed_at, seal)
		SELECT n, ` + f.id(spaceDeposit, "n") + `, 'wallet', w.account_id, w.number, 'BTC', 'bitcoin', ` + f.hexOf("n", 64) +
		`, 0, w.base, -1, '', '` + fmt.Sprint(satoshiOfEntry) + `', '0', ` + rare("confirmed", "orphaned") + `, 0, '', ` +
		f.spread("n", count) + `, ` + f.spread("n", count) + `, ` + f.bytes("00") + ` FROM ` + f.series() +
		` JOIN wallets w ON w.number = (n - 1) % ` + fmt.Sprint(wallets) + ` + 1`
	return f.inChunks(ctx, "deposits", count, query)
}

// withdrawals makes withdrawals to addresses of others.
func (f filler) withdrawals(ctx context.Context, hot string, wallets, count int64) error {
	query := `INSERT INTO withdrawals(number, id, account_id, currency, chain, amount, fee, base, memo, status, tx_id,
		created_at, completed_at, seal) SELECT n, ` + f.id(spaceWithdrawal, "n") + `, ` + f.owner(wallets) +
		`, 'BTC', 'bitcoin', '` + fmt.Sprint(satoshiOfEntry) + `', '0', 'out' || ` + f.hexOf("n", 31) + `, -1, ` +
		rare("confirmed", "failed") + `, 'b' || ` +
		f.hexOf("n", 63) + `, ` + f.spread("n", count) + `, ` + f.spread("n", count) + `, ` +
		f.bytes("00") + ` FROM ` + f.series()
	id, err := bytesOf(hot)
	if err != nil {
		return err
	}
	return f.inChunks(ctx, "withdrawals", count, query, id)
}

// delivered makes events of the deposits, all sent.
func (f filler) delivered(ctx context.Context, hot string, wallets, count int64) error {
	id, err := bytesOf(hot)
	if err != nil {
		return err
	}
	at := f.spread("n", count)
	query := `INSERT INTO events(number, id, account_id, kind, subject, url, body, created_at, status, attempts, next_at,
		delivered_at, tries, first_at) SELECT n, ` + f.id(spaceEvent, "n") + `, ` + f.owner(wallets) + `, 'deposit', ` +
		f.id(spaceDeposit, "n") + `, 'https://example.com/hook', $4, ` + at + `, ` + rare("delivered", "failed") + `, 1, ` +
		at + `, ` + at + `, 1, ` + at + ` FROM ` + f.series()
	return f.inChunks(ctx, "events", count, query, id, []byte(eventBody("a5000000-0000-0000-0000-000000000000")))
}

// owner is an expression of the account of a row: $3 for every tenth, and those of filled wallets.
func (f filler) owner(wallets int64) string {
	accounts := (wallets + walletsEach - 1) / walletsEach
	return `CASE WHEN n % 10 = 0 THEN $3 ELSE ` + f.id(spaceAccount, fmt.Sprintf("n %% %d", accounts)) + ` END`
}

// bytes is the literal of some bytes in hexadecimal.
func (f filler) bytes(text string) string {
	if f.postgres {
		return `'\x` + text + `'::bytea`
	}
	return `X'` + text + `'`
}

// inChunks runs a statement that makes the rows from $1 to $2, and moves the table's numbers behind them.
func (f filler) inChunks(ctx context.Context, table string, count int64, query string, args ...any) error {
	err := each(ctx, 0, count, func(from, to int64) error {
		return f.fast(ctx, "make "+table, query, append([]any{from, to}, args...)...)
	})
	if err != nil || !f.postgres {
		return err
	}
	return f.exec(ctx, "move the numbers of "+table,
		`SELECT setval(pg_get_serial_sequence('`+table+`', 'number'), $1)`, count)
}

// months makes the sums of months that the service would make of filled entries within hours, and says so.
func (f filler) months(ctx context.Context, count int64) error {
	month := `CAST(strftime('%Y', e.at / 1000000, 'unixepoch') AS INTEGER) * 12 +
		CAST(strftime('%m', e.at / 1000000, 'unixepoch') AS INTEGER) - 1`
	if f.postgres {
		month = `(extract(year FROM to_timestamp(e.at / 1000000) AT TIME ZONE 'UTC') * 12 +
			extract(month FROM to_timestamp(e.at / 1000000) AT TIME ZONE 'UTC') - 1)::bigint`
	}
	err := f.exec(ctx, "add up months", `INSERT INTO month_sums(account, asset, month, debits, credits)
		SELECT p.credit, p.asset, `+month+`, '0', CAST(COUNT(*) * $1 AS TEXT) FROM postings p
		JOIN entries e ON e.number = p.entry GROUP BY 1, 2, 3`, satoshiOfEntry)
	if err != nil {
		return err
	}
	if err := f.exec(ctx, "note how far months are", `INSERT INTO months_summed(name, entry, since)
		VALUES ('months', $1, 0)`, count); err != nil {
		return err
	}
	return f.exec(ctx, "note how far days are", `INSERT INTO figures_read(name, entry) VALUES ('days', $1)`, count)
}
