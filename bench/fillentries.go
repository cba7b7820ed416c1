package main

import (
	"context"
	"fmt"
)

// satoshiOfEntry is what each entry of a filler credits.
const satoshiOfEntry = 1000

// entries makes ledger entries of credited deposits, numbered from 1, in a database that has none, with the balances
// and the sums of months that they add up to, evenly spread over two years. Every tenth belongs to the account hot,
// which has a key; the others to accounts of wallets. The books count them as older than their links, as a migration
// does, so the audit takes them over at the first start.
func (f filler) entries(ctx context.Context, hot string, accounts, count int64) error {
	other := f.uuid(spaceAccount, fmt.Sprintf("n %% %d", accounts))
	customer := `'customer:' || CASE WHEN n % 10 = 0 THEN $3 ELSE ` + other + ` END || ':available'`
	err := each(ctx, 0, count, func(from, to int64) error {
		if from > 1 {
			progress("%s of %s entries are made", number(float64(from-1)), number(float64(count)))
		}
		err := f.fast(ctx, "make entries", `INSERT INTO entries(number, kind, ref, at) SELECT n, 'deposit', `+
			f.uuid(spaceDeposit, "n")+` || '/0', `+f.spread("n", count)+` FROM `+f.series(), from, to)
		if err != nil {
			return err
		}
		err = f.fast(ctx, "make postings", `INSERT INTO postings(entry, place, debit, credit, asset, amount)
			SELECT n, 0, 'custody', `+customer+`, 'BTC', '`+fmt.Sprint(satoshiOfEntry)+`' FROM `+f.series(),
			from, to, hot)
		if err != nil {
			return err
		}
		return f.fast(ctx, "make seals", `INSERT INTO seals(entry, link) SELECT n, 0 FROM `+f.series(), from, to)
	})
	if err != nil {
		return err
	}
	for _, table := range []string{"balances", "posted"} {
		err := f.fast(ctx, "add up "+table, `INSERT INTO `+table+`(account, asset, debits, credits)
			SELECT credit, 'BTC', '0', CAST(COUNT(*) * $1 AS TEXT) FROM postings GROUP BY credit
			UNION ALL SELECT 'custody', 'BTC', CAST(COUNT(*) * $1 AS TEXT), '0' FROM postings`, satoshiOfEntry)
		if err != nil {
			return err
		}
	}
	if err := f.months(ctx, count); err != nil {
		return err
	}
	if !f.postgres {
		return f.analyze(ctx)
	}
	err = f.exec(ctx, "move the number of entries",
		`SELECT setval(pg_get_serial_sequence('entries', 'number'), $1)`, count)
	if err != nil {
		return err
	}
	return f.analyze(ctx)
}

// uuid is the text of an ID for an expression of a number.
func (f filler) uuid(space, n string) string {
	digits := f.hexOf(n, 16)
	return `'` + space + `000000-0000-0000-' || substr(` + digits + `, 1, 4) || '-' || substr(` + digits + `, 5)`
}
