package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/webhook"
)

type webhookRedeliverCommand struct {
	ID         bursar.ID `arg:"" optional:"" placeholder:"EVENT" help:"ID of one event."`
	Account    bursar.ID `type:"account" placeholder:"ACCOUNT" help:"Redeliver all events of this account since a time, instead of one event."`
	Since      string    `placeholder:"TIME" help:"Start of the period, such as 2026-01-31T12:00:00Z."`
	FailedOnly bool      `help:"Redeliver only events that were given up, or that had no destination."`
	acting
}

// Help returns an example.
func (webhookRedeliverCommand) Help() string {
	return "An event keeps its ID and restarts its attempts. It is sent to the webhook that is set now, because a " +
		"receiver may have moved. Events whose webhook answered 410 Gone are left unchanged.\n\nExample:\n\n    bursar " +
		"webhook redeliver 0193a6a0-0000-7000-8000-000000000000\n    bursar webhook redeliver --account " +
		"0193a6a0-0000-7000-8000-000000000000 --since 2026-01-31T12:00:00Z --failed-only"
}

// Run makes events due again.
func (cmd *webhookRedeliverCommand) Run(ctx context.Context, c *call) error {
	one, many := !cmd.ID.IsZero(), !cmd.Account.IsZero() || cmd.Since != "" || cmd.FailedOnly
	if one == many || many && (cmd.Account.IsZero() || cmd.Since == "") {
		return wrong("nothing to redeliver is named: give an event's ID, or --account with --since; see `bursar webhook " +
			"redeliver --help`")
	}
	since, err := sinceOf(cmd.Since)
	if err != nil {
		return err
	}
	db, _, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if one {
		return c.redeliverOne(ctx, db, cmd.ID)
	}
	due, err := redeliverMany(ctx, db, store.Redelivery{
		Account:    cmd.Account,
		Since:      since,
		FailedOnly: cmd.FailedOnly,
		Limit:      pageSize,
	})
	if err != nil {
		return unknownAccount(err, cmd.Account)
	}
	return c.Done(actFacts{"due": due}, "%d events are due again", due)
}

func (c *call) redeliverOne(ctx context.Context, db *store.DB, id bursar.ID) error {
	var d store.Delivery
	due := false
	err := db.Do(ctx, func(tx *store.Tx) (err error) {
		if d, err = tx.Deliveries().ByID(ctx, id); err != nil {
			return err
		}
		due, err = tx.Deliveries().Redeliver(ctx, d.AccountID, id)
		return err
	})
	switch {
	case err != nil:
		return unknownEvent(err, id)
	case !due:
		return fmt.Errorf("event %s has no destination: its webhook is not set, or answered 410 Gone; see `bursar webhook "+
			"enable --help`", id)
	}
	return c.Done(actFacts{"eventID": id}, "event %s is due again", id)
}

// redeliverMany takes as many short transactions as it needs, so that the service is not blocked.
func redeliverMany(ctx context.Context, db *store.DB, r store.Redelivery) (due int64, err error) {
	for {
		var n, last int64
		err := db.Do(ctx, func(tx *store.Tx) (err error) {
			if _, err = tx.Accounts().Get(ctx, r.Account); err != nil {
				return err
			}
			n, last, err = tx.Deliveries().RedeliverSome(ctx, r)
			return err
		})
		if err != nil || last == 0 {
			return due, err
		}
		due, r.After = due+n, last
	}
}

type webhookTestCommand struct {
	Account bursar.ID     `required:"" type:"account" placeholder:"ACCOUNT" help:"Account whose secret signs the event."`
	URL     string        `name:"url" xor:"where" help:"URL to send the event to."`
	Wallet  bursar.ID     `xor:"where" placeholder:"WALLET" help:"Send the event to the webhook of this wallet. Default: the account's own webhook."`
	Wait    time.Duration `default:"20s" help:"How long to wait for the running service to send it; 0s not to wait."`
	JSON    bool          `name:"json" help:"Print one line of JSON."`
}

// Help returns an example.
func (webhookTestCommand) Help() string {
	return "The running service sends it, signed and to public addresses only, like every event. It is attempted three " +
		"times at most.\n\nExample:\n\n    bursar webhook test --account 0193a6a0-0000-7000-8000-000000000000 --url " +
		"https://shop.example/hooks/bursar"
}

