package store

import (
	"context"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// began is when a deposit was seen or a withdrawal was requested.
type began struct {
	ID bursar.ID
	At time.Time
}

func scanBegan(s scanner) (b began, err error) {
	err = s.Scan(&b.ID, instant{&b.At})
	return b, err
}

// addWaits adds how long the deposits and payouts of some lines took, from when they were seen or requested until they
// were booked.
func (tx DayFigures) addWaits(ctx context.Context, sums daySums, lines []Line) error {
	for _, w := range []struct {
		of, total, longest ledger.Figure
		query              string
	}{
		{ledger.FigureDeposits, ledger.FigureCreditWait, ledger.FigureCreditLongest,
			`SELECT id, seen_at FROM deposits WHERE `},
		{ledger.FigurePayouts, ledger.FigurePayoutWait, ledger.FigurePayoutLongest,
			`SELECT id, created_at FROM withdrawals WHERE `},
	} {
		done := map[bursar.ID][]Line{} // one that was reversed is booked again
		for _, l := range lines {
			if figure, _ := ledger.FigureOf(l.Kind, l.Posting); figure == w.of {
				if id, is := l.Ref.Object(); is {
					done[id] = append(done[id], l)
				}
			}
		}
		if err := tx.addWaitsOf(ctx, sums, done, w.query, w.total, w.longest); err != nil {
			return err
		}
	}
	return nil
}

func (tx DayFigures) addWaitsOf(ctx context.Context, sums daySums, done map[bursar.ID][]Line, query string,
	total, longest ledger.Figure) error {
	ids := make([]bursar.ID, 0, len(done))
	for id := range done {
		ids = append(ids, id)
	}
	for len(ids) > 0 {
		some := ids[:min(len(ids), waitsOnce)]
		ids = ids[len(some):]
		those, args := among(tx.Tx, "id", some)
		list, err := rows(ctx, tx.Tx, "read since when deposits and withdrawals wait", scanBegan, query+those, args...)
		if err != nil {
			return err
		}
		for _, b := range list {
			for _, l := range done[b.ID] {
				took := bursar.Units(uint64(max(0, l.At.Sub(b.At)/time.Second)))
				if err := sums.put(total, l, took); err != nil {
					return err
				}
				if err := sums.put(longest, l, took); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// waitsOnce bounds how many objects one statement reads.
const waitsOnce = 1000
