package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/bursar/bursar/ledger"
)

// MonthSums sums the postings of customers by month, and says what their balances were at a time. The sums outlive the
// postings, which may be archived.
type MonthSums struct{ *Tx }

// MonthSums returns the handle of the sums of months.
func (tx *Tx) MonthSums() MonthSums { return MonthSums{tx} }

// monthsOnce is how many postings one transaction sums.
const monthsOnce = 2000

// monthOf counts months since January of the year 0, in UTC.
func monthOf(t time.Time) int64 {
	t = t.UTC()
	return int64(t.Year())*12 + int64(t.Month()) - 1
}

// monthStart is the beginning of a month.
func monthStart(month int64) time.Time {
	return time.Date(int(month/12), time.Month(month%12+1), 1, 0, 0, 0, 0, time.UTC)
}

type monthKey struct {
	ledger.Key
	month int64
}

var monthColumns = columnsOf([]column[monthSum]{
	{"account", func(m *monthSum) any { return &m.key.Account }},
	{"asset", func(m *monthSum) any { return &m.key.Asset }},
	{"month", func(m *monthSum) any { return &m.key.month }},
	{"debits", func(m *monthSum) any { return &m.Debits }},
	{"credits", func(m *monthSum) any { return &m.Credits }},
})

type monthSum struct {
	key monthKey
	ledger.Balance
}

// MonthsRead is how far months are summed.
type MonthsRead struct {
	Entry    int64     // every entry up to this one is in the sums
	Since    time.Time // entries before this time were archived earlier: their months are not known; zero: all are
	Archived int64     // the link up to which the books were archived, by who took care that all of that is in the sums
}

// whole reports whether all that is archived is in the sums. It is not where a program that does not know of the sums,
// such as that of the version before during an upgrade, has archived since they were started.
func (m MonthsRead) whole(newest Checkpoint) bool { return m.Archived == newest.Link }

// Read returns how far months are summed: the zero one where that has not started, with the time up to which the books
// were archived.
func (tx MonthSums) Read(ctx context.Context) (read MonthsRead, started bool, err error) {
	read, err = tx.read(ctx, "")
	if !errors.Is(err, ErrNotFound) {
		return read, err == nil, err
	}
	newest, err := tx.Checkpoints().Newest(ctx)
	return MonthsRead{Since: newest.Until}, false, err
}

func (tx MonthSums) read(ctx context.Context, lock string) (MonthsRead, error) {
	return one(ctx, tx.Tx, "read how far months are summed", func(s scanner) (r MonthsRead, err error) {
		return r, s.Scan(&r.Entry, instant{&r.Since}, &r.Archived)
	}, `SELECT entry, since, COALESCE((SELECT a.entry FROM months_summed a WHERE a.name = 'archived'), 0)
		FROM months_summed WHERE name = 'months'`+lock)
}

// archive notes that the books are archived up to a link, all of which is in the sums.
func (tx MonthSums) archive(ctx context.Context, link int64) error {
	_, err := tx.exec(ctx, "note up to where months are archived", `INSERT INTO months_summed (name, entry, since)
		SELECT 'archived', $1, 0 WHERE EXISTS (SELECT 1 FROM months_summed WHERE name = 'months')
		ON CONFLICT (name) DO UPDATE SET entry = excluded.entry`, link)
	return err
}

// Fold sums the next entries of the books that are old enough, and reports whether more wait. It reads a bounded
// number, in a transaction that changes nothing else; each entry is summed once, whichever replica does it.
//
// The first call locks the audit before anything else, so that no posting moves into an archive meanwhile; so does one
// that finds postings in archives which were not summed, and begins again.
func (tx MonthSums) Fold(ctx context.Context) (more bool, err error) {
	read, started, err := tx.Read(ctx)
	if err != nil {
		return false, err
	}
	newest, err := tx.Checkpoints().Newest(ctx)
	if err != nil {
		return false, err
	}
	if !started || !read.whole(newest) {
		return true, tx.begin(ctx)
	}
	if read, err = tx.read(ctx, tx.forUpdate()); err != nil {
		return false, err
	}
	lines, more, err := tx.DayFigures().oldEntries(ctx, read.Entry, monthsOnce)
	if err != nil || len(lines) == 0 {
		return false, err
	}
	sums, err := byMonth(lines)
	if err != nil {
		return false, err
	}
	if err := tx.grow(ctx, sums); err != nil {
		return false, err
	}
	_, err = tx.exec(ctx, "note how far months are summed", `UPDATE months_summed SET entry = $1 WHERE name = 'months'`,
		lines[len(lines)-1].Entry)
	return more, err
}

