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
	File   string `arg:"" help:"File to write, which must not exist; with --check the file to check."`
	Check  bool   `help:"Write nothing: read a backup, compare it with the checksum beside it and check its whole content."`
	Verify bool   `help:"With PostgreSQL: load the dump into a temporary database on the same server, check its content, and drop it."`
	JSON   bool   `name:"json" help:"Print a JSON object."`
}

// Help returns an example.
func (backupCommand) Help() string {
	return "Runs beside the service without blocking it. A SQLite file is copied as of one moment and checked: pages, " +
		"references, and the\nbooks against their postings. PostgreSQL is dumped by pg_dump as of one snapshot. A file " +
		"with its SHA-256 is written beside it.\n\nA backup of the database is not enough: keep the seed and its " +
		"passphrase, the file of marks and the configuration elsewhere too.\n\nExample:\n\n    bursar backup " +
		"/var/backups/bursar-20260131.db\n    bursar backup --check /var/backups/bursar-20260131.db"
}

type backedUp struct {
	File        string                   `json:"file"`
	Size        int64                    `json:"size"`
	SHA256      string                   `json:"sha256"`
	Summed      bool                     `json:"sumCompared"`
	Checked     bool                     `json:"checked"`
	Schema      int64                    `json:"schema,omitempty"`
	Network     string                   `json:"network,omitempty"`
	Instance    string                   `json:"instance,omitempty"`
	Accounts    int64                    `json:"accounts"`
	Wallets     int64                    `json:"wallets"`
	Deposits    int64                    `json:"deposits"`
	Withdrawals int64                    `json:"withdrawals"`
	Entries     int64                    `json:"entries"`
	Last        *time.Time               `json:"lastEntryAt"`
	Acts        int64                    `json:"acts"`
	ActsHead    string                   `json:"actsHead,omitempty"`
	Heights     map[bursar.ChainID]int64 `json:"heights"`
	Database    string                   `json:"database,omitempty"`
	Previous    string                   `json:"replaced,omitempty"`
}

// Run copies the database, or checks a copy.
func (cmd *backupCommand) Run(ctx context.Context, c *call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	do := backup.Save
	if cmd.Check {
		do = backup.Check
	}
	copied, err := do(ctx, cfg.Database.Reveal(), cmd.File, cmd.Verify)
	if errors.Is(err, backup.ErrExists) {
		return mistaken(err)
	}
	if err != nil {
		return err
	}
	if cmd.JSON {
		return c.PrintJSON(inJSON(copied))
	}
	return c.pairs(describe(copied)...)
}

func inJSON(copied backup.Copy) backedUp {
	k := copied.Contents
	return backedUp{
		File:        copied.File,
		Size:        copied.Size,
		SHA256:      copied.SHA256,
		Summed:      copied.Summed,
		Checked:     copied.Checked,
		Schema:      k.Schema,
		Network:     k.Network,
		Instance:    k.Instance,
		Accounts:    k.Accounts,
		Wallets:     k.Wallets,
		Deposits:    k.Deposits,
		Withdrawals: k.Withdrawals,
		Entries:     k.Entries,
		Last:        optional(k.LastEntry),
		Acts:        k.Acts,
		ActsHead:    k.ActsHead,
		Heights:     k.Heights,
	}
}

// describe returns the names and values that describe a copy to an operator.
func describe(copied backup.Copy) []string {
	pairs := []string{"file", copied.File, "size", size(uint64(copied.Size)), "sha256", copied.SHA256}
	if copied.Summed {
		pairs = append(pairs, "sum", "matches the file beside it")
	}
	if !copied.Checked {
		return append(pairs, "checked", "only that pg_restore can read it; --verify loads it and checks all of it")
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
	pairs = append(pairs, "checked", "pages, references and books are intact", "schema", fmt.Sprint(k.Schema), "network",
		k.Network,
		"holds", fmt.Sprintf("%d accounts, %d wallets, %d deposits, %d withdrawals, %d entries", k.Accounts, k.Wallets,
			k.Deposits, k.Withdrawals, k.Entries),
		"newest entry", newest)
	if k.Acts > 0 {
		pairs = append(pairs, "acts", fmt.Sprintf("%d, the last has the hash %s", k.Acts, k.ActsHead))
	}
	if len(heights) > 0 {
		pairs = append(pairs, "followed to", strings.Join(heights, ", "))
	}
	return pairs
}

type restoreCommand struct {
	File string `arg:"" help:"Backup file to restore."`
	confirmed
}

// Help returns an example.
func (restoreCommand) Help() string {
	return "Stop the service first. All of the backup is checked before anything is changed; an existing SQLite " +
		"database is kept beside it\nunder another name; a PostgreSQL database must be empty. The service then starts in " +
		"the recovering state: it follows the chains to\ntheir tips and adopts what it did after the backup before it " +
		"signs anything. Never restore the seed or the file of marks with it.\n\nExample:\n\n    bursar restore " +
		"/var/backups/bursar-20260131.db"
}

// Run replaces the database with a backup.
func (cmd *restoreCommand) Run(ctx context.Context, c *call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	restored, err := backup.Restore(ctx, cfg.Database.Reveal(), cmd.File, time.Now())
	if err != nil {
		return err
	}
	if cmd.JSON {
		answer := inJSON(restored.Copy)
		answer.Database, answer.Previous = restored.Database, restored.Previous
		return c.PrintJSON(answer)
	}
	pairs := describe(restored.Copy)
	if restored.Database != "" {
		pairs = append(pairs, "restored to", restored.Database)
	}
	if restored.Previous != "" {
		pairs = append(pairs, "previous database", restored.Previous)
	}
	if err := c.pairs(pairs...); err != nil {
		return err
	}
	return c.Say("\n%s", afterRestore)
}

const afterRestore = `The database is marked as restored. Next:
  1. Leave the seed file and the file of marks as they are now: older ones would issue addresses twice.
  2. Start the service. It follows every chain to its tip and adopts what it did after the backup; only then it signs.
  3. See what needs you: bursar recovery status, bursar alarm list, bursar reconcile.`
