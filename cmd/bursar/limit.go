package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

type limitCommands struct {
	List limitListCommand `cmd:"" help:"List limits of withdrawals that operators set."`
	Set  limitSetCommand  `cmd:"" help:"Set or end limits of an account's withdrawals, or of every account's."`
}

type limitListCommand struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// Help returns an example.
func (limitListCommand) Help() string {
	return "An account's own limit and that of every account count, and so does that of the configuration: " +
		"the lowest binds." +
		"\n\nExample:\n\n    bursar limit list"
}

type listedLimit struct {
	Account  string              `json:"accountID"` // empty: every account
	Currency bursar.CurrencyCode `json:"currency"`
	Kind     bursar.LimitKind    `json:"kind"`
	Amount   string              `json:"amount"`
	Since    time.Time           `json:"since"`
	Actor    string              `json:"actor"`
	Reason   string              `json:"reason"`
}

// Run lists limits.
func (cmd *limitListCommand) Run(ctx context.Context, c *call) error {
	db, cfg, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	var rules bursar.LimitRules
	err = db.View(ctx, func(tx *store.Tx) (err error) {
		rules, err = tx.LimitRules().List(ctx, maxListed)
		return err
	})
	if err != nil {
		return err
	}
	listed := []listedLimit{}
	for _, r := range rules {
		l := listedLimit{Currency: r.Currency, Kind: r.Kind, Amount: cfg.Registry.Text(r.Currency, r.Amount), Since: r.SetAt,
			Actor: r.Actor, Reason: r.Reason}
		if !r.AccountID.IsZero() {
			l.Account = r.AccountID.String()
		}
		listed = append(listed, l)
	}
	return list(c, cmd.JSON, listed, "ACCOUNT CURRENCY LIMIT AMOUNT SINCE BY REASON", func(l listedLimit) []any {
		of := l.Account
		if of == "" {
			of = "all"
		}
		return []any{of, l.Currency, l.Kind, l.Amount, moment(l.Since), l.Actor, l.Reason}
	})
}

type limitSetCommand struct {
	Account  bursar.ID           `type:"account" placeholder:"ACCOUNT" xor:"whose" required:"" help:"ID or name of the account."`
	All      bool                `xor:"whose" required:"" help:"Every account, also those that have a limit of their own."`
	Currency bursar.CurrencyCode `required:"" placeholder:"CODE" help:"Code of the currency."`
	Maximum  string              `placeholder:"AMOUNT" help:"Refuse withdrawals above this, in whole units; none ends the limit."`
	Approval string              `placeholder:"AMOUNT" help:"Have withdrawals above this wait for an approval; 0 for each, none ends the limit."`
	Hourly   string              `placeholder:"AMOUNT" help:"Refuse what exceeds this together with an account's other withdrawals of the last hour; none ends the limit."`
	Daily    string              `placeholder:"AMOUNT" help:"The same, of the last 24 hours."`
	Weekly   string              `placeholder:"AMOUNT" help:"The same, of the last seven days."`
	Reason   string              `required:"" placeholder:"TEXT" help:"Why, for the record."`
	actor
	acting
}

// noLimit ends a limit.
const noLimit = "none"

// Help says what limits bind, with examples.
func (limitSetCommand) Help() string {
	return "A limit counts for withdrawals that are requested from now on, at once on every replica. It stays within " +
		"the configuration: withdrawal_maximum and approval_above of the currency count beside it. One of a period " +
		"counts amounts without fees, those requested before it was set too, and not what was rejected, cancelled or " +
		"failed; one of every account limits each by itself. In the " +
		"console two persons loosen a limit; this command needs access to the host instead.\n\nExample:\n\n" +
		"    bursar limit set --currency BTC --maximum 2 --reason 'the shop is new' " +
		"--account 0193a6a0-0000-7000-8000-000000000000\n" +
		"    bursar limit set --currency BTC --hourly 1 --daily 5 --reason 'the shop is new' " +
		"--account 0193a6a0-0000-7000-8000-000000000000\n" +
		"    bursar limit set --currency USDT --approval 1000 --reason 'a night without approvers' --all\n" +
		"    bursar limit set --currency USDT --approval none --reason 'approvers are back' --all"
}

// Run changes the limits, all or none. The log of acts says whose, and what they were and are.
func (cmd *limitSetCommand) Run(ctx context.Context, c *call) error {
	if !slices.ContainsFunc(cmd.flags(), func(f limitFlag) bool { return f.text != "" }) {
		return wrong("name a limit: --maximum, --approval, --hourly, --daily or --weekly")
	}
	db, cfg, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	changes, err := cmd.changes(cfg)
	if err != nil {
		return err
	}
	facts, said := actFacts{"currency": cmd.Currency}, make([]string, len(changes))
	before, after := make([]string, len(changes)), make([]string, len(changes))
	for i := range changes {
		kind := string(changes[i].Rule.Kind)
		changes[i].Done = func(_ context.Context, _ *store.Tx, was, is string) error {
			facts[kind] = is
			said[i] = kind + ": was " + was + "; is " + is
			before[i], after[i] = kind+" "+was, kind+" "+is
			c.did.Was = strings.Join(before[:i+1], "; ")
			c.did.Became = cmd.whose() + " " + string(cmd.Currency) + ": " + strings.Join(after[:i+1], "; ")
			return nil
		}
	}
	limits := withdrawal.Limits{DB: db, Registry: cfg.Registry}
	if err := limits.Change(ctx, changes...); err != nil {
		return unknownAccount(err, cmd.Account)
	}
	return c.Done(facts, "%s", strings.Join(said, "\n"))
}

func (cmd *limitSetCommand) whose() string {
	if cmd.All {
		return "all"
	}
	return "account " + cmd.Account.String()
}

// limitFlag is what the command line says of one kind of limit.
type limitFlag struct {
	kind bursar.LimitKind
	text string // empty: nothing
}

func (cmd *limitSetCommand) flags() []limitFlag {
	return []limitFlag{{bursar.LimitMaximum, cmd.Maximum}, {bursar.LimitApproval, cmd.Approval},
		{bursar.LimitHourly, cmd.Hourly}, {bursar.LimitDaily, cmd.Daily}, {bursar.LimitWeekly, cmd.Weekly}}
}

// changes reads the limits of the command line.
func (cmd *limitSetCommand) changes(cfg config.Config) (list []withdrawal.LimitChange, err error) {
	currency, err := cfg.Registry.Get(cmd.Currency)
	if err != nil {
		return nil, mistaken(err)
	}
	for _, flag := range cmd.flags() {
		if flag.text == "" {
			continue
		}
		change := withdrawal.LimitChange{Loosen: true, Remove: flag.text == noLimit, Rule: bursar.LimitRule{
			AccountID: cmd.Account, Currency: cmd.Currency, Kind: flag.kind, Actor: cmd.Name(), Reason: cmd.Reason}}
		if !change.Remove {
			if change.Rule.Amount, err = currency.Parse(flag.text); err != nil {
				return nil, wrong("--%s: %.60q is no amount of %s: %w", flag.kind, flag.text, cmd.Currency, err)
			}
		}
		list = append(list, change)
	}
	return list, nil
}
