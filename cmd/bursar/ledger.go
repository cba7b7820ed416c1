package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

type ledgerCommands struct {
	Export ledgerExportCommand `cmd:"" help:"Export the books of a period for the accountant."`
	Month  ledgerMonthCommand  `cmd:"" help:"Write the statement of every account for a month into a folder."`
	Verify ledgerVerifyCommand `cmd:"" help:"Verify every link of the books, every entry and every balance."`
}

type ledgerExportCommand struct {
	Account bursar.ID `xor:"whose" type:"account" placeholder:"ACCOUNT" help:"Export the statement of this account, with running balances."`
	All     bool      `xor:"whose" help:"Export the whole journal: every posting with the accounts that it debits and credits."`
	Since   string    `aliases:"from" placeholder:"TIME" help:"Start of the period, such as 2026-01-01 (UTC) or 2026-01-01T00:00:00+01:00. Default: the first entry."`
	Until   string    `aliases:"to" placeholder:"TIME" help:"End of the period, exclusive. Default: now."`
	Archive []string  `placeholder:"FILE" help:"An archive of the books that has older entries of the account; name all of them, each with a flag of its own."`
	CSV     bool      `name:"csv" xor:"format" help:"Write CSV, which is the default."`
	JSON    bool      `name:"json" xor:"format" help:"Write a JSON array."`
	Format  string    `xor:"format" placeholder:"NAME" help:"csv or json; with --all beancount, hledger or ledger; with --account and --value camt.053 or qbo-csv."`
	Value   string    `aliases:"price" placeholder:"CODE" help:"Add what each amount was worth in this fiat currency when it was posted, such as EUR."`
}

// Help returns an example.
func (ledgerExportCommand) Help() string {
	return "Writes the oldest entries first. The formats beancount, hledger and ledger are those of the programs of " +
		"plain-text accounting, camt.053 is a statement by ISO 20022, and qbo-csv has the transactions as QuickBooks " +
		"imports them. A statement begins with the balances before the period and ends with those " +
		"after it: the closing balances of one period are the opening balances of the next. The columns are explained in " +
		"docs/accounting.md. A value is that of the rate which counted when the entry was posted, and missing where none " +
		"did. Rows are written as they are read, so a period may be of any length.\n" +
		"Entries that were archived are read from the files that --archive names, which takes the seed: the statement is " +
		"the same as before. Without them a period may\n" +
		"begin where the archives end; the journal always does. An export that fails is not whole, whatever it " +
		"wrote.\n\nExample:\n\n" +
		"    bursar ledger export --account 0193a6a0-0000-7000-8000-000000000000 --since 2026-01-01 --until 2026-02-01 > " +
		"january.csv"
}

// settled is the age from which every row that bears a time is certainly committed.
const settled = time.Minute

// linesAtOnce bounds how many lines are held in memory at once.
const linesAtOnce = 1000

// export is one run of the command.
type export struct {
	db       *store.DB
	registry *bursar.Registry
	rows     *rowWriter
	owner    bursar.ID
	value    bursar.Unit // in which values are written; the zero Unit: none are
	since    time.Time
	until    time.Time
	files    []string
	archived []store.Line // the owner's lines in archives, in the order of their numbers
	behind   int64        // the link up to which the books were archived when the export began

	sure time.Time                     // every line that bears an earlier time is committed
	sums map[ledger.Key]ledger.Balance // what archives and the lines read until now that are sure come to
}

// Run writes the books.
func (cmd *ledgerExportCommand) Run(ctx context.Context, c *call) error {
	if cmd.Account.IsZero() && !cmd.All {
		return wrong("no books are named: use --account ACCOUNT, or --all")
	}
	if cmd.All && len(cmd.Archive) > 0 {
		return wrong("--archive is for the statement of an account; the files themselves have the journal, in lines of JSON")
	}
	if cmd.Format == "camt053" {
		cmd.Format = formatCamt
	}
	if err := cmd.formatted(); err != nil {
		return err
	}
	x := &export{owner: cmd.Account, files: cmd.Archive,
		rows: newRowWriter(c.Stdout, cmd.JSON || cmd.Format == formatJSON)}
	if err := cmd.period(x); err != nil {
		return err
	}
	if err := x.valuedIn(cmd.Value); err != nil {
		return err
	}
	closed, err := x.open(ctx, c)
	if err != nil {
		return err
	}
	defer closed()
	if x.until.IsZero() {
		x.until = x.db.Now()
	}
	late := x.db.Now().Sub(x.until) >= settled
	if !late && isFiat(cmd.Format) {
		return wrong("--format %s is for a period that ended more than a minute ago", cmd.Format)
	}
	if !late {
		c.Note("The period ends less than a minute ago: entries that are being booked now may be missing.")
	}
	switch {
	case cmd.Format == formatCamt:
		return unknownAccount(x.camt(ctx, c.Stdout), cmd.Account)
	case cmd.Format == formatQuickBooks:
		return unknownAccount(x.quickBooks(ctx, c), cmd.Account)
	case isPlain(cmd.Format):
		return x.plain(ctx, newPlainWriter(c.Stdout, cmd.Format, x))
	case cmd.All:
		err = x.journal(ctx)
	default:
		err = x.statement(ctx)
	}
	if err != nil {
		return unknownAccount(err, cmd.Account)
	}
	return x.rows.end()
}

// open opens the database: with the books' key where archives are named, which are known by what is noted of them under
// that key. The caller closes it.
func (x *export) open(ctx context.Context, c *call) (closed func(), err error) {
	if len(x.files) > 0 {
		s, err := c.service(ctx)
		if err != nil {
			return nil, err
		}
		x.db, x.registry = s.DB, s.Registry
		return func() { s.Close() }, nil
	}
	db, cfg, err := c.database(ctx)
	if err != nil {
		return nil, err
	}
	x.db, x.registry = db, cfg.Registry
	return func() { db.Close() }, nil
}

// each reads lines oldest first, a batch per transaction, so that a slow reader keeps no transaction open. Entries
// never change, so batches read earlier stay correct; postings may be archived between two batches, which is an error.
func (x *export) each(
	ctx context.Context, q store.LineQuery, f func(ctx context.Context, lines []store.Line) error,
) error {
	archived := inPeriod(x.archived, q)
	for after := int64(0); ; {
		var lines []store.Line
		err := x.db.View(ctx, func(tx *store.Tx) (err error) {
			if err = x.unmoved(ctx, tx); err == nil {
				lines, err = tx.Statements().After(ctx, q, after, linesAtOnce)
			}
			return err
		})
		if err != nil {
			return err
		}
		last := int64(math.MaxInt64)
		if len(lines) == linesAtOnce {
			last = lines[linesAtOnce-1].Number()
		}
		lines, archived = merged(lines, archived, last)
		if err := f(ctx, lines); err != nil || last == math.MaxInt64 {
			return err
		}
		after = last
	}
}

// currency returns the currency of a code that occurs in the books.
func (x *export) currency(code bursar.CurrencyCode) (bursar.Currency, error) {
	currency, err := x.registry.Get(code)
	if err != nil {
		return currency, fmt.Errorf("the books contain %s, which is not configured: add it to the configuration again", code)
	}
	return currency, nil
}

// unarchived refuses a period that begins before the end of what is archived.
func (x *export) unarchived(ctx context.Context) error {
	var newest store.Checkpoint
	err := x.db.View(ctx, func(tx *store.Tx) (err error) {
		newest, err = tx.Checkpoints().Newest(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if x.since.Before(newest.Until) {
		return inArchives(newest.Until)
	}
	x.behind = newest.Link
	return nil
}
