package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// DayFigures reads and sums what happened on each day.
type DayFigures struct{ *Tx }

// DayFigures returns the handle of the figures of days.
func (tx *Tx) DayFigures() DayFigures { return DayFigures{tx} }

// DayFigure is one figure of a day in one currency.
type DayFigure struct {
	Day    time.Time // its midnight in UTC
	Figure ledger.Figure
	Asset  bursar.CurrencyCode
	Lines  int64 // postings that make it
	Amount bursar.Amount
}

const (
	figuresBack  = 31 * 24 * time.Hour // how far back the first reading begins
	figuresWait  = 2 * clocksApart     // entries this old have their final order: nothing appears before them any more
	figuresOnce  = 2000                // lines that one transaction sums
	figuresFresh = 5000                // lines that are younger and summed for a reader
)

var dayFigureColumns = columnsOf([]column[DayFigure]{
	{"day", func(f *DayFigure) any { return dayNumber{&f.Day} }},
	{"figure", func(f *DayFigure) any { return &f.Figure }},
	{"asset", func(f *DayFigure) any { return &f.Asset }},
	{"lines", func(f *DayFigure) any { return &f.Lines }},
	{"amount", func(f *DayFigure) any { return &f.Amount }},
})

// dayNumber reads a day.
type dayNumber struct{ *time.Time }

// Scan implements sql.Scanner.
func (d dayNumber) Scan(value any) error {
	n, is := value.(int64)
	if !is {
		return errors.New("a day is a number")
	}
	*d.Time = time.Unix(n*86400, 0).UTC()
	return nil
}

// dayKey names a figure.
type dayKey struct {
	day    int64
	figure ledger.Figure
	asset  bursar.CurrencyCode
}

// daySums are figures being summed.
type daySums map[dayKey]DayFigure

func (s daySums) add(lines []Line) error {
	for _, l := range lines {
		figure, counts := ledger.FigureOf(l.Kind, l.Posting)
		if !counts {
			continue
		}
		if err := s.put(figure, l, l.Amount); err != nil {
			return err
		}
	}
	return nil
}

// put adds one value to a figure of a line's day and asset.
func (s daySums) put(figure ledger.Figure, l Line, value bursar.Amount) error {
	day := l.At.UTC().Unix() / 86400
	key := dayKey{day, figure, l.Asset}
	f := s[key]
	sum, err := figure.Join(f.Amount, value)
	if err != nil {
		return err
	}
	s[key] = DayFigure{time.Unix(day*86400, 0).UTC(), figure, l.Asset, f.Lines + 1, sum}
	return nil
}

// Fold sums the next entries of the books that are old enough, and reports whether more wait. It reads a bounded
// number, in a transaction that changes nothing else; each entry is summed once, whichever replica does it.
func (tx DayFigures) Fold(ctx context.Context) (more bool, err error) {
	if err := tx.begin(ctx); err != nil {
		return false, err
	}
	read, err := one(ctx, tx.Tx, "lock how far the figures of days are", scanOne[int64],
		`SELECT entry FROM figures_read WHERE name = 'days'`+tx.forUpdate())
	if err != nil {
		return false, err
	}
	lines, more, err := tx.oldEntries(ctx, read, figuresOnce)
	if err != nil || len(lines) == 0 {
		return false, err
	}
	sums := daySums{}
	if err := sums.add(lines); err != nil {
		return false, err
	}
	if err := tx.addWaits(ctx, sums, lines); err != nil {
		return false, err
	}
	if err := tx.grow(ctx, sums); err != nil {
		return false, err
	}
	_, err = tx.exec(ctx, "note how far the figures of days are", `UPDATE figures_read SET entry = $1 WHERE name = 'days'`,
		lines[len(lines)-1].Entry)
	return more, err
}

// begin notes, the first time, from which entry on days are summed.
func (tx DayFigures) begin(ctx context.Context) error {
	_, err := tx.exec(ctx, "begin the figures of days", `INSERT INTO figures_read (name, entry)
		SELECT 'days', COALESCE((SELECT number FROM entries WHERE at < $1 ORDER BY at DESC LIMIT 1), 0)
		WHERE NOT EXISTS (SELECT 1 FROM figures_read WHERE name = 'days') ON CONFLICT (name) DO NOTHING`,
		micros(tx.Now().Add(-figuresBack)))
	return err
}

