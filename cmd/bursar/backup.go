package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/backup"
)

type backupCommand struct {
	File   string `arg:"" help:"The file to write, which must not exist; with --check the one to look at."`
	Check  bool   `help:"Write nothing: read a backup, compare it with the sum beside it and check all that it holds."`
	Verify bool   `help:"With PostgreSQL: load the dump into a database of its own on the same server, check what it holds, and drop it."`
	JSON   bool   `name:"json" help:"Print a JSON object."`
}

// Help returns an example.
func (backupCommand) Help() string {
	return "Works while the service runs and holds nothing up. A SQLite file is copied as of one moment and checked: " +
		"pages, references, and the\n" +
		"books against their postings. PostgreSQL is dumped by pg_dump as of one snapshot. A file with the SHA-256 is " +
		"written beside it.\n\n" +
		"The database is not all: keep the seed and its passphrase, the file of marks and the configuration elsewhere " +
		"too.\n\n" +
		"Example:\n\n    bursar backup /var/backups/bursar-20260131.db\n    bursar backup --check " +
		"/var/backups/bursar-20260131.db"
}

type backedUp struct {
	File     string                   `json:"file"`
	Size     int64                    `json:"size"`
	SHA256   string                   `json:"sha256"`
	Summed   bool                     `json:"sumCompared"`
	Checked  bool                     `json:"checked"`
	Schema   int64                    `json:"schema,omitempty"`
	Network  string                   `json:"network,omitempty"`
	Instance string                   `json:"instance,omitempty"`
	Accounts int64                    `json:"accounts"`
	Wallets  int64                    `json:"wallets"`
	Deposits int64                    `json:"deposits"`
	Orders   int64                    `json:"withdrawals"`
	Entries  int64                    `json:"entries"`
	Last     *time.Time               `json:"lastEntryAt"`
	Heights  map[bursar.ChainID]int64 `json:"heights"`
	Database string                   `json:"database,omitempty"`
	Aside    string                   `json:"replaced,omitempty"`
}

// Run copies the database, or looks at a copy.
func (cmd *backupCommand) Run(ctx context.Context, c *call) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	do := backup.Save
	if cmd.Check {
		do = backup.Check
	}
	copied, err := do(ctx, cfg.Database.Reveal(), cmd.File, cmd.Verify)
	if errors.Is(err, backup.ErrExists) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	if cmd.JSON {
		return c.printJSON(inJSON(copied))
	}
	return c.pairs(describe(copied)...)
}

func inJSON(copied backup.Copy) backedUp {
	k := copied.Contents
	return backedUp{
		File:     copied.File,
		Size:     copied.Size,
		SHA256:   copied.SHA256,
		Summed:   copied.Summed,
		Checked:  copied.Checked,
		Schema:   k.Schema,
		Network:  k.Network,
		Instance: k.Instance,
		Accounts: k.Accounts,
		Wallets:  k.Wallets,
		Deposits: k.Deposits,
		Orders:   k.Withdrawals,
		Entries:  k.Entries,
		Last:     optional(k.LastEntry),
		Heights:  k.Heights,
	}
}

// describe is what a person wants to see of a copy.
func describe(copied backup.Copy) []string {
	pairs := []string{"file", copied.File, "size", size(uint64(copied.Size)), "sha256", copied.SHA256}
	if copied.Summed {
		pairs = append(pairs, "sum", "as the file beside it says")
	}
	if !copied.Checked {
		return append(pairs, "checked", "only that pg_restore can read it; --verify loads and checks it whole")
	}
	k := copied.Contents
	newest := moment(k.LastEntry)
	if newest == "" {
		newest = "none"
	}
	var heights []string
	for _, chain := range slices.Sorted(maps.Keys(k.Heights)) {
		heights = append(heights, fmt.Sprintf("%s %d", chain, k.Heights[chain]))
	}
	pairs = append(pairs, "checked", "pages, references and books are whole", "schema", fmt.Sprint(k.Schema), "network",
		k.Network,
		"holds", fmt.Sprintf("%d accounts, %d wallets, %d deposits, %d withdrawals, %d entries", k.Accounts, k.Wallets,
			k.Deposits, k.Withdrawals, k.Entries),
		"newest entry", newest)
	if len(heights) > 0 {
		pairs = append(pairs, "followed to", strings.Join(heights, ", "))
	}
	return pairs
}

type restoreCommand struct {
	File string `arg:"" help:"The backup."`
	JSON bool   `name:"json" help:"Print a JSON object."`
}

// Help returns an example.
func (restoreCommand) Help() string {
	return "Stop the service first. The backup is checked whole before anything is touched; a SQLite database that is " +
		"there is kept beside it\n" +
		"under another name; a PostgreSQL database must be empty. The service then starts in the recovering state: it " +
		"follows the chains to\n" +
		"their tips and adopts what it did after the backup before it signs anything. Never restore the seed or the file " +
		"of marks with it.\n\n" +
		"Example:\n\n    bursar restore /var/backups/bursar-20260131.db"
}

// Run puts a backup in the database's place.
func (cmd *restoreCommand) Run(ctx context.Context, c *call) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	restored, err := backup.Restore(ctx, cfg.Database.Reveal(), cmd.File, time.Now())
	if err != nil {
		return err
	}
	if cmd.JSON {
		answer := inJSON(restored.Copy)
		answer.Database, answer.Aside = restored.Database, restored.Aside
		return c.printJSON(answer)
	}
	pairs := describe(restored.Copy)
	if restored.Database != "" {
		pairs = append(pairs, "restored to", restored.Database)
	}
	if restored.Aside != "" {
		pairs = append(pairs, "was there", restored.Aside)
	}
	if err := c.pairs(pairs...); err != nil {
		return err
	}
	return c.say("\n%s", afterRestore)
}

const afterRestore = `The database is marked as restored. Next:
  1. Leave the seed file and the file of marks as they are now: older ones would give addresses out twice.
  2. Start the service. It follows every chain to its tip and adopts what it did after the backup; until then it signs nothing.
  3. Look at what waits for you: bursar recovery status, bursar alarm list, bursar reconcile.`
