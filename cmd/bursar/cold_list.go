package main

import (
	"context"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ceremony"
	"github.com/bursar/bursar/refill"
	"github.com/bursar/bursar/store"
)

type coldListCommand struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// Help returns an example.
func (coldListCommand) Help() string { return "Example:\n\n    bursar cold list" }

type coldLine struct {
	ID       bursar.ID           `json:"refillID"`
	At       time.Time           `json:"at"`
	Chain    bursar.ChainID      `json:"chain"`
	Wallet   string              `json:"wallet"`
	Currency bursar.CurrencyCode `json:"currency"`
	Amount   string              `json:"amount"`
	Status   refill.Standing     `json:"status"`
	TxID     string              `json:"hashID"`
	Actor    string              `json:"actor"`
	Reason   string              `json:"reason"`
	Revokes  string              `json:"revokes"`
}

// Run lists refills.
func (cmd *coldListCommand) Run(ctx context.Context, c *call) error {
	db, cfg, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	var found []store.Refill
	err = db.View(ctx, func(tx *store.Tx) (err error) {
		found, err = tx.Refills().List(ctx, maxListed)
		return err
	})
	if err != nil {
		return err
	}
	standings, err := c.standings(ctx, db, cfg, found)
	if err != nil {
		return err
	}
	lines := make([]coldLine, len(found))
	for i, r := range found {
		amount := r.Amount.String() + " units"
		if currency, err := cfg.Registry.Get(r.Currency); err == nil {
			amount = currency.Exact(r.Amount)
		}
		lines[i] = coldLine{r.ID, r.CreatedAt, r.Chain, r.Wallet, r.Currency, amount, standings[i], r.TxID, r.Actor, r.Reason,
			r.Revokes}
	}
	return list(c, cmd.JSON, lines, "REFILL AT CHAIN WALLET CURRENCY AMOUNT STATUS TRANSACTION BY REASON REVOKES",
		func(l coldLine) []any {
			return []any{l.ID, l.At, l.Chain, l.Wallet, l.Currency, l.Amount, l.Status, l.TxID, l.Actor, l.Reason, l.Revokes}
		})
}

type coldAbandonCommand struct {
	ID     bursar.ID `arg:"" placeholder:"ID" help:"ID of the refill."`
	Reason string    `required:"" placeholder:"TEXT" help:"Reason, for the record."`
	final
}

// Help returns an example.
func (coldAbandonCommand) Help() string {
	return "Anyone who has the signed bundle can still broadcast it elsewhere, until something else uses up what it " +
		"spends: it would pay the hot wallet. The command prints what that is.\n\nExample:\n\n" +
		"    bursar cold abandon 0193a6a0-0000-7000-8000-000000000000 --reason 'a device is lost'"
}

// Run abandons a refill.
func (cmd *coldAbandonCommand) Run(ctx context.Context, c *call) error {
	db, cfg, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	missing := "there is no open refill %s"
	r, err := refill.Get(ctx, db, cmd.ID)
	if err != nil {
		return named(err, missing, cmd.ID)
	}
	b, err := ceremony.Read(r.Bundle)
	if err != nil {
		return err
	}
	s, _, err := c.refills(ctx, cfg, r.Chain, b.Payment.Contract)
	if err != nil {
		return err
	}
	defer s.DB.Close()
	tx, err := s.Abandon(ctx, cmd.ID, cmd.Reason)
	if err != nil {
		return named(err, missing, cmd.ID)
	}
	facts := actFacts{"refillID": cmd.ID}
	if !tx.Ends.IsZero() {
		facts["endsAt"] = tx.Ends.UTC()
		return c.Done(facts, "refill %s is abandoned; if it was signed, it can be broadcast until %s, and nothing ends "+
			"it before", cmd.ID, tx.Ends.UTC().Format(time.RFC3339))
	}
	return c.Done(facts, "refill %s is abandoned; if it was signed, revoke it: `bursar cold revoke %s` makes a "+
		"transaction that uses up one of %s", cmd.ID, cmd.ID, strings.Join(tx.Reservations, ", "))
}