// wholeEntries returns the lines of the entries behind one, up to limit lines, and whether there are more.
func (tx DayFigures) wholeEntries(ctx context.Context, after int64, limit int) (lines []Line, more bool, err error) {
	lines, err = lineColumns.rows(ctx, tx.Tx, "list the postings of whole entries",
		`FROM postings p JOIN entries e ON e.number = p.entry WHERE p.entry > $1 AND e.number > $1
		ORDER BY p.entry, p.place LIMIT $2`, after, limit)
	if err != nil || len(lines) < limit {
		return lines, false, err
	}
	last := lines[len(lines)-1].Entry // which may go on; no entry has as many postings as are read
	return lines[:slices.IndexFunc(lines, func(l Line) bool { return l.Entry == last })], true, nil
}

// oldEntries is wholeEntries up to the first entry that is too young to have its final order.
func (tx DayFigures) oldEntries(ctx context.Context, after int64, limit int) (lines []Line, more bool, err error) {
	if lines, more, err = tx.wholeEntries(ctx, after, limit); err != nil {
		return nil, false, err
	}
	old := tx.Now().Add(-figuresWait)
	if young := slices.IndexFunc(lines, func(l Line) bool { return !l.At.Before(old) }); young >= 0 {
		lines, more = lines[:young], false // and none behind it, whatever its time: the next reading begins here
	}
	return lines, more, nil
}

// grow adds sums to the figures of days: the one transaction that does so holds the lock of figures_read.
func (tx DayFigures) grow(ctx context.Context, sums daySums) error {
	for key, f := range sums {
		before, err := one(ctx, tx.Tx, "read the figure of a day", dayFigureColumns.scan, dayFigureColumns.query+
			`FROM day_figures WHERE day = $1 AND figure = $2 AND asset = $3`, key.day, string(key.figure), string(key.asset))
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		sum, err := key.figure.Join(before.Amount, f.Amount)
		if err != nil {
			return err
		}
		if _, err := tx.exec(ctx, "write the figure of a day",
			`INSERT INTO day_figures (day, figure, asset, lines, amount) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (day, figure, asset) DO UPDATE SET lines = excluded.lines, amount = excluded.amount`,
			key.day, string(key.figure), string(key.asset), before.Lines+f.Lines, sum); err != nil {
			return err
		}
	}
	return nil
}

// Of returns the figures of some days, in their order, with those of entries that are not folded yet. whole says that
// they are complete: more than figuresFresh lines may wait to be folded, and those beyond are left out.
func (tx DayFigures) Of(ctx context.Context, days []time.Time) (list []DayFigure, whole bool, err error) {
	numbers := make([]int64, len(days))
	for i, day := range days {
		numbers[i] = day.UTC().Unix() / 86400
	}
	those, args := among(tx.Tx, "day", numbers)
	folded, err := dayFigureColumns.rows(ctx, tx.Tx, "list the figures of days", `FROM day_figures WHERE `+those, args...)
	if err != nil {
		return nil, false, err
	}
	sums := daySums{}
	for _, f := range folded {
		sums[dayKey{f.Day.Unix() / 86400, f.Figure, f.Asset}] = f
	}
	read, err := one(ctx, tx.Tx, "read how far the figures of days are", scanOne[int64],
		`SELECT entry FROM figures_read WHERE name = 'days'`)
	if errors.Is(err, ErrNotFound) {
		return nil, false, nil // nothing was summed yet
	}
	if err != nil {
		return nil, false, err
	}
	lines, more, err := tx.wholeEntries(ctx, read, figuresFresh)
	if err != nil {
		return nil, false, err
	}
	if err := sums.add(lines); err != nil {
		return nil, false, err
	}
	if err := tx.addWaits(ctx, sums, lines); err != nil {
		return nil, false, err
	}
	for key, f := range sums {
		if slices.Contains(numbers, key.day) {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b DayFigure) int {
		return cmp.Or(a.Day.Compare(b.Day), cmp.Compare(a.Figure, b.Figure), cmp.Compare(a.Asset, b.Asset))
	})
	return list, !more, nil
}
