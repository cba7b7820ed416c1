package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

type alarmCommands struct {
	List  alarmListCommand  `cmd:"" help:"List open alarms, newest first."`
	Close alarmCloseCommand `cmd:"" help:"Close an alarm that was investigated."`
}

type alarmListCommand struct {
	Chain bursar.ChainID `placeholder:"CHAIN" help:"List only alarms of this chain."`
	Kind  string         `placeholder:"KIND" help:"List only alarms of this kind."`
	JSON  bool           `name:"json" help:"Print a JSON array."`
}

// Help returns an example.
func (alarmListCommand) Help() string {
	return "docs/runbooks.md says what each kind means and what to do: `bursar docs runbooks`." +
		"\n\nExample:\n\n    bursar alarm list " +
		"--chain polygon"
}

type listedAlarm struct {
	Number  int64          `json:"number"`
	At      string         `json:"at"`
	Kind    string         `json:"kind"`
	Chain   bursar.ChainID `json:"chain"`
	Message string         `json:"message"`
	Runbook string         `json:"runbookURL"` // its path on the API's address
}

// Run lists open alarms.
func (cmd *alarmListCommand) Run(ctx context.Context, c *call) error {
	db, _, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	listed := []listedAlarm{}
	err = db.View(ctx, func(tx *store.Tx) error {
		alarms, err := tx.Alarms().List(ctx, maxAlarms)
		for _, a := range alarms {
			if (cmd.Chain == "" || a.Chain == cmd.Chain) && (cmd.Kind == "" || a.Kind == cmd.Kind) {
				listed = append(listed, listedAlarm{a.Number, moment(a.At), a.Kind, a.Chain, a.Message,
					bursar.RunbookPath(a.Kind)})
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	err = list(c, cmd.JSON, listed, "ALARM SINCE KIND CHAIN MESSAGE", func(a listedAlarm) []any {
		return []any{a.Number, a.At, a.Kind, a.Chain, a.Message}
	})
	if err == nil && !cmd.JSON && len(listed) > 0 {
		c.Note("What to do is at %s of the API's address, and in `bursar docs runbooks`.", listed[0].Runbook)
	}
	return err
}

type alarmCloseCommand struct {
	Number int64 `arg:"" help:"The alarm's number, from bursar alarm list."`
	acting
}

// Help says what closing an alarm does not do.
func (alarmCloseCommand) Help() string {
	return "Closing changes nothing but the list: a halted chain stays halted, and an alarm whose cause persists is " +
		"raised again.\n\n" +
		"Example:\n\n    bursar alarm close 17"
}

// Run closes an alarm.
func (cmd *alarmCloseCommand) Run(ctx context.Context, c *call) error {
	db, _, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	var closed store.Alarm
	err = db.Do(ctx, func(tx *store.Tx) (err error) {
		closed, err = tx.Alarms().Close(ctx, cmd.Number)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("no alarm %d is open: see `bursar alarm list`", cmd.Number)
	}
	if err != nil {
		return err
	}
	return c.Done(actFacts{"number": closed.Number, "kind": closed.Kind, "ref": closed.Ref},
		"closed: %s", cell(closed.Message))
}
