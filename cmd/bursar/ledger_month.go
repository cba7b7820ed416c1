package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

type ledgerMonthCommand struct {
	Month   string   `arg:"" help:"The month in UTC, such as 2026-01."`
	Into    string   `required:"" placeholder:"DIR" help:"The folder that the files are written into; those of the same names are replaced."`
	Value   string   `placeholder:"CODE" help:"Add values in this fiat currency, and write each statement by ISO 20022 (camt.053) too."`
	Archive []string `placeholder:"FILE" help:"An archive of the books that has older entries; name all of them, each with a flag of its own."`
}

// Help returns an example.
func (ledgerMonthCommand) Help() string {
	return "Writes for each account, beside its opening and closing balances, every change of the month: " +
		"<account>.csv, as bursar ledger export does, and with --value <account>.camt.053.xml. Nothing is replaced unless " +
		"all files could be written.\n\nExample:\n\n    bursar ledger month 2026-01 --into january --value EUR"
}

// monthFormat is how a month is written.
const monthFormat = "2006-01"

// Run writes the files.
func (cmd *ledgerMonthCommand) Run(ctx context.Context, c *call) error {
	since, err := time.Parse(monthFormat, cmd.Month)
	if err != nil {
		return wrong("%q is not a month such as 2026-01", cmd.Month)
	}
	base := export{files: cmd.Archive, since: since, until: since.AddDate(0, 1, 0)}
	if err := base.valuedIn(cmd.Value); err != nil {
		return err
	}
	closed, err := base.open(ctx, c)
	if err != nil {
		return err
	}
	defer closed()
	if base.db.Now().Sub(base.until) < settled {
		return wrong("the month %s has not ended for a minute yet", cmd.Month)
	}
	var accounts []bursar.Account
	err = base.db.View(ctx, func(tx *store.Tx) (err error) {
		accounts, err = tx.Accounts().All(ctx)
		return err
	})
	if err != nil {
		return err
	}
	files := &monthFiles{folder: cmd.Into}
	defer files.drop()
	for _, a := range accounts {
		if err := files.of(ctx, base, a.ID); err != nil {
			return fmt.Errorf("the statement of %s: %w", a.ID, err)
		}
	}
	if err := files.replace(); err != nil {
		return err
	}
	c.Note("Wrote %d files. Accounts: %d.", len(files.written), len(accounts))
	return nil
}

// monthFiles are the files of a month, written beside their names until all are.
type monthFiles struct {
	folder  string
	written []string // their names
	done    bool
}

// unfinished is what the name of a file has behind it until all are written.
const unfinished = ".part"

// of writes the files of one account.
func (f *monthFiles) of(ctx context.Context, base export, account bursar.ID) error {
	x := base
	x.owner = account
	err := f.write(account.String()+".csv", func(to *os.File) error {
		x.rows = newRowWriter(to, false)
		if err := x.statement(ctx); err != nil {
			return err
		}
		return x.rows.end()
	})
	if err != nil || x.value.Code == "" {
		return err
	}
	x = base
	x.owner = account
	return f.write(account.String()+".camt.053.xml", func(to *os.File) error { return x.camt(ctx, to) })
}

// write creates one file, which only its owner can read.
func (f *monthFiles) write(name string, content func(to *os.File) error) error {
	if err := os.MkdirAll(f.folder, 0o700); err != nil {
		return err
	}
	to, err := os.OpenFile(filepath.Join(f.folder, name+unfinished), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	f.written = append(f.written, name)
	return errors.Join(content(to), to.Sync(), to.Close())
}

// replace gives the files their names.
func (f *monthFiles) replace() error {
	for _, name := range f.written {
		path := filepath.Join(f.folder, name)
		if err := os.Rename(path+unfinished, path); err != nil {
			return err
		}
	}
	f.done = true
	return nil
}

// drop removes what was not finished.
func (f *monthFiles) drop() {
	for _, name := range f.written {
		if !f.done {
			_ = os.Remove(filepath.Join(f.folder, name+unfinished)) // it may have its name already
		}
	}
}