// Run records a test event and waits for its delivery.
func (cmd *webhookTestCommand) Run(ctx context.Context, c *call) error {
	if cmd.Wait < 0 {
		return wrong("--wait must not be negative")
	}
	db, cfg, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	tests := webhook.TestDeliveries{DB: db, IDs: bursar.NewIDs(db.Now, nil), Receivers: receivers(cfg)}
	d, err := tests.Record(ctx, webhook.TestDelivery{Account: cmd.Account, Wallet: cmd.Wallet, URL: cmd.URL})
	if err != nil {
		return named(err, "there is no such account, or it has no such wallet: see `bursar account list`")
	}
	e, err := waitForAttempt(ctx, db, d.ID, cmd.Wait)
	if err != nil {
		return err
	}
	if cmd.JSON {
		if err := c.PrintJSON(e); err != nil {
			return err
		}
	}
	return cmd.report(c, e)
}

// report prints the delivery of a test event; it fails if the event was not received.
func (cmd *webhookTestCommand) report(c *call, e shownEvent) error {
	switch {
	case e.Status == store.DeliveryDisabled && len(e.Tries) == 0:
		return fmt.Errorf("deliveries to %s are disabled because it answered 410 Gone: see `bursar webhook enable --help`",
			word(e.Webhook))
	case len(e.Tries) == 0 && cmd.Wait > 0:
		return fmt.Errorf("event %s is recorded, but was not sent within %s: check that `bursar serve` runs", e.EventID,
			cmd.Wait)
	case len(e.Tries) > 0 && e.Status != store.DeliveryDelivered:
		return fmt.Errorf("event %s was not received: %s", e.EventID, word(e.LastError))
	case cmd.JSON:
		return nil
	case len(e.Tries) == 0:
		return c.Say("event %s is recorded", e.EventID)
	}
	return c.Say("event %s is delivered: %s", e.EventID, e.sent())
}

// waitForAttempt reads an event until it was sent once, has no destination, or the time is over.
func waitForAttempt(ctx context.Context, db *store.DB, id bursar.ID, most time.Duration) (shownEvent, error) {
	waiting, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		e, err := readEvent(ctx, db, id)
		if err != nil || len(e.Tries) > 0 || e.Status != store.DeliveryPending {
			return e, err
		}
		select {
		case <-ctx.Done():
			return e, ctx.Err()
		case <-waiting.Done():
			return e, nil
		case <-ticker.C:
		}
	}
}

type webhookEnableCommand struct {
	URL     string    `arg:"" help:"URL to enable."`
	Account bursar.ID `type:"account" placeholder:"ACCOUNT" help:"Enable it for this account only. Default: for every account."`
	acting
}

// Help returns an example.
func (webhookEnableCommand) Help() string {
	return "Deliveries to a receiver that answers 410 Gone stop until its URL is set again, by its owner or " +
		"here.\n\n" +
		"Example:\n\n    bursar webhook enable https://shop.example/hooks/bursar"
}

// Run enables a URL again.
func (cmd *webhookEnableCommand) Run(ctx context.Context, c *call) error {
	db, _, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	var enabled []bursar.ID
	var held []store.Queue
	err = db.Do(ctx, func(tx *store.Tx) (err error) {
		enabled, err = tx.WebhookURLs().EnableAll(ctx, cmd.Account, cmd.URL)
		held = make([]store.Queue, len(enabled))
		for i, account := range enabled {
			if err == nil {
				held[i], err = tx.WebhookURLs().Waiting(ctx, account, cmd.URL)
			}
		}
		return err
	})
	if err == nil && len(enabled) == 0 {
		err = errors.New("this URL never answered 410 Gone: see `bursar webhook list --status disabled`")
	}
	if err != nil {
		return err
	}
	for i, account := range enabled {
		if err := c.Say("events of account %s are sent to this URL again", account); err != nil {
			return err
		}
		if h := held[i]; h.Waiting > 0 {
			c.Note("%d events are held back: bursar webhook redeliver --account %s --since %s --failed-only", h.Waiting, account,
				moment(h.Oldest))
		}
	}
	return nil
}
