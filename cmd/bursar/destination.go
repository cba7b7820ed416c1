package main

import (
	"context"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/registry"
	"github.com/bursar/bursar/destination"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/treasury"
)

type destinationCommands struct {
	List    destinationListCommand    `cmd:"" help:"List the addresses that an account may withdraw to."`
	Add     destinationAddCommand     `cmd:"" help:"Add an address, which becomes usable after the hold."`
	Remove  destinationRemoveCommand  `cmd:"" help:"Remove an address from the list immediately."`
	Enable  destinationEnableCommand  `cmd:"" help:"Restrict an account's withdrawals to its list immediately."`
	Disable destinationDisableCommand `cmd:"" help:"Allow an account to withdraw to any address again after the hold."`
}

// exampleAccount is the account ID in the examples of the help.
const exampleAccount = "0193a6a0-0000-7000-8000-000000000000"

type destinationListCommand struct {
	Account bursar.ID `required:"" type:"account" placeholder:"ACCOUNT" help:"ID or name of the account."`
	JSON    bool      `name:"json" help:"Print one line of JSON."`
}

// Help returns an example.
func (destinationListCommand) Help() string {
	return "Example:\n\n    bursar destination list --account " + exampleAccount
}

type listedDestination struct {
	DestinationID bursar.ID            `json:"destinationID"`
	Family        bursar.Family        `json:"family"`
	Currency      *bursar.CurrencyCode `json:"currency"` // null: every currency of the family
	Address       string               `json:"address"`
	Label         string               `json:"label"`
	Usable        bool                 `json:"usable"`
	UsableFrom    time.Time            `json:"usableFrom"`
	CreatedAt     time.Time            `json:"createdAt"`
}

type listedDestinations struct {
	AccountID    bursar.ID           `json:"accountID"`
	Enabled      bool                `json:"enabled"`
	EnabledUntil *time.Time          `json:"enabledUntil"` // when the list is disabled, if disabling is under way
	Destinations []listedDestination `json:"destinations"`
}

