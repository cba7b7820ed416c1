package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/outgoing"
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

// resume ends the halts of a scope that are of some kinds, and reports what else halts it.
func (c *call) resume(ctx context.Context, scope store.HaltScope, e end, kinds ...store.HaltKind) error {
	db, cfg, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	var before, left []store.Halt
	err = db.Do(ctx, func(tx *store.Tx) error {
		if before, err = tx.Halts().Of(ctx, scope); err != nil {
			return err
		}
		if err := endKinds(ctx, tx, scope, e, kinds); err != nil {
			return err
		}
		left, err = tx.Halts().Of(ctx, scope)
		return err
	})
	if err != nil {
		return err
	}
	c.haltSigner(ctx, cfg, db)
	return c.sayResumed(scope, before, left)
}

func endKinds(ctx context.Context, tx *store.Tx, scope store.HaltScope, e end, kinds []store.HaltKind) error {
	if len(e.Halt) > 0 { // what has no ref is not meant
		if !slices.Contains(kinds, store.HaltByOperator) {
			return wrong("--halt names an operator's halt, and none is lifted")
		}
		kinds = []store.HaltKind{store.HaltByOperator}
	}
	for _, kind := range kinds {
		if err := nothingUnsettled(ctx, tx, scope, kind); err != nil {
			return err
		}
		if err := closeShort(ctx, tx, scope, kind); err != nil {
			return err
		}
		if err := endKind(ctx, tx, scope, e, kind); err != nil {
			return err
		}
	}
	return nil
}

// endKind ends the halts of a kind; of an operator's those that are chosen.
func endKind(ctx context.Context, tx *store.Tx, scope store.HaltScope, e end, kind store.HaltKind) error {
	ended := []store.Halt{{}} // all of the kind
	if kind == store.HaltByOperator {
		halts, err := tx.Halts().Of(ctx, scope)
		if err != nil {
			return err
		}
		if ended, err = e.chosen(halts); err != nil {
			return err
		}
	}
	for _, h := range ended {
		if _, err := tx.Halts().End(ctx, store.Halt{
			Number: h.Number,
			Scope:  scope,
			Kind:   kind,
			Reason: e.Reason,
			Actor:  e.Name(),
		}); err != nil {
			return err
		}
	}
	return nil
}

// closeShort closes the alarms of the payments and sweeps whose halts end: an operator has investigated what was not
// delivered.
func closeShort(ctx context.Context, tx *store.Tx, scope store.HaltScope, kind store.HaltKind) error {
	if kind != store.HaltByShortPayout {
		return nil
	}
	halts, err := tx.Halts().Of(ctx, scope)
	for _, h := range halts {
		if h.Kind != kind {
			continue
		}
		if err := tx.Alarms().Resolve(ctx, outgoing.AlarmShort, h.Ref); err != nil {
			return err
		}
	}
	return err
}

// nothingUnsettled refuses to end a halt of an external spend while another is not settled: it may have been recorded
// after the others were shown and settled. The chain stays locked, so that no further one is recorded before the halt
// ends.
func nothingUnsettled(ctx context.Context, tx *store.Tx, scope store.HaltScope, kind store.HaltKind) error {
	name, is := strings.CutPrefix(string(scope), "chain:")
	if !is || kind != store.HaltByExternalSpend {
		return nil
	}
	if _, err := tx.Chains().Lock(ctx, bursar.ChainID(name)); err != nil {
		return err
	}
	left, err := tx.ExternalSpends().List(ctx, bursar.ChainID(name), store.ExternalHalted, maxAlarms)
	if i := slices.IndexFunc(left, func(x store.ExternalSpend) bool { return x.Height > 0 }); err == nil && i >= 0 {
		err = fmt.Errorf("external spend %s was found in the meantime and is not settled; see it with `bursar chain "+
			"resume %s`",
			left[i].TxID, name)
	}
	return err
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
	return errors.New("it is still halted")
}

// haltSigner notifies a remote signer directly, so that it need not wait up to half a second for a replica to do so.
func (c *call) haltSigner(ctx context.Context, cfg config.Config, db *store.DB) {
	if apart, err := service.NotifySigner(ctx, cfg, db); apart && err != nil {
		c.Note("The signer could not be notified immediately: %v. Every running replica notifies it as soon as it answers.",
			err)
	}
}

type haltStatusCommand struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

type listedHalt struct {
	Scope  string    `json:"scope"` // all, chain:<chain>, currency:<code>, account:<id>
	Kind   string    `json:"kind"`
	Ref    string    `json:"ref"` // tells several of one scope and kind apart
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
