package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/signer/command"
	"github.com/bursar/bursar/store"
)

// verbCommand is the verb of every command that changes something.
const verbCommand = "command"

// didOf returns what the log of acts says of a command: its words, its arguments and its reason. It leaves out the
// values of flags, and arguments that look like URLs: a secret may be in them.
func didOf(parsed *kong.Context) store.Act {
	did := store.Act{Actor: actorHere(), Verb: verbCommand}
	words := []string{}
	for _, p := range parsed.Path {
		switch {
		case p.Command != nil:
			words = append(words, p.Command.Name)
		case p.Positional != nil:
			if text := fmt.Sprint(p.Positional.Target.Interface()); !strings.Contains(text, "://") && len(text) <= 200 {
				words = append(words, text)
			}
		case p.Flag != nil && p.Flag.Name == "reason":
			did.Reason = fmt.Sprint(p.Flag.Target.Interface())
		case p.Flag != nil:
			did.Became = strings.TrimSpace(did.Became + " --" + p.Flag.Name)
		}
	}
	did.Object = "bursar " + strings.Join(words, " ")
	return did
}

// actorHere returns the system user and the host.
func actorHere() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return command.Actor{}.Name() + "@" + host
}

// final holds the flags of a command that changes the database, and nothing else, in a way that cannot be undone.
type final struct {
	confirmed
	DryRun bool `help:"Check and execute everything in a transaction that is rolled back, so that nothing changes."`
}

// onlyRehearses reports whether nothing may be changed.
func (f final) onlyRehearses() bool { return f.DryRun }

// errRehearsed ends the transaction of a command that only rehearses.
var errRehearsed = errors.New("dry run: every check passed, and nothing was changed")

// foreseen is errRehearsed of a command that knows what would come of it.
type foreseen struct{ outcome string }

func (f foreseen) Error() string { return f.outcome + ": " + errRehearsed.Error() }
func (foreseen) Unwrap() error   { return errRehearsed }

// witness has every change that this command makes recorded in the log of acts, in the transaction of the change.
func (c *call) witness(db *store.DB) {
	db.Witness(func(ctx context.Context, tx *store.Tx) error { return tx.Acts().Append(ctx, c.did) })
	if c.rehearses {
		db.Rehearse(errRehearsed)
	}
}

type auditCommands struct {
	command.Audit
	Acts actsCommands    `cmd:"" help:"List and verify what people did."`
	Tail actsTailCommand `cmd:"" help:"Print what people did, and follow it."`

	Compare auditCompareCommand `cmd:"" help:"Compare the signer's log with what the service sent."`

	Witness witnessCommands `cmd:"" help:"Cosign the signer's log on a third party's machine."`
}

type actsCommands struct {
	List   actsListCommand   `cmd:"" help:"List acts, newest first."`
	Verify actsVerifyCommand `cmd:"" help:"Check that no act was changed or removed."`
}

type actsListCommand struct {
	Actor  string `placeholder:"NAME" help:"Only acts of this person, or of this user and host."`
	Verb   string `placeholder:"VERB" help:"Only acts of this verb, such as people.change or command."`
	Object string `placeholder:"OBJECT" help:"Only acts on this object, named as a whole or by its ID."`
	Limit  int    `default:"100" help:"Maximum number of acts."`

	Request string `placeholder:"ID" help:"Only acts of the request with this ID, which its answer has as X-Request-ID."`
	JSON    bool   `name:"json" help:"Print a JSON array."`
}

type listedAct struct {
	Number  int64     `json:"number"`
	At      time.Time `json:"at"`
	Actor   string    `json:"actor"`
	Address string    `json:"address"` // empty: a command
	Verb    string    `json:"verb"`
	Object  string    `json:"object"`
	Before  string    `json:"before"`
	After   string    `json:"after"`
	Reason  string    `json:"reason"`
	Hash    string    `json:"hash"`
	Request string    `json:"request"` // the ID of the request that it came by; empty: a command
}

func listedOf(a store.Act) listedAct {
	return listedAct{a.Number, a.At, a.Actor, a.Address, a.Verb, a.Object, a.Was, a.Became, a.Reason,
		fmt.Sprintf("%x", a.Hash), a.Request}
}

