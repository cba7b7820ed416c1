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
	figuresWait  = 2 * clocksApart     // lines this old have their final order: nothing appears before them any more
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
		day := l.At.UTC().Unix() / 86400
		key := dayKey{day, figure, l.Asset}
		f := s[key]
		sum, err := f.Amount.Add(l.Amount)
		if err != nil {
			return err
		}
		s[key] = DayFigure{time.Unix(day*86400, 0).UTC(), figure, l.Asset, f.Lines + 1, sum}
	}
	return nil
}

// Fold sums the next lines of the books that are old enough, and reports whether more wait. It reads a bounded number,
// in a transaction that changes nothing else; each line is summed once, whichever replica does it.
func (tx DayFigures) Fold(ctx context.Context) (more bool, err error) {
	if _, err := tx.exec(ctx, "begin the figures of days",
		`INSERT INTO figures_read (name, line) VALUES ('days', -1) ON CONFLICT (name) DO NOTHING`); err != nil {
		return false, err
	}
	read, err := one(ctx, tx.Tx, "read how far the figures of days are", scanOne[int64],
		`SELECT line FROM figures_read WHERE name = 'days'`+tx.forUpdate())
	if err != nil {
		return false, err
	}
	var q LineQuery
	if read < 0 {
		read, q.Since = 0, tx.Now().Add(-figuresBack)
	}
	lines, err := tx.Statements().After(ctx, q, read, figuresOnce)
	if err != nil {
		return false, err
	}
	old := tx.Now().Add(-figuresWait)
	if young := slices.IndexFunc(lines, func(l Line) bool { return !l.At.Before(old) }); young >= 0 {
		lines = lines[:young] // and none behind it, whatever its time: the next reading begins here
	}
	if len(lines) == 0 {
		return false, nil
	}
	sums := daySums{}
	if err := sums.add(lines); err != nil {
		return false, err
	}
	if err := tx.grow(ctx, sums); err != nil {
		return false, err
	}
	_, err = tx.exec(ctx, "note how far the figures of days are", `UPDATE figures_read SET line = $1 WHERE name = 'days'`,
		lines[len(lines)-1].Number())
	return len(lines) == figuresOnce, err
}

// grow adds sums to the figures of days: the one transaction that does so holds the lock of figures_read.
func (tx DayFigures) grow(ctx context.Context, sums daySums) error {
	for key, f := range sums {
		before, err := one(ctx, tx.Tx, "read the figure of a day", dayFigureColumns.scan, dayFigureColumns.query+
			`FROM day_figures WHERE day = $1 AND figure = $2 AND asset = $3`, key.day, string(key.figure), string(key.asset))
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		sum, err := before.Amount.Add(f.Amount)
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

// Since returns the figures of the days from one on, in the order of their days, with what is not folded yet. whole
// says that they are complete: more than figuresFresh lines may wait to be folded, and those beyond are left out.
func (tx DayFigures) Since(ctx context.Context, day time.Time) (list []DayFigure, whole bool, err error) {
	folded, err := dayFigureColumns.rows(ctx, tx.Tx, "list the figures of days",
		`FROM day_figures WHERE day >= $1 ORDER BY day, figure, asset`, day.UTC().Unix()/86400)
	if err != nil {
		return nil, false, err
	}
	read, err := one(ctx, tx.Tx, "read how far the figures of days are", scanOne[int64],
		`SELECT line FROM figures_read WHERE name = 'days'`)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, false, err
	}
	lines, err := tx.Statements().After(ctx, LineQuery{Since: day}, max(read, 0), figuresFresh)
	if err != nil {
		return nil, false, err
	}
	sums := daySums{}
	for _, f := range folded {
		sums[dayKey{f.Day.Unix() / 86400, f.Figure, f.Asset}] = f
	}
	if err := sums.add(lines); err != nil {
		return nil, false, err
	}
	for _, f := range sums {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b DayFigure) int {
		return cmp.Or(a.Day.Compare(b.Day), cmp.Compare(a.Figure, b.Figure), cmp.Compare(a.Asset, b.Asset))
	})
	return list, len(lines) < figuresFresh, nil
}
