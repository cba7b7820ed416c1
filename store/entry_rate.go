package store

import (
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// EntryRates reads and notes what currencies were worth in fiat when entries were posted.
type EntryRates struct{ *Tx }

// EntryRates returns the handle of the rates of entries.
func (tx *Tx) EntryRates() EntryRates { return EntryRates{tx} }

// linksOnce bounds how many links one transaction notes rates of.
const linksOnce = 200

// rated is an asset that an entry posted.
type rated struct {
	entry int64
	kind  ledger.Kind
	ref   ledger.Ref
	at    time.Time
	asset bursar.CurrencyCode
}

var ratedColumns = columnsOf([]column[rated]{
	{"e.number", func(r *rated) any { return &r.entry }},
	{"e.kind", func(r *rated) any { return &r.kind }},
	{"e.ref", func(r *rated) any { return &r.ref }},
	{"e.at", func(r *rated) any { return instant{&r.at} }},
	{"p.asset", func(r *rated) any { return &r.asset }},
})

// entryRate is a rate of an entry.
type entryRate struct {
	entry int64
	bursar.PairRate
}

var entryRateColumns = columnsOf([]column[entryRate]{
	{"r.entry", func(r *entryRate) any { return &r.entry }},
	{"r.asset", func(r *entryRate) any { return &r.Currency }},
	{"r.unit", func(r *entryRate) any { return &r.Unit }},
	{"r.rate", func(r *entryRate) any { return rateText{&r.Rate} }},
	{"r.source", func(r *entryRate) any { return &r.Source }},
	{"r.at", func(r *entryRate) any { return instant{&r.At} }},
})

// Note gives the rates that count now to the next entries of the books that are no older than age, and reports whether
// more entries wait. Each entry is looked at once, whichever replica does it, after the transaction that posted it: no
// transaction that books waits for a rate. An entry that takes another one back has the rates of that one, or none, so
// that the two come to nothing. The first call begins behind what is booked already.
func (tx EntryRates) Note(ctx context.Context, counting []bursar.PairRate, age time.Duration) (more bool, err error) {
	head, err := tx.Links().Head(ctx)
	if err != nil {
		return false, err
	}
	_, err = tx.exec(ctx, "begin the rates of entries", `INSERT INTO entry_rates_read (name, link) VALUES ('books', $1)
		ON CONFLICT (name) DO NOTHING`, head.Number)
	if err != nil {
		return false, err
	}
	read, err := one(ctx, tx.Tx, "lock up to where rates of entries are noted", scanOne[int64],
		`SELECT link FROM entry_rates_read WHERE name = 'books'`+tx.forUpdate())
	if err != nil || head.Number <= read {
		return false, err
	}
	until := min(head.Number, read+linksOnce) // links get their numbers in the order of their commits: none is missing
	list, err := ratedColumns.rows(ctx, tx.Tx, "list what was posted", `FROM seals s JOIN entries e ON e.number = s.entry
		JOIN postings p ON p.entry = e.number
		WHERE s.link > $1 AND s.link <= $2 GROUP BY e.number, e.kind, e.ref, e.at, p.asset
		ORDER BY e.number, p.asset`, read, until)
	if err != nil {
		return false, err
	}
	if err := tx.note(ctx, list, counting, tx.Now().Add(-age)); err != nil {
		return false, err
	}
	_, err = tx.exec(ctx, "note up to where rates of entries are", `UPDATE entry_rates_read SET link = $1
		WHERE name = 'books'`, until)
	return until < head.Number, err
}

// note writes the rates of some entries: those that others take back first.
func (tx EntryRates) note(ctx context.Context, list []rated, counting []bursar.PairRate, oldest time.Time) error {
	var found []entryRate
	var reversals []rated
	for _, r := range list {
		switch {
		case !ledger.MovesValue(r.kind):
		case ledger.Reverses(r.kind, r.ref) != nil:
			reversals = append(reversals, r)
		case !r.at.Before(oldest):
			for _, rate := range counting {
				if rate.Currency == r.asset {
					found = append(found, entryRate{r.entry, rate})
				}
			}
		}
	}
	if err := tx.insert(ctx, found); err != nil {
		return err
	}
	found = nil
	for _, r := range reversals {
		for _, name := range ledger.Reverses(r.kind, r.ref) {
			of, err := entryRateColumns.rows(ctx, tx.Tx, "read the rates of what is reversed", `FROM entries e
				JOIN entry_rates r ON r.entry = e.number WHERE e.kind = $1 AND e.ref = $2 AND r.asset = $3`,
				string(name.Kind), string(name.Ref), string(r.asset))
			if err != nil {
				return err
			}
			for _, rate := range of {
				found = append(found, entryRate{r.entry, rate.PairRate})
			}
		}
	}
	return tx.insert(ctx, found)
}

func (tx EntryRates) insert(ctx context.Context, list []entryRate) error {
	if len(list) == 0 {
		return nil
	}
	in := insertion{what: "note rates of entries", table: "entry_rates", rows: len(list)}
	for _, r := range list {
		in.add(values{
			{"entry", r.entry},
			{"asset", string(r.Currency)},
			{"unit", string(r.Unit)},
			{"rate", r.Rate.String()},
			{"source", r.Source},
			{"at", micros(r.At)},
		})
	}
	return tx.insertRows(ctx, in)
}

// EntryAsset is a currency in an entry.
type EntryAsset struct {
	Entry int64
	Asset bursar.CurrencyCode
}

// Of returns what the currencies in some entries were worth in a fiat currency when they were posted. What is not known
// is not there.
func (tx EntryRates) Of(ctx context.Context, unit bursar.CurrencyCode,
	entries []int64) (map[EntryAsset]bursar.PairRate, error) {
	found := map[EntryAsset]bursar.PairRate{}
	for part := range parts(tx.Tx, entries) {
		those, args := among(tx.Tx, "r.entry", part, string(unit))
		list, err := entryRateColumns.rows(ctx, tx.Tx, "read the rates of entries",
			`FROM entry_rates r WHERE r.unit = $1 AND `+those, args...)
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			found[EntryAsset{r.entry, r.Currency}] = r.PairRate
		}
	}
	return found, nil
}

// Waiting reports whether entries of the books wait to be given their rates.
func (tx EntryRates) Waiting(ctx context.Context) (bool, error) {
	head, err := tx.Links().Head(ctx)
	if err != nil {
		return false, err
	}
	read, err := one(ctx, tx.Tx, "read up to where rates of entries are noted", scanOne[int64],
		`SELECT link FROM entry_rates_read WHERE name = 'books'`)
	if errors.Is(err, ErrNotFound) {
		return true, nil
	}
	return head.Number > read, err
}
