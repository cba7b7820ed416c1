package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar/archive"
)

type archivedBooks struct {
	File      string     `json:"file"`
	FirstLink int64      `json:"firstLink"`
	LastLink  int64      `json:"lastLink"`
	Entries   int64      `json:"entries"`
	First     *time.Time `json:"firstLinkAt"`
	Last      *time.Time `json:"lastLinkAt"`
	SHA256    string     `json:"sha256"`
	Stopped   string     `json:"stopped"`
	Removed   int64      `json:"removed"`
}

// books writes, checks or removes postings of the books.
func (cmd *archiveCommand) books(ctx context.Context, c *call) error {
	if cmd.Check {
		books, err := archive.CheckBooks(cmd.File)
		if err != nil {
			return err
		}
		return cmd.printBooks(c, books, 0)
	}
	books, removed, err := cmd.moveBooks(ctx, c)
	if errors.Is(err, archive.ErrExists) || errors.Is(err, archive.ErrTooYoung) {
		return mistaken(err)
	}
	if err != nil {
		return err
	}
	return cmd.printBooks(c, books, removed)
}

// moveBooks writes the file if it is asked to, and removes what it holds unless that is not wanted.
func (cmd *archiveCommand) moveBooks(ctx context.Context, c *call) (books archive.Books, removed int64, err error) {
	var before time.Time
	if cmd.Before != "" {
		if before, err = time.Parse(time.RFC3339, cmd.Before); err != nil {
			return books, 0, wrong("--before %q is not a time such as 2026-01-01T00:00:00Z", cmd.Before)
		}
	}
	s, err := c.service(ctx)
	if err != nil {
		return books, 0, err
	}
	defer s.Close()
	db := s.Auditor.DB
	if err := s.Auditor.CatchUp(ctx); err != nil { // only what is audited is archived
		return books, 0, err
	}
	if cmd.Remove {
		books, err = archive.CheckBooks(cmd.File)
	} else {
		books, err = archive.WriteBooks(ctx, db, cmd.File, before)
	}
	if err != nil || cmd.Keep {
		return books, 0, err
	}
	removed, err = archive.RemoveBooks(ctx, db, cmd.File)
	return books, removed, err
}

func (cmd *archiveCommand) printBooks(c *call, b archive.Books, removed int64) error {
	if cmd.JSON {
		return c.PrintJSON(archivedBooks{b.File, b.First, b.Last, b.Entries, optional(b.From), optional(b.To), b.SHA256,
			b.Stopped, removed})
	}
	return c.pairs("file", b.File, "first link", fmt.Sprint(b.First), "last link", fmt.Sprint(b.Last), "entries",
		fmt.Sprint(b.Entries), "oldest", moment(b.From), "newest", moment(b.To), "sha256", b.SHA256, "stopped", b.Stopped,
		"removed", fmt.Sprint(removed))
}