// Help returns an example.
func (actsListCommand) Help() string { return "Example:\n\n    bursar audit acts list --limit 20" }

// Run lists acts.
func (cmd *actsListCommand) Run(ctx context.Context, c *call) error {
	if cmd.Limit < 1 {
		return wrong("--limit must be at least 1")
	}
	db, _, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	var acts []store.Act
	err = db.View(ctx, func(tx *store.Tx) error {
		acts, err = tx.Acts().List(ctx, store.ActFilter{Actor: cmd.Actor, Verb: cmd.Verb, Object: cmd.Object,
			Request: cmd.Request}, store.Page{Limit: cmd.Limit})
		return err
	})
	if err != nil {
		return err
	}
	listed := make([]listedAct, len(acts))
	for i, a := range acts {
		listed[i] = listedOf(a)
	}
	return list(c, cmd.JSON, listed, "ROW AT WHO VERB OBJECT AFTER REASON", func(l listedAct) []any {
		return []any{l.Number, l.At, l.Actor, l.Verb, l.Object, l.After, l.Reason}
	})
}

type actsVerifyCommand struct {
	Head string `placeholder:"HASH" help:"Hash of an act that was noted earlier: check that it is still in the log."`
	acting
}

// Help returns an example.
func (actsVerifyCommand) Help() string {
	return "Reads the whole log and compares each row with its hash and the row before it. Rows that were removed from " +
		"the end are noticed only by a hash that was noted before: keep what this command prints.\n\nExample:\n\n" +
		"    bursar audit acts verify"
}

// Run verifies the log.
func (cmd *actsVerifyCommand) Run(ctx context.Context, c *call) error {
	db, _, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	last, err := operator.Verify(ctx, db)
	if err != nil {
		return err
	}
	if cmd.Head != "" {
		if err := db.View(ctx, func(tx *store.Tx) error { return tx.Acts().Holds(ctx, cmd.Head) }); err != nil {
			return err
		}
	}
	return c.Say("%d acts are whole; the last has the hash %x", last.Number, last.Hash)
}

type actsTailCommand struct {
	Limit int  `default:"20" help:"How many earlier acts are printed, 0 to 1000."`
	Once  bool `help:"Print the newest acts and end, in place of going on with acts as they come."`
	JSON  bool `name:"json" help:"Print each act as one line of JSON."`
}

// Help returns an example.
func (actsTailCommand) Help() string {
	return "Prints the log of acts, the oldest first: what people, API keys and commands changed.\n\nExample:\n\n" +
		"    bursar audit tail --once"
}

// actPace is how often new acts are looked for, and actsOnce how many are read at once.
const (
	actPace  = time.Second
	actsOnce = 500
)

// Run prints acts until it is interrupted. They are numbered without gaps, in the order of their commits.
func (cmd *actsTailCommand) Run(ctx context.Context, c *call) error {
	if cmd.Limit < 0 || cmd.Limit > 1000 {
		return wrong("--limit must be between 0 and 1000")
	}
	db, _, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	var last store.Act
	err = db.View(ctx, func(tx *store.Tx) (err error) {
		last, err = tx.Acts().Head(ctx)
		return err
	})
	if err != nil {
		return err
	}
	for after := max(0, last.Number-int64(cmd.Limit)); ; {
		var acts []store.Act
		err := db.View(ctx, func(tx *store.Tx) (err error) {
			acts, err = tx.Acts().After(ctx, after, actsOnce)
			return err
		})
		if err != nil && ctx.Err() == nil {
			return err
		}
		for _, a := range acts {
			if err := cmd.print(c, a); err != nil {
				return err
			}
			after = a.Number
		}
		if len(acts) == actsOnce {
			continue
		}
		if cmd.Once {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(actPace):
		}
	}
}

func (cmd *actsTailCommand) print(c *call, a store.Act) error {
	l := listedOf(a)
	if cmd.JSON {
		line, err := json.Marshal(l)
		if err != nil {
			return err
		}
		return c.Say("%s", line)
	}
	return c.Say("%d  %s  %s  %s  %s  %s  %s", l.Number, moment(l.At), l.Actor, l.Verb, l.Object, l.After, l.Reason)
}
