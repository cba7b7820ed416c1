package store

import (
	"context"
	"strings"

	"github.com/bursar/bursar"
)

// The counters that are compared with the marks outside the database. Each is raised here first and there afterwards.
const (
	counterBeat     = "marks:beat"
	counterSigned   = "marks:signed:"   // and the chain
	counterReserved = "marks:reserved:" // and the family
	counterFamily   = "family:"         // and the family: the next key index
)

// Marks is what the database says of itself, to be compared with what is kept outside it.
type Marks struct {
	Identity Identity
	Beat     int64
	Signed   map[string]int64 // by chain
	Reserved map[string]int64 // by family: below it, indexes may have been given out
	Next     map[string]int64 // by family: the next key index
	Kept     bool             // marks were kept for this database before
	Restored string           // when it was restored, until that has been dealt with
	Keepers  []string         // the names of all marks that were used with it
}

// Read reads what the database says of itself.
func (tx Counters) Read(ctx context.Context) (m Marks, err error) {
	if m.Identity, err = tx.Settings().Identity(ctx); err != nil {
		return m, err
	}
	kept, err := tx.Settings().Get(ctx, settingMarks)
	if err != nil {
		return m, err
	}
	m.Kept = kept != ""
	if m.Restored, err = tx.Settings().Restored(ctx); err != nil {
		return m, err
	}
	if m.Keepers, err = tx.keepers(ctx); err != nil {
		return m, err
	}
	m.Signed, m.Reserved, m.Next = map[string]int64{}, map[string]int64{}, map[string]int64{}
	type counter struct {
		name string
		next int64
	}
	found, err := rows(ctx, tx.Tx, "read counters", func(s scanner) (c counter, err error) {
		return c, s.Scan(&c.name, &c.next)
	}, `SELECT name, next FROM counters WHERE name LIKE 'marks:%' OR name LIKE 'family:%'`)
	for _, c := range found {
		if name, is := strings.CutPrefix(c.name, counterSigned); is {
			m.Signed[name] = c.next
		} else if name, is := strings.CutPrefix(c.name, counterReserved); is {
			m.Reserved[name] = c.next
		} else if name, is := strings.CutPrefix(c.name, counterFamily); is {
			m.Next[name] = c.next
		} else if c.name == counterBeat {
			m.Beat = c.next
		}
	}
	return m, err
}

// settingMarks says that marks are kept for the database.
const settingMarks = "marks"

// Keep notes that marks are kept for the database from now on: it does not start without them any more.
func (tx Counters) Keep(ctx context.Context) error {
	return tx.Settings().Pin(ctx, settingMarks, "kept")
}

// CountBeat counts one look at the database.
func (tx Counters) CountBeat(ctx context.Context) (int64, error) {
	n, err := tx.take(ctx, counterBeat, 1)
	return n + 1, err
}

// CountSigned takes the number of the next transaction that is signed on a chain.
func (tx Counters) CountSigned(ctx context.Context, chain bursar.ChainID) (int64, error) {
	n, err := tx.take(ctx, counterSigned+string(chain), 1)
	return n + 1, err
}

// RaiseBeat, RaiseSigned, RaiseReserved and KeyIndexes.Skip raise a counter to at least a number; one that is higher
// stays.
func (tx Counters) RaiseBeat(ctx context.Context, to int64) error {
	return tx.raise(ctx, counterBeat, to)
}

// RaiseSigned is described at RaiseBeat.
func (tx Counters) RaiseSigned(ctx context.Context, chain bursar.ChainID, to int64) error {
	return tx.raise(ctx, counterSigned+string(chain), to)
}

// RaiseReserved is described at RaiseBeat.
func (tx Counters) RaiseReserved(ctx context.Context, family bursar.Family, to int64) error {
	return tx.raise(ctx, counterReserved+string(family), to)
}

// Skip is described at RaiseBeat: no key index of a family below to is given out any more.
func (tx KeyIndexes) Skip(ctx context.Context, family bursar.Family, to int64) error {
	return tx.raise(ctx, counterFamily+string(family), to)
}

func (tx *Tx) raise(ctx context.Context, name string, to int64) error {
	_, err := tx.exec(ctx, "raise counter", `INSERT INTO counters(name, next) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET
		next = CASE WHEN excluded.next > counters.next THEN excluded.next ELSE counters.next END`, name, to)
	return err
}
