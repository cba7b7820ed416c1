package api

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// statementAnswer is one page of a statement. For each currency, opening, what is archived and all entries together are
// closing, exactly.
type statementAnswer struct {
	From           time.Time           `json:"from"`
	To             time.Time           `json:"to"`
	Final          bool                `json:"final"` // no entry of the period can appear any more
	Currencies     []statementCurrency `json:"currencies,omitempty"`
	Entries        []ledgerLine        `json:"entries"`
	ArchivedBefore *time.Time          `json:"archivedBefore,omitempty"`
	NextCursor     string              `json:"nextCursor,omitempty"`
}

// statementCurrency is what a statement says of a currency, on its first page.
type statementCurrency struct {
	Currency bursar.CurrencyCode `json:"currency"`
	Opening  ownedAmounts        `json:"opening"`
	Closing  ownedAmounts        `json:"closing"`
	Archived *ownedAmounts       `json:"archived,omitempty"` // what the entries come to that are not listed
}

type ownedAmounts struct {
	Available string `json:"available"`
	Held      string `json:"held"`
}

// period is what a statement is asked for.
type period struct {
	store.LineQuery
	page  store.Page
	plain bool // as CSV
	last  bool // the page ends the list
}

func (p period) first() bool { return p.page.Before == 0 }

// statement is GET account/statement.
func (a *api) statement(ctx context.Context, c *call) (any, error) {
	owner := c.identity.Account
	p, err := a.period(owner, c)
	if err != nil {
		return nil, err
	}
	answer := statementAnswer{From: p.Since, To: p.Until}
	var lines []store.Line
	var brought map[bursar.ID]bursar.ID
	err = a.DB.View(ctx, func(tx *store.Tx) (err error) {
		answer.Final = tx.MonthSums().Settled(p.Until)
		var next int64
		if lines, next, err = tx.Statements().SelectAfter(ctx, p.LineQuery, p.page); err != nil {
			return err
		}
		lines, answer.NextCursor = cutAt(next, lines, p.page, statementList, store.Line.Number)
		p.last = answer.NextCursor == ""
		if err = a.statementBalances(ctx, tx, owner, p, &answer); err != nil {
			return err
		}
		brought, err = tx.Deposits().OfTransfers(ctx, owner, a.transfersTo(owner, lines))
		return err
	})
	if err != nil {
		return nil, err
	}
	answer.Entries, err = each(lines, func(l store.Line) (ledgerLine, error) { return a.viewLine(owner, l, brought) })
	if err != nil || !p.plain {
		return answer, err
	}
	return answer.csv(p), nil
}

// period reads what a statement is asked for: a month, or a period of its own.
func (a *api) period(owner bursar.ID, c *call) (p period, err error) {
	in := &c.in
	p.page = in.page(statementList)
	p.Accounts = []ledger.Account{ledger.Available(owner), ledger.Held(owner)}
	p.Asset = a.optionalCurrency(c)
	p.plain = chosen(in, "format", []string{"json", "csv"}) == "csv"
	from, hasFrom := in.instant("from")
	to, hasTo := in.instant("to")
	month, hasMonth := in.month("month")
	switch {
	case hasMonth && (hasFrom || hasTo):
		in.refuse("month", "send either month, or from and to")
	case hasMonth:
		from, to = month, month.AddDate(0, 1, 0)
	case !hasFrom:
		now := c.now.UTC()
		if from = time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC); !hasTo {
			to = from.AddDate(0, 1, 0)
		}
	case !hasTo:
		to = c.now
	}
	p.Since, p.Until = from.UTC(), to.UTC()
	switch {
	case to.Before(from):
		in.refuse("to", "to must not be earlier than from")
	case p.Since.Year() < 0: // which RFC 3339 cannot write
		in.refuse("from", "from must not be before the year 0 in UTC")
	case p.Until.Year() > 9999 && hasMonth:
		in.refuse("month", "the month must end before the year 10000")
	case p.Until.Year() > 9999:
		in.refuse("to", "to must be before the year 10000 in UTC")
	}
	return p, in.err
}

