package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar/archive"
)

type archiveCommand struct {
	File   string `arg:"" help:"File to write, which must not exist; with --check or --remove the file to read."`
	Books  bool   `help:"Archive old postings of the books instead of delivered events."`
	Before string `xor:"what" placeholder:"TIME" help:"Archive what was made before this time, such as 2026-01-01T00:00:00Z."`
	Keep   bool   `help:"With --before: write and verify the file, and remove nothing from the database."`
	Check  bool   `xor:"what" help:"Only read an archive from its first byte to its last and verify it."`
	Remove bool   `xor:"what" help:"Remove what an archive holds from the database, after an interruption or --keep."`
	confirmed
}

// Help returns an example.
func (archiveCommand) Help() string {
	return "Runs beside the service without blocking it. It takes webhook events that were delivered, with their " +
		"attempts. The file is\n" +
		"read back and verified before anything is removed; an event that was made due again meanwhile stays.\n\n" +
		"With --books it takes the postings of entries that are older than a week and that nothing depends on any more. " +
		"Balances stay, and\n" +
		"so do the entries' names, so that nothing is booked twice. Statements of that time then need the file: keep it " +
		"like a backup, and\n" +
		"name it with bursar ledger export --archive. It opens the seed, whose key seals what is noted of the " +
		"archive.\n\nExample:\n\n" +
		"    bursar archive /var/archive/bursar-events-2025.gz --before 2026-01-01T00:00:00Z\n" +
		"    bursar archive --check /var/archive/bursar-events-2025.gz\n" +
		"    bursar archive --books /var/archive/bursar-books-2025.gz --before 2026-01-01T00:00:00Z"
}

type archived struct {
	File    string     `json:"file"`
	Before  time.Time  `json:"before"`
	Events  int64      `json:"events"`
	First   *time.Time `json:"firstEventAt"`
	Last    *time.Time `json:"lastEventAt"`
	SHA256  string     `json:"sha256"`
	Removed int64      `json:"removed"`
}

// Run writes, checks or removes.
func (cmd *archiveCommand) Run(ctx context.Context, c *call) error {
	if cmd.Before == "" && !cmd.Check && !cmd.Remove {
		return wrong("nothing is asked for: use --before TIME, --check or --remove")
	}
	if cmd.Keep && cmd.Before == "" {
		return wrong("--keep needs --before")
	}
	if cmd.Books {
		return cmd.books(ctx, c)
	}
	if cmd.Check {
		summary, err := archive.Check(cmd.File)
		if err != nil {
			return err
		}
		return cmd.print(c, summary, 0)
	}
	summary, removed, err := cmd.move(ctx, c)
	if errors.Is(err, archive.ErrExists) {
		return mistaken(err)
	}
	if err != nil {
		return err
	}
	return cmd.print(c, summary, removed)
}

// move writes the file if it is asked to, and removes what it holds unless that is not wanted.
func (cmd *archiveCommand) move(ctx context.Context, c *call) (summary archive.Summary, removed int64, err error) {
	var before time.Time
	if cmd.Before != "" {
		if before, err = time.Parse(time.RFC3339, cmd.Before); err != nil {
			return summary, 0, wrong("--before %q is not a time such as 2026-01-01T00:00:00Z", cmd.Before)
		}
	}
	db, _, err := c.database(ctx)
	if err != nil {
		return summary, 0, err
	}
	defer db.Close()
	if cmd.Remove {
		summary, err = archive.Check(cmd.File)
	} else {
		summary, err = archive.Write(ctx, db, cmd.File, before)
	}
	if err != nil || cmd.Keep {
		return summary, 0, err
	}
	removed, err = archive.Remove(ctx, db, cmd.File)
	return summary, removed, err
}

func (cmd *archiveCommand) print(c *call, s archive.Summary, removed int64) error {
	if cmd.JSON {
		return c.PrintJSON(archived{s.File, s.Before, s.Events, optional(s.First), optional(s.Last), s.SHA256, removed})
	}
	return c.pairs("file", s.File, "before", moment(s.Before), "events", fmt.Sprint(s.Events), "oldest", moment(s.First),
		"newest", moment(s.Last), "sha256", s.SHA256, "removed", fmt.Sprint(removed))
}
