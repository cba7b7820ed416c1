package store

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/bursar/bursar/ledger"
)

// Errors of balances at a time.
var (
	// ErrManyLines is returned where more lines would have to be added up than one request may read.
	ErrManyLines = errors.New("too many postings since the last month that is summed")
	// ErrNotSummed is returned where too many of them are not summed yet, which the service goes on to do.
	ErrNotSummed = errors.New("the postings are not summed by month yet")
	// ErrUnknownMonth is returned for a time before the first one of which the balances are known.
	ErrUnknownMonth = errors.New("the postings of this time were archived before months were summed")
)

// monthsLines is how many postings are added up for the balances of one time.
const monthsLines = 50_000

// At returns the balances of some accounts as the entries of before a time make them; those that there are none of are
// not in the map. It reads the sums of whole months and at most monthsLines postings besides. Errors: ErrManyLines,
// ErrNotSummed, and ErrUnknownMonth for a time before months are known, or within a month of which postings are
// archived.
func (tx MonthSums) At(ctx context.Context, accounts []ledger.Account, at time.Time) (map[ledger.Key]ledger.Balance,
	error) {
	read, started, err := tx.Read(ctx)
	if err != nil {
		return nil, err
	}
	newest, err := tx.Checkpoints().Newest(ctx)
	if err != nil {
		return nil, err
	}
	if started && !read.whole(newest) {
		return nil, ErrNotSummed
	}
	month := monthOf(at)
	begins, gone := monthStart(month), monthStart(month).Before(newest.Until)
	switch {
	case at.Before(read.Since), gone && at.Before(newest.Until) && !at.Equal(begins):
		return nil, ErrUnknownMonth
	case gone && !at.Equal(begins) && started:
		month++ // what is behind the time is all there, and what is before it within the month is not
	}
	sums, err := tx.before(ctx, accounts, month, started)
	if err != nil {
		return nil, err
	}
	lines := &lineSums{tx: tx, accounts: accounts, sums: sums}
	if month > monthOf(at) {
		lines.sum(ctx, LineQuery{Accounts: accounts, Since: at, Until: monthStart(month)}, 0, read.Entry, minus)
	} else if started && at.After(begins) {
		lines.sum(ctx, LineQuery{Accounts: accounts, Since: begins, Until: at}, 0, read.Entry, plus)
	}
	if err := lines.err; err != nil {
		return nil, err
	}
	lines.sum(ctx, LineQuery{Accounts: accounts, Until: at}, read.Entry, math.MaxInt64, plus)
	if errors.Is(lines.err, ErrManyLines) {
		return nil, ErrNotSummed
	}
	return sums, lines.err
}

// Archived returns what the postings of a period come to that are in archives, and up to which time there are some;
// none where the period is behind them. Errors: those of At.
func (tx MonthSums) Archived(ctx context.Context, accounts []ledger.Account, from, to time.Time) (
	sums map[ledger.Key]ledger.Balance, before time.Time, err error) {
	newest, err := tx.Checkpoints().Newest(ctx)
	if err != nil || !from.Before(newest.Until) {
		return nil, before, err
	}
	if end := monthStart(monthOf(newest.Until) + 1); end.Before(to) {
		to = end
	}
	if sums, err = tx.At(ctx, accounts, to); err != nil {
		return nil, before, err
	}
	opening, err := tx.At(ctx, accounts, from)
	if err != nil {
		return nil, before, err
	}
	for k, b := range opening {
		if sums[k], err = minus(sums[k], b); err != nil {
			return nil, before, err
		}
	}
	lines := &lineSums{tx: tx, accounts: accounts, sums: sums}
	lines.sum(ctx, LineQuery{Accounts: accounts, Since: from, Until: to}, 0, math.MaxInt64, minus)
	for k, b := range sums {
		if b == (ledger.Balance{}) {
			delete(sums, k)
		}
	}
	return sums, newest.Until, lines.err
}

// Settled reports whether no entry of before a time can appear any more.
func (tx MonthSums) Settled(at time.Time) bool { return !at.After(tx.Now().Add(-figuresWait)) }

// before returns the sums of whole months before one; where no month is summed yet, those of what is archived.
func (tx MonthSums) before(ctx context.Context, accounts []ledger.Account, month int64, started bool) (
	map[ledger.Key]ledger.Balance, error) {
	sums := map[ledger.Key]ledger.Balance{}
	if !started {
		archived, err := tx.Checkpoints().SumsOfAccounts(ctx, accounts...)
		for k, p := range archived {
			sums[k] = p.Balance
		}
		return sums, err
	}
	names := make([]string, len(accounts))
	for i, a := range accounts {
		names[i] = string(a)
	}
	those, args := among(tx.Tx, "account", names, month)
	list, err := monthColumns.rows(ctx, tx.Tx, "add up the sums of months",
		`FROM month_sums WHERE month < $1 AND `+those, args...)
	if err != nil {
		return nil, err
	}
	for _, m := range list {
		if sums[m.key.Key], err = plus(sums[m.key.Key], m.Balance); err != nil {
			return nil, err
		}
	}
	return sums, nil
}

// lineSums adds lines to sums or takes them away, a bounded number, and keeps its first error.
type lineSums struct {
	tx       MonthSums
	accounts []ledger.Account
	sums     map[ledger.Key]ledger.Balance
	read     int
	err      error
}

// linesOnce is how many lines one statement reads.
const linesOnce = 2000

// sum reads the lines of a query with entries behind one and up to another.
func (s *lineSums) sum(ctx context.Context, q LineQuery, after, last int64,
	how func(a, b ledger.Balance) (ledger.Balance, error)) {
	from := (after+1)*placesPerEntry - 1
	for s.err == nil {
		lines, err := s.tx.Statements().After(ctx, q, from, linesOnce)
		if s.err = err; err != nil {
			return
		}
		for _, l := range lines {
			if l.Entry > last {
				return
			}
			s.add(l, how)
		}
		if len(lines) < linesOnce {
			return
		}
		if from, s.read = lines[len(lines)-1].Number(), s.read+len(lines); s.read >= monthsLines {
			s.err = ErrManyLines
		}
	}
}

func (s *lineSums) add(l Line, how func(a, b ledger.Balance) (ledger.Balance, error)) {
	for _, account := range s.accounts {
		k := ledger.Key{Account: account, Asset: l.Asset}
		by, err := ledger.Balance{}.Apply(account, l.Posting)
		if s.err = errors.Join(s.err, err); by == (ledger.Balance{}) || s.err != nil {
			continue
		}
		sum, err := how(s.sums[k], by)
		s.sums[k], s.err = sum, err
	}
}

func plus(a, b ledger.Balance) (sum ledger.Balance, err error) {
	if sum.Debits, err = a.Debits.Add(b.Debits); err != nil {
		return sum, err
	}
	sum.Credits, err = a.Credits.Add(b.Credits)
	return sum, err
}

func minus(a, b ledger.Balance) (rest ledger.Balance, err error) {
	if rest.Debits, err = a.Debits.Sub(b.Debits); err != nil {
		return rest, err
	}
	rest.Credits, err = a.Credits.Sub(b.Credits)
	return rest, err
}