// month returns the beginning of a month in UTC, and whether it was sent.
func (in *input) month(name string) (time.Time, bool) {
	text, sent := in.optional(name)
	if !sent {
		return time.Time{}, false
	}
	at, err := time.Parse("2006-01", text)
	if err != nil {
		in.refuse(name, "%s must be a month such as 2026-01", name)
		return time.Time{}, false
	}
	return at, true
}

// statementBalances adds what each currency began and ended with: on the first page, and in CSV on the last one too.
func (a *api) statementBalances(ctx context.Context, tx *store.Tx, owner bursar.ID, p period,
	answer *statementAnswer) error {
	if !p.first() && (!p.plain || !p.last) {
		return nil
	}
	months := tx.MonthSums()
	opening, err := months.At(ctx, p.Accounts, p.Since)
	if err != nil {
		return notSummed(err, "from")
	}
	closing, err := months.At(ctx, p.Accounts, p.Until)
	if err != nil {
		return notSummed(err, "to")
	}
	archived, before, err := months.Archived(ctx, p.Accounts, p.Since, p.Until)
	if err != nil {
		return notSummed(err, "from")
	}
	if len(archived) > 0 {
		answer.ArchivedBefore = &before
	}
	for _, code := range assetsOf(closing) {
		if p.Asset != "" && p.Asset != code {
			continue
		}
		currency, err := a.currency(code)
		if errors.Is(err, errRemoved) {
			continue
		}
		if err != nil {
			return err
		}
		of := statementCurrency{Currency: code, Opening: ownedOf(currency, owner, opening),
			Closing: ownedOf(currency, owner, closing)}
		if gone := ownedOf(currency, owner, archived); len(archived) > 0 {
			of.Archived = &gone
		}
		if moved(opening, closing, owner, code) {
			answer.Currencies = append(answer.Currencies, of)
		}
	}
	return nil
}

// moved reports whether an account has something of a currency at the beginning of a period, or had entries in it.
func moved(opening, closing map[ledger.Key]ledger.Balance, owner bursar.ID, code bursar.CurrencyCode) bool {
	for _, account := range []ledger.Account{ledger.Available(owner), ledger.Held(owner)} {
		k := ledger.Key{Account: account, Asset: code}
		if closing[k] != opening[k] || closing[k].Debits != closing[k].Credits {
			return true
		}
	}
	return false
}

func assetsOf(balances map[ledger.Key]ledger.Balance) []bursar.CurrencyCode {
	codes := map[bursar.CurrencyCode]bool{}
	for k := range balances {
		codes[k.Asset] = true
	}
	return slices.Sorted(maps.Keys(codes))
}

func ownedOf(c bursar.Currency, owner bursar.ID, of map[ledger.Key]ledger.Balance) ownedAmounts {
	return ownedAmounts{
		Available: signed(c, of[ledger.Key{Account: ledger.Available(owner), Asset: c.Code}]),
		Held:      signed(c, of[ledger.Key{Account: ledger.Held(owner), Asset: c.Code}]),
	}
}

// notSummed refuses a time of which the balances cannot be said.
func notSummed(err error, field string) error {
	switch {
	case errors.Is(err, store.ErrUnknownMonth):
		return bursar.RefuseField(bursar.CodeInvalidRequest, field,
			"entries of this time are in archives of the operator: choose the beginning of a month, or a later time")
	case errors.Is(err, store.ErrNotSummed):
		return bursar.Refuse(bursar.CodeUnavailable, "the entries are not summed by month yet; try again later")
	case errors.Is(err, store.ErrManyLines):
		return bursar.RefuseField(bursar.CodeInvalidRequest, field,
			"too many entries are between the beginning of the month and this time: choose the beginning of a month")
	}
	return err
}
