package store

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// Contents are what a copy of a database holds, as far as it distinguishes one copy from another.
type Contents struct {
	Schema   int64  // the last migration that it has had
	Seed     string // the fingerprint of the seed that its keys come from
	Network  string
	Instance string // the database's own name, empty where it was never named
	Restored string // when it was restored itself, as Settings.Restored

	Accounts, Wallets, Deposits, Withdrawals, Entries int64

	Acts     int64  // the number of the newest row of the log of acts
	ActsHead string // its hash in hexadecimal; empty where there is none

	LastEntry time.Time // when the newest entry was posted; zero where there is none
	Heights   map[bursar.ChainID]int64
}

// Errors of CheckHealth.
var (
	// ErrDamaged is returned for a database whose pages, references or books are not whole.
	ErrDamaged = errors.New("the database is damaged")
	// ErrNotBursar is returned for what is no database of this service.
	ErrNotBursar = errors.New("this is no database of Bursar")
	// ErrNewer is returned for a database that a later version of the service has written.
	ErrNewer = errors.New("a newer version of Bursar has written this database")
)

// CheckHealth reads the whole database and returns what it holds: on SQLite every page and reference is checked, on
// both the books are drawn up again from the postings and held against the balances. It works on every schema up to
// today's, in one consistent state. Errors: ErrDamaged, ErrNotBursar, ErrNewer.
func (db *DB) CheckHealth(ctx context.Context) (c Contents, err error) {
	if !db.postgres {
		if err := db.checkPages(ctx); err != nil {
			return c, err
		}
	}
	err = db.View(ctx, func(tx *Tx) error {
		if c, err = tx.contents(ctx); err != nil {
			return err
		}
		return tx.checkBooks(ctx, c.Schema)
	})
	return c, err
}

// checkPages has SQLite look at all it holds. integrity_check does not look at foreign keys (SQLite, pragma.html).
func (db *DB) checkPages(ctx context.Context) error {
	var first string
	if err := db.read.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&first); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if first != "ok" {
		return fmt.Errorf("%w: %s", ErrDamaged, first)
	}
	var broken int
	var table string
	err := db.read.QueryRowContext(ctx, `SELECT count(*), COALESCE(min("table"), '')
		FROM pragma_foreign_key_check`).Scan(&broken, &table)
	if err != nil {
		return fmt.Errorf("check references: %w", err)
	}
	if broken > 0 {
		return fmt.Errorf("%w: %d rows refer to others that are not there, the first in %s", ErrDamaged, broken, table)
	}
	return nil
}

func (tx *Tx) contents(ctx context.Context) (c Contents, err error) {
	// Databases of others have no such tables.
	if err := tx.row(ctx, "read the schema's version",
		`SELECT COALESCE(max(version_id), 0) FROM goose_db_version`, nil, &c.Schema); err != nil {
		return c, fmt.Errorf("%w: %w", ErrNotBursar, err)
	}
	known, err := newestMigration()
	switch {
	case err != nil:
		return c, err
	case c.Schema > known:
		return c, fmt.Errorf("%w: its schema is %d, this version's %d", ErrNewer, c.Schema, known)
	case c.Schema == 0:
		return c, ErrNotBursar
	}
	for name, to := range map[string]*string{
		"seed":          &c.Seed,
		"network":       &c.Network,
		settingInstance: &c.Instance,
		settingRestored: &c.Restored,
	} {
		if *to, err = tx.Settings().Get(ctx, name); err != nil {
			return c, err
		}
	}
	var last int64
	err = tx.row(ctx, "count what there is",
		`SELECT (SELECT count(*) FROM accounts), (SELECT count(*) FROM wallets), (SELECT count(*) FROM deposits),
		(SELECT count(*) FROM withdrawals), (SELECT count(*) FROM entries),
		COALESCE((SELECT at FROM entries ORDER BY number DESC LIMIT 1), 0)`, nil,
		&c.Accounts, &c.Wallets, &c.Deposits, &c.Withdrawals, &c.Entries, &last)
	if err != nil {
		return c, err
	}
	if last != 0 {
		c.LastEntry = time.UnixMicro(last).UTC()
	}
	if c.Schema >= withActs {
		last, err := tx.Acts().Head(ctx)
		if err != nil {
			return c, err
		}
		if c.Acts = last.Number; c.Acts > 0 {
			c.ActsHead = hex.EncodeToString(last.Hash[:])
		}
	}
	c.Heights, err = tx.heights(ctx)
	return c, err
}

// withActs is the migration that made the log of acts. A backup may be older.
const withActs = 58

