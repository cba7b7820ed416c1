package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/notice"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/store"
)

type noticeCommands struct {
	List noticeListCommand `cmd:"" help:"List who is notified, and whether they take messages."`
	Test noticeTestCommand `cmd:"" help:"Send a test message to those who are notified."`
}

type noticeListCommand struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// Help returns an example.
func (noticeListCommand) Help() string {
	return "ERROR is that of the last attempt; empty means that it succeeded, or that nothing was sent yet.\n\n" +
		"Example:\n\n    bursar notice list --json"
}

type listedReceiver struct {
	Receiver     string     `json:"receiver"`
	Sent         int64      `json:"sent"`
	SentAt       *time.Time `json:"sentAt"`
	Waiting      bool       `json:"waiting"` // a message is under way
	FailingSince *time.Time `json:"failingSince"`
	Error        string     `json:"error"`
}

// Run lists the receivers of the configuration.
func (cmd *noticeListCommand) Run(ctx context.Context, c *call) error {
	db, cfg, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	listed := []listedReceiver{}
	err = db.View(ctx, func(tx *store.Tx) error {
		listed = listed[:0]
		for _, r := range cfg.Notices.Receivers {
			row, err := tx.Notices().Get(ctx, r.Name)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			listed = append(listed, listedReceiver{r.Name, row.Sent, optional(row.SentAt), row.Message != "",
				optional(row.FailingSince), row.Error})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return list(c, cmd.JSON, listed, "RECEIVER SENT LAST FAILING_SINCE ERROR", func(r listedReceiver) []any {
		return []any{r.Receiver, r.Sent, momentOf(r.SentAt), momentOf(r.FailingSince), r.Error}
	})
}

type noticeTestCommand struct {
	Receiver string `arg:"" optional:"" placeholder:"NAME" help:"One receiver of the configuration; otherwise all."`
	JSON     bool   `name:"json" help:"Print a JSON array."`
}

// Help returns an example.
func (noticeTestCommand) Help() string {
	return "It sends from this machine, and uses neither the database nor the seed. Try it where the service runs.\n\n" +
		"Example:\n\n    bursar notice test ops"
}

type testedReceiver struct {
	Receiver string `json:"receiver"`
	Sent     bool   `json:"sent"`
	Error    string `json:"error"`
}

// noticeWithin bounds the test of one receiver.
const noticeWithin = 30 * time.Second

// Run sends the messages.
func (cmd *noticeTestCommand) Run(ctx context.Context, c *call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	if len(cfg.Notices.Receivers) == 0 {
		return wrong("nobody is notified: add a receiver under `notices`, see docs/operations/notices.md")
	}
	n := service.NewNotifier(cfg.Notices)
	tested, failed := []testedReceiver{}, 0
	ids := bursar.NewIDs(time.Now, nil)
	for _, r := range n.Receivers {
		if cmd.Receiver != "" && cmd.Receiver != r.Name {
			continue
		}
		within, cancel := context.WithTimeout(ctx, noticeWithin)
		err := r.Transport.Send(within, notice.NewTest(n.Name, ids.Next().String(), time.Now()))
		cancel()
		one := testedReceiver{Receiver: r.Name, Sent: err == nil}
		if err != nil {
			failed++
			one.Error = err.Error()
		}
		tested = append(tested, one)
	}
	if len(tested) == 0 {
		return wrong("notices.receivers has no %s", cmd.Receiver)
	}
	err = list(c, cmd.JSON, tested, "RECEIVER SENT ERROR", func(r testedReceiver) []any {
		return []any{r.Receiver, r.Sent, r.Error}
	})
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d of %d receivers took no message", failed, len(tested))
	}
	return err
}
