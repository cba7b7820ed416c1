package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer/command"
	"github.com/bursar/bursar/store"
)

type haltCommands struct {
	Begin  haltAllCommand    `cmd:"" name:"begin" default:"withargs" hidden:""`
	Status haltStatusCommand `cmd:"" help:"List what is halted, by whom, why, and the command that resumes it."`
	Log    haltLogCommand    `cmd:"" help:"List what was halted and resumed, newest first."`
}

type currencyCommands struct {
	Halt   currencyHaltCommand   `cmd:"" help:"Halt payments of a currency."`
	Resume currencyResumeCommand `cmd:"" help:"Resume payments of a currency."`
}

// The flags of every command that halts.
type (
	actor     = command.Actor
	acting    = command.Acting
	confirmed = command.Confirmed
	actFacts  = command.Facts
	begin     = command.Begin
)

// end holds the flags of every command that resumes.
type end struct {
	Reason string   `placeholder:"TEXT" help:"Reason, for the record."`
	Halt   []string `placeholder:"REF" help:"Which operator's halt to end, where there are several; see bursar halt status. May be repeated."`
	actor
}

// chosen returns which of an operator's halts end: those that are named, or else the only one. Several are not ended by
// somebody who may know of one of them only.
func (e end) chosen(halts []store.Halt) ([]store.Halt, error) {
	halts = slices.DeleteFunc(slices.Clone(halts), func(h store.Halt) bool { return h.Kind != store.HaltByOperator })
	var named []store.Halt
	for _, ref := range e.Halt {
		i := slices.IndexFunc(halts, func(h store.Halt) bool { return h.Ref == ref })
		if i < 0 {
			return nil, wrong("no operator's halt of this has the ref %q; `bursar halt status` lists them", ref)
		}
		named = append(named, halts[i])
	}
	if len(e.Halt) > 0 {
		return named, nil
	}
	if len(halts) < 2 {
		return halts, nil
	}
	var texts []string
	for _, h := range halts {
		texts = append(texts, fmt.Sprintf("--halt %s (by %s: %s)", h.Ref, h.Actor, h.Reason))
	}
	return nil, wrong("it is halted by operators for several reasons; name each one that ends: %s",
		strings.Join(texts, ", "))
}

const haltHelp = "From then on no replica builds, signs or bumps a transaction, and the signer refuses to sign " +
	"it. Transactions that were sent already are rebroadcast " +
	"until they are in a block. Addresses, deposits and credits continue; withdrawals are accepted and wait.\n\n"

type haltAllCommand struct {
	All bool `required:"" help:"Halt every payment on every chain."`
	begin
	acting
}

// Help returns an example.
func (haltAllCommand) Help() string {
	return haltHelp + "Example:\n\n    bursar halt --all --reason 'the hot wallet's key may be leaked'"
}

// Run halts everything.
func (cmd *haltAllCommand) Run(ctx context.Context, c *call) error {
	return c.halt(ctx, store.HaltAll, cmd.begin)
}

type resumeCommand struct {
	All bool `required:"" help:"End the halt of everything."`
	end
	acting
}

// Help returns an example.
func (resumeCommand) Help() string {
	return "Ends the halt of `bursar halt --all`, but no halt of a chain, a currency or an account.\n\nExample:\n\n    " +
		"bursar resume --all"
}

// Run ends the halt of everything.
func (cmd *resumeCommand) Run(ctx context.Context, c *call) error {
	return c.resume(ctx, store.HaltAll, cmd.end, store.HaltByOperator)
}

type currencyHaltCommand struct {
	Code bursar.CurrencyCode `arg:"" help:"The currency, such as USDT."`
	begin
	acting
}

// Help returns an example.
func (currencyHaltCommand) Help() string {
	return haltHelp + "Example:\n\n    bursar currency halt USDT --reason 'its issuer froze the hot wallet'"
}

// Run halts a currency.
func (cmd *currencyHaltCommand) Run(ctx context.Context, c *call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	if _, err := cfg.Registry.Get(cmd.Code); err != nil {
		return wrong("there is no currency %s", cmd.Code)
	}
	return c.halt(ctx, store.HaltCurrency(cmd.Code), cmd.begin)
}

type currencyResumeCommand struct {
	Code bursar.CurrencyCode `arg:"" help:"The currency, such as USDT."`
	end
	acting
}

// Help returns an example.
func (currencyResumeCommand) Help() string {
	return "Ends the halt of `bursar currency halt`, and a halt because a token delivered less than was paid or " +
		"swept, whose alarms are closed. If the token still delivers less, the next payment halts the currency " +
		"again.\n\n" +
		"Example:\n\n    bursar currency resume USDT"
}

// Run ends a currency's halt.
func (cmd *currencyResumeCommand) Run(ctx context.Context, c *call) error {
	return c.resume(ctx, store.HaltCurrency(cmd.Code), cmd.end, store.HaltByOperator, store.HaltByShortPayout)
}

// halt records an operator's halt and notifies a remote signer.
func (c *call) halt(ctx context.Context, scope store.HaltScope, b begin) error {
	if strings.TrimSpace(b.Reason) == "" {
		return wrong("--reason is empty: give a reason")
	}
	db, cfg, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	h := store.Halt{Scope: scope, Kind: store.HaltByOperator, Reason: b.Reason, Actor: b.Name()}
	if err := db.Do(ctx, func(tx *store.Tx) error { return tx.Halts().Put(ctx, h) }); err != nil {
		return err
	}
	c.haltSigner(ctx, cfg, db)
	return c.Done(actFacts{"scope": scope, "kind": h.Kind, "endBy": h.Remedy()}, "%s; end it with %s", h, h.Remedy())
}

// sayResumed reports which halts ended and which did not.
func (c *call) sayResumed(scope store.HaltScope, before, left []store.Halt) error {
	if len(before) == 0 {
		return c.Say("%s are not halted", scope)
	}
	for _, h := range before {
		stays := slices.ContainsFunc(left, func(other store.Halt) bool { return other.Number == h.Number })
		text, more := "ended: ", ""
		if stays {
			text, more = "still halted: ", "; "+h.Remedy()
		}
		if err := c.Say("%s%s%s", text, h, more); err != nil {
			return err
		}
	}
	if len(left) == 0 {
		return c.Say("%s are resumed", scope)
	}
	return errors.New("the scope is still halted")
}

// haltSigner notifies a remote signer directly, so that it need not wait up to half a second for a replica to do so.
func (c *call) haltSigner(ctx context.Context, cfg config.Config, db *store.DB) {
	if remote, err := service.NotifySigner(ctx, cfg, db); remote && err != nil {
		c.Note("The signer could not be notified immediately: %v. Every running replica notifies it as soon as it answers.",
			err)
	}
}
