package main

import (
	"context"
	"time"

	"github.com/bursar/bursar/store"
)

type haltStatusCommand struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

type listedHalt struct {
	Scope  string    `json:"scope"` // all, chain:<chain>, currency:<code>, account:<id>
	Kind   string    `json:"kind"`
	Ref    string    `json:"ref"` // distinguishes several of one scope and kind
	Reason string    `json:"reason"`
	Actor  *string   `json:"actor"`
	Since  time.Time `json:"since"`
	EndBy  string    `json:"endBy"`
}

// Help returns an example.
func (haltStatusCommand) Help() string { return "Example:\n\n    bursar halt status --json" }

// Run lists what is halted, oldest first.
func (cmd *haltStatusCommand) Run(ctx context.Context, c *call) error {
	db, _, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	var halts []store.Halt
	err = db.View(ctx, func(tx *store.Tx) error {
		halts, err = tx.Halts().List(ctx)
		return err
	})
	if err != nil {
		return err
	}
	listed := make([]listedHalt, len(halts))
	for i, h := range halts {
		listed[i] = listedHalt{string(h.Scope), string(h.Kind), h.Ref, h.Reason, optional(h.Actor), h.At, h.Remedy()}
	}
	return list(c, cmd.JSON, listed, "SINCE SCOPE KIND REF BY REASON END", func(l listedHalt) []any {
		return []any{l.Since, l.Scope, l.Kind, word(optional(l.Ref)), word(l.Actor), l.Reason, l.EndBy}
	})
}

type haltLogCommand struct {
	Limit int  `default:"100" help:"Maximum number of entries."`
	JSON  bool `name:"json" help:"Print a JSON array."`
}

type listedHaltEvent struct {
	At     time.Time `json:"at"`
	What   string    `json:"what"` // halted, resumed
	Scope  string    `json:"scope"`
	Kind   string    `json:"kind"`
	Reason string    `json:"reason"`
	Actor  *string   `json:"actor"`
}

// Help returns an example.
func (haltLogCommand) Help() string { return "Example:\n\n    bursar halt log --limit 20" }

// Run lists halts and resumptions, newest first.
func (cmd *haltLogCommand) Run(ctx context.Context, c *call) error {
	if cmd.Limit < 1 {
		return wrong("--limit %d must be at least 1", cmd.Limit)
	}
	db, _, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	var events []store.HaltEvent
	err = db.View(ctx, func(tx *store.Tx) error {
		events, err = tx.Halts().Events(ctx, cmd.Limit)
		return err
	})
	if err != nil {
		return err
	}
	listed := make([]listedHaltEvent, len(events))
	for i, e := range events {
		what := "halted"
		if e.Resumed {
			what = "resumed"
		}
		listed[i] = listedHaltEvent{e.At, what, string(e.Scope), string(e.Kind), e.Reason, optional(e.Actor)}
	}
	return list(c, cmd.JSON, listed, "AT WHAT SCOPE KIND BY REASON", func(l listedHaltEvent) []any {
		return []any{l.At, l.What, l.Scope, l.Kind, word(l.Actor), l.Reason}
	})
}