// begin sums what is archived already, of which nobody knows the month. What was summed before counts no more.
func (tx MonthSums) begin(ctx context.Context) error {
	if _, err := tx.Audits().Lock(ctx); err != nil {
		return err
	}
	newest, err := tx.Checkpoints().Newest(ctx)
	if err != nil {
		return err
	}
	read, err := tx.read(ctx, tx.forUpdate())
	if err == nil && read.whole(newest) || err != nil && !errors.Is(err, ErrNotFound) {
		return err // another replica has started
	}
	since := int64(0)
	if newest.Link > 0 {
		since = micros(newest.Until)
	}
	if _, err := tx.exec(ctx, "begin the sums of months", `INSERT INTO months_summed (name, entry, since)
		VALUES ('months', 0, $1) ON CONFLICT (name) DO UPDATE SET entry = 0, since = excluded.since`, since); err != nil {
		return err
	}
	if err := tx.archive(ctx, newest.Link); err != nil || newest.Link == 0 {
		return err
	}
	if _, err := tx.exec(ctx, "forget the sums of months",
		`UPDATE month_sums SET debits = '0', credits = '0'`); err != nil {
		return err
	}
	sums := map[monthKey]ledger.Balance{}
	if _, err := tx.Checkpoints().EachSum(ctx, newest, func(k ledger.Key, p Posted) {
		if _, is := k.Account.Customer(); is {
			sums[monthKey{k, monthOf(newest.Until) - 1}] = p.Balance // before all months that are known
		}
	}); err != nil {
		return err
	}
	return tx.grow(ctx, sums)
}

// byMonth sums lines by customers' accounts, assets and months.
func byMonth(lines []Line) (map[monthKey]ledger.Balance, error) {
	sums := map[monthKey]ledger.Balance{}
	for _, l := range lines {
		for _, account := range []ledger.Account{l.Debit, l.Credit} {
			if _, is := account.Customer(); !is {
				continue
			}
			k := monthKey{ledger.Key{Account: account, Asset: l.Asset}, monthOf(l.At)}
			sum, err := sums[k].Apply(account, l.Posting)
			if err != nil {
				return nil, err
			}
			sums[k] = sum
		}
	}
	return sums, nil
}

// grow adds to the sums of months: the one transaction that does so holds the lock of months_summed.
func (tx MonthSums) grow(ctx context.Context, sums map[monthKey]ledger.Balance) error {
	keys := slices.SortedFunc(maps.Keys(sums), func(a, b monthKey) int {
		if a.month != b.month {
			return int(a.month - b.month)
		}
		return byName(a.Key, b.Key)
	})
	for chunk := range slices.Chunk(keys, keysAtOnce) {
		if err := tx.growSome(ctx, chunk, sums); err != nil {
			return err
		}
	}
	return nil
}

func (tx MonthSums) growSome(ctx context.Context, keys []monthKey, sums map[monthKey]ledger.Balance) error {
	var args []any
	for _, k := range keys {
		args = append(args, string(k.Account), string(k.Asset), k.month)
	}
	source, those, args, err := sought(tx.Tx, "month_sums", "m", []string{"account", "asset", "month"}, args)
	if err != nil {
		return err
	}
	before, err := monthColumns.rows(ctx, tx.Tx, "read the sums of months", `FROM `+source+` WHERE `+those, args...)
	if err != nil {
		return err
	}
	for _, m := range before {
		if sums[m.key], err = plus(sums[m.key], m.Balance); err != nil {
			return err
		}
	}
	in := insertion{what: "write the sums of months", table: "month_sums", rows: len(keys),
		after: ` ON CONFLICT (account, asset, month) DO UPDATE SET debits = excluded.debits, credits = excluded.credits`}
	for _, k := range keys {
		in.add(values{
			{"account", string(k.Account)},
			{"asset", string(k.Asset)},
			{"month", k.month},
			{"debits", sums[k].Debits},
			{"credits", sums[k].Credits},
		})
	}
	return tx.insertRows(ctx, in)
}