// Run lists an account's destinations, newest first.
func (cmd *destinationListCommand) Run(ctx context.Context, c *call) error {
	db, lists, err := c.lists(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.View(ctx, func(tx *store.Tx) error {
		_, err := tx.Accounts().Get(ctx, cmd.Account)
		return err
	}); err != nil {
		return unknownAccount(err, cmd.Account)
	}
	found, err := lists.List(ctx, cmd.Account, store.Page{Limit: destination.MaxDestinations})
	if err != nil {
		return err
	}
	all := listedDestinations{cmd.Account, found.On, optional(found.Until), []listedDestination{}}
	for _, d := range found.Destinations {
		all.Destinations = append(all.Destinations,
			listedDestination{d.ID, d.Family, optional(d.Currency), d.Address.String(), d.Label, d.UsableAt(db.Now()),
				d.UsableFrom, d.CreatedAt})
	}
	if cmd.JSON {
		return c.PrintJSON(all)
	}
	c.Note("%s", all.state())
	return list(c, false, all.Destinations, "DESTINATION CURRENCY ADDRESS LABEL USABLE FROM",
		func(d listedDestination) []any {
			currency := "all of " + string(d.Family)
			if d.Currency != nil {
				currency = string(*d.Currency)
			}
			return []any{d.DestinationID, currency, d.Address, d.Label, d.Usable, d.UsableFrom}
		})
}

// state says whether withdrawals are restricted to the list.
func (l listedDestinations) state() string {
	switch {
	case !l.Enabled:
		return "The list is off: the account may withdraw to any address."
	case l.EnabledUntil != nil:
		return "The list is on until " + moment(*l.EnabledUntil) + "."
	}
	return "The list is on: the account may withdraw to usable destinations only."
}

// lists opens the database for work on destination lists that needs no chain. The caller closes it.
func (c *call) lists(ctx context.Context) (*store.DB, *destination.Service, error) {
	db, cfg, err := c.database(ctx)
	if err != nil {
		return nil, nil, err
	}
	return db, &destination.Service{
		DB:       db,
		Registry: cfg.Registry,
		IDs:      bursar.NewIDs(db.Now, nil),
		Hold:     cfg.Withdrawals.DestinationHold,
	}, nil
}

type destinationAddCommand struct {
	Account  bursar.ID           `required:"" type:"account" placeholder:"ACCOUNT" help:"ID or name of the account."`
	Currency bursar.CurrencyCode `placeholder:"CODE" xor:"what" required:"" help:"The only currency that may be withdrawn to it."`
	Family   bursar.Family       `xor:"what" required:"" help:"Allow every currency of a family of chains: ${families}. A contract's address may have another owner on each."`
	Address  string              `required:"" help:"The address, with :MEMO where it has one."`
	Label    string              `help:"Label shown in lists."`
	JSON     bool                `name:"json" help:"Print one line of JSON."`
}

// familyList names the families of chains in a sentence.
func familyList() string {
	var names []string
	for _, family := range registry.Families() {
		names = append(names, string(family))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Help returns an example.
func (destinationAddCommand) Help() string {
	return "The address becomes usable after withdrawals.destination_hold of the configuration. An address that is " +
		"listed already keeps its waiting period.\n\nExample:\n\n    bursar destination add --account " + exampleAccount +
		" --currency XRP --address rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe:7 --label exchange"
}

type addedDestination struct {
	DestinationID bursar.ID `json:"destinationID"`
	Address       string    `json:"address"`
	Added         bool      `json:"added"` // false: it was listed already
	UsableFrom    time.Time `json:"usableFrom"`
}

// Run adds a destination. It needs the chain, because only the chain's adapter knows an address's canonical spelling.
func (cmd *destinationAddCommand) Run(ctx context.Context, c *call) error {
	s, err := c.service(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if cmd.Account == treasury.Account { // it may be listed before the first withdrawal creates the account
		if err := s.Treasury.Open(ctx); err != nil {
			return err
		}
	}
	d, added, err := s.Destinations.Add(ctx, destination.New{
		Account:  cmd.Account,
		Currency: cmd.Currency,
		Family:   cmd.Family,
		Address:  strings.TrimSpace(cmd.Address),
		Label:    cmd.Label,
	})
	if err != nil {
		return unknownAccount(err, cmd.Account)
	}
	if cmd.JSON {
		return c.PrintJSON(addedDestination{d.ID, d.Address.String(), added, d.UsableFrom})
	}
	if !added {
		return c.Say("%s was listed already as %s, usable from %s", d.Address, d.ID, moment(d.UsableFrom))
	}
	return c.Say("%s is listed as %s, usable from %s", d.Address, d.ID, moment(d.UsableFrom))
}

type destinationRemoveCommand struct {
	Account bursar.ID `required:"" type:"account" placeholder:"ACCOUNT" help:"ID or name of the account."`
	ID      bursar.ID `arg:"" placeholder:"DESTINATION" help:"ID of the destination."`
	acting
}

// Help returns an example.
func (destinationRemoveCommand) Help() string {
	return "Example:\n\n    bursar destination remove --account " + exampleAccount +
		" 0193a6a0-0000-7000-8000-000000000001"
}

// Run removes a destination.
func (cmd *destinationRemoveCommand) Run(ctx context.Context, c *call) error {
	db, lists, err := c.lists(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := lists.Remove(ctx, cmd.Account, cmd.ID); err != nil {
		return named(err, "account %s has no destination %s: see `bursar destination list`", cmd.Account, cmd.ID)
	}
	return c.Done(actFacts{"destinationID": cmd.ID}, "destination %s is removed from the list", cmd.ID)
}

type destinationEnableCommand struct {
	Account bursar.ID `required:"" type:"account" placeholder:"ACCOUNT" help:"ID or name of the account."`
	acting
}

// Help returns an example.
func (destinationEnableCommand) Help() string {
	return "An empty list stops all withdrawals of the account. It cancels a disabling that is under way.\n\n" +
		"Example:\n\n    bursar destination enable --account " + exampleAccount
}

// Run switches the list on.
func (cmd *destinationEnableCommand) Run(ctx context.Context, c *call) error {
	db, lists, err := c.lists(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := lists.Enable(ctx, cmd.Account); err != nil {
		return unknownAccount(err, cmd.Account)
	}
	found, err := lists.List(ctx, cmd.Account, store.Page{Limit: destination.MaxDestinations})
	if err != nil {
		return err
	}
	usable := 0
	for _, d := range found.Destinations {
		if d.UsableAt(db.Now()) {
			usable++
		}
	}
	return c.Say("account %s may withdraw to its %d usable destinations only; %d more wait", cmd.Account, usable,
		len(found.Destinations)-usable)
}

type destinationDisableCommand struct {
	Account bursar.ID `required:"" type:"account" placeholder:"ACCOUNT" help:"ID or name of the account."`
	acting
}

// Help returns an example.
func (destinationDisableCommand) Help() string {
	return "The list stays in force until withdrawals.destination_hold of the configuration has passed; enabling it " +
		"cancels this.\n\n" +
		"Example:\n\n    bursar destination disable --account " + exampleAccount
}

// Run switches the list off after the hold.
func (cmd *destinationDisableCommand) Run(ctx context.Context, c *call) error {
	db, lists, err := c.lists(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	l, err := lists.Disable(ctx, cmd.Account)
	if err != nil {
		return unknownAccount(err, cmd.Account)
	}
	if !l.Binds(db.Now()) {
		return c.Say("account %s may withdraw to any address", cmd.Account)
	}
	return c.Say("account %s may withdraw to any address from %s on; `bursar destination enable` cancels this",
		cmd.Account, moment(l.Until))
}
