package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/screening"
	"github.com/bursar/bursar/store"
)

type screeningCommands struct {
	List    screeningListCommand    `cmd:"" help:"List what waits for the screening service or for a decision."`
	Release screeningReleaseCommand `cmd:"" help:"Release a deposit or withdrawal that is held for screening."`
	Reject  screeningRejectCommand  `cmd:"" help:"Reject a deposit or a withdrawal that waits for screening."`
	End     screeningEndCommand     `cmd:"" help:"Let the service run without screening from now on."`
}

type screeningListCommand struct {
	All   bool `help:"List everything that was screened, with its outcome."`
	Limit int  `default:"100" help:"Maximum number of rows, 1 to 10000."`
	JSON  bool `name:"json" help:"Print a JSON array."`
}

// Help returns an example.
func (screeningListCommand) Help() string {
	return "What is `waiting` is asked about again by itself; ERROR says why there is no answer. What is in `review` " +
		"waits for `bursar screening release` or `bursar screening reject`.\n\nExample:\n\n    bursar screening list --json"
}

type listedScreening struct {
	Subject   bursar.ID              `json:"subject"`
	Kind      store.ScreeningKind    `json:"kind"`
	Chain     bursar.ChainID         `json:"chain"`
	AccountID *bursar.ID             `json:"accountID"`
	Outcome   store.ScreeningOutcome `json:"outcome"`
	List      string                 `json:"list"` // version of the lists that the service compared with
	Attempts  int64                  `json:"attempts"`
	Error     string                 `json:"error"`
	Actor     string                 `json:"actor"`
	Reason    string                 `json:"reason"`
	CreatedAt time.Time              `json:"createdAt"`
	ExpiresAt *time.Time             `json:"expiresAt"`
	DecidedAt *time.Time             `json:"decidedAt"`
}

// Run lists screenings.
func (cmd *screeningListCommand) Run(ctx context.Context, c *call) error {
	if cmd.Limit < 1 || cmd.Limit > maxListed {
		return wrong("--limit must be between 1 and %d", maxListed)
	}
	db, _, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	var found []store.Screening
	err = db.View(ctx, func(tx *store.Tx) (err error) {
		found, err = tx.Screenings().List(ctx, cmd.All, cmd.Limit)
		return err
	})
	if err != nil {
		return err
	}
	listed := make([]listedScreening, len(found))
	for i, s := range found {
		listed[i] = listedScreening{
			Subject:   s.Subject,
			Kind:      s.Kind,
			Chain:     s.Chain,
			AccountID: optional(s.AccountID),
			Outcome:   s.Outcome,
			List:      s.List,
			Attempts:  s.Attempts,
			Error:     s.Error,
			Actor:     s.Actor,
			Reason:    s.Reason,
			CreatedAt: s.CreatedAt,
			ExpiresAt: optional(s.ExpiresAt),
			DecidedAt: optional(s.DecidedAt),
		}
	}
	return list(c, cmd.JSON, listed, "SUBJECT KIND CHAIN OUTCOME SINCE ATTEMPTS ACTOR REASON ERROR",
		func(s listedScreening) []any {
			return []any{s.Subject, s.Kind, s.Chain, s.Outcome, s.CreatedAt, s.Attempts, s.Actor, s.Reason, s.Error}
		})
}

type screeningReleaseCommand struct {
	ID     bursar.ID `arg:"" placeholder:"ID" help:"ID of the deposit or the withdrawal."`
	Reason string    `required:"" placeholder:"TEXT" help:"Why, for the record."`
	actor
	final
}

// Help returns an example.
func (screeningReleaseCommand) Help() string {
	return "The deposit is credited, or the withdrawal paid, as if the screening service had passed it.\n\nExample:\n\n" +
		"    bursar screening release 0193a6a0-0000-7000-8000-000000000000 --reason \"case 17: another person of that " +
		"name\""
}

// Run releases what waits.
func (cmd *screeningReleaseCommand) Run(ctx context.Context, c *call) error {
	return c.decideScreening(ctx, screening.Decision{Subject: cmd.ID, Release: true, Actor: cmd.Name(),
		Reason: cmd.Reason})
}

type screeningRejectCommand struct {
	ID     bursar.ID `arg:"" placeholder:"ID" help:"ID of the deposit or the withdrawal."`
	Reason string    `required:"" placeholder:"TEXT" help:"Why, for the record; customers do not see it."`
	actor
	final
}

// Help returns an example.
func (screeningRejectCommand) Help() string {
	return "A withdrawal is rejected and refunded. A deposit is taken away from its account and is unattributed: once " +
		"it is final, resolve it with `bursar unattributed`.\n\nExample:\n\n    " +
		"bursar screening reject 0193a6a0-0000-7000-8000-000000000000 --reason \"case 18: sanctioned\""
}

// Run rejects what waits.
func (cmd *screeningRejectCommand) Run(ctx context.Context, c *call) error {
	return c.decideScreening(ctx, screening.Decision{Subject: cmd.ID, Actor: cmd.Name(), Reason: cmd.Reason})
}

type screeningEndCommand struct {
	Reason string `required:"" placeholder:"TEXT" help:"Why, for the record."`
	actor
	final
}

// Help returns an example.
func (screeningEndCommand) Help() string {
	return "The service does not start without `screening` in its configuration while the database is screened. Take it " +
		"out of every replica's configuration, then run this. What has no answer yet is credited and paid; what is to be " +
		"reviewed still waits for a decision.\n\nExample:\n\n" +
		"    bursar screening end --reason \"the provider's contract ended\""
}

// Run ends screening.
func (cmd *screeningEndCommand) Run(ctx context.Context, c *call) error {
	db, cfg, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if cfg.Screening.On() {
		return wrong("the configuration has screening: take it out first, on every replica")
	}
	var noted string
	err = db.Do(ctx, func(tx *store.Tx) error {
		if noted, err = tx.Settings().Screened(ctx); err != nil || noted == "" {
			return err
		}
		return screening.End(ctx, tx, cmd.Name(), cmd.Reason)
	})
	if err != nil {
		return err
	}
	if noted == "" {
		return errors.New("nothing is screened: there is nothing to end")
	}
	return c.Say("nothing is screened from now on")
}

func (c *call) decideScreening(ctx context.Context, d screening.Decision) error {
	s, err := c.service(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	row, err := s.Screenings.Decide(ctx, d)
	if errors.Is(err, screening.ErrTooLate) {
		return fmt.Errorf("%s %s: %w", row.Kind, d.Subject, err)
	}
	if err != nil {
		return named(err, "nothing was asked about %s: see `bursar screening list`", d.Subject)
	}
	done := map[bool]string{true: "released", false: "rejected"}[d.Release]
	return c.Done(actFacts{"subject": d.Subject, "kind": row.Kind, "outcome": done},
		"%s %s is %s", row.Kind, d.Subject, done)
}