// withCheckpoints is the migration that made checkpoints. A backup may be older.
const withCheckpoints = 29

// checkBooks adds every posting up and holds the sums against the balances, then the balances of each asset against
// each other.
func (tx *Tx) checkBooks(ctx context.Context, schema int64) error {
	var newest Checkpoint
	sums := map[ledger.Key]ledger.Balance{}
	if schema >= withCheckpoints {
		var err error
		if newest, err = tx.Checkpoints().Newest(ctx); err != nil {
			return err
		}
		if sums, err = tx.archivedBalances(ctx, newest); err != nil {
			return err
		}
	}
	_, err := rows(ctx, tx, "read all postings", func(s scanner) (none struct{}, err error) {
		var p ledger.Posting
		if err := s.Scan(&p.Debit, &p.Credit, &p.Asset, &p.Amount); err != nil {
			return none, err
		}
		debit, credit := ledger.Key{Account: p.Debit, Asset: p.Asset}, ledger.Key{Account: p.Credit, Asset: p.Asset}
		d := sums[debit]
		d.Debits, err = d.Debits.Add(p.Amount)
		sums[debit] = d
		c := sums[credit]
		more, failed := c.Credits.Add(p.Amount)
		c.Credits = more
		sums[credit] = c
		return none, cmp.Or(err, failed)
	}, `SELECT debit, credit, asset, amount FROM postings`)
	if err != nil {
		return err
	}
	err = tx.Ledger().EachBalance(ctx, func(k ledger.Key, b ledger.Balance) error {
		if sum := sums[k]; sum.Debits != b.Debits || sum.Credits != b.Credits {
			return fmt.Errorf("%w: the postings of %s in %s come to %s debits and %s credits, "+
				"its balance says %s and %s (smallest units)",
				ErrDamaged, k.Account, k.Asset, sum.Debits, sum.Credits, b.Debits, b.Credits)
		}
		delete(sums, k)
		return nil
	})
	if err != nil {
		return err
	}
	for k, sum := range sums {
		if sum.Debits != (bursar.Amount{}) || sum.Credits != (bursar.Amount{}) {
			return fmt.Errorf("%w: %s has postings in %s and no balance", ErrDamaged, k.Account, k.Asset)
		}
	}
	return tx.checkEntries(ctx, newest)
}

// archivedBalances returns the sums of what is in archives, from which the postings in the database go on.
func (tx *Tx) archivedBalances(ctx context.Context, newest Checkpoint) (map[ledger.Key]ledger.Balance, error) {
	sums := map[ledger.Key]ledger.Balance{}
	hold, err := tx.Checkpoints().EachSum(ctx, newest, func(k ledger.Key, p Posted) { sums[k] = p.Balance })
	if err != nil {
		return nil, err
	}
	if !hold && (newest.Link == 0 || newest.writer() == tx.seal.id) { // no other key verifies it
		return nil, fmt.Errorf("%w: the sums of the archived postings are not those of the checkpoint at link %d", ErrDamaged,
			newest.Link)
	}
	return sums, nil
}

// checkEntries looks for entries without a posting: every one is written with at least one, which stays until it is
// archived, and for archived ones that have some.
func (tx *Tx) checkEntries(ctx context.Context, newest Checkpoint) error {
	var bare, back int64
	err := tx.row(ctx, "look for bare entries", `SELECT count(*) FROM entries e LEFT JOIN seals s ON s.entry = e.number
		WHERE NOT EXISTS (SELECT 1 FROM postings p WHERE p.entry = e.number)
		AND (s.link IS NULL OR s.link = 0 OR s.link > $1)`, []any{newest.Link}, &bare)
	if err == nil && bare > 0 {
		err = fmt.Errorf("%w: %d entries of the books have no posting", ErrDamaged, bare)
	}
	if err != nil || newest.Link == 0 {
		return err
	}
	err = tx.row(ctx, "look for archived postings", `SELECT count(*) FROM postings p JOIN seals s ON s.entry = p.entry
		WHERE s.link > 0 AND s.link <= $1`, []any{newest.Link}, &back)
	if err == nil && back > 0 {
		err = fmt.Errorf("%w: %d postings are in the database and in an archive", ErrDamaged, back)
	}
	return err
}

// newestMigration is the number of the last migration of this version.
func newestMigration() (newest int64, err error) {
	files, err := fs.ReadDir(migrations, "migrations")
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		number, _, _ := strings.Cut(file.Name(), "_")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("migration %s: %w", file.Name(), err)
		}
		newest = max(newest, n)
	}
	return newest, nil
}
