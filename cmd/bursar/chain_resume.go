package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

type chainHaltCommand struct {
	Chain bursar.ChainID `arg:"" help:"Chain, such as ethereum."`
	begin
	acting
}

// Help returns an example.
func (chainHaltCommand) Help() string {
	return haltHelp + "Example:\n\n    bursar chain halt polygon --reason 'a fork is reported'"
}

// Run halts a chain.
func (cmd *chainHaltCommand) Run(ctx context.Context, c *call) error {
	if err := c.configuredChain(cmd.Chain); err != nil {
		return err
	}
	return c.halt(ctx, store.HaltChain(cmd.Chain), cmd.begin)
}

// configuredChain refuses a chain that is not configured: halting it would have no effect.
func (c *call) configuredChain(id bursar.ChainID) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	if _, on := cfg.Chains[id]; !on {
		return wrong("chain %q is not configured", id)
	}
	return nil
}

type chainResumeCommand struct {
	Chain bursar.ChainID    `arg:"" help:"Chain, such as ethereum."`
	Yes   bool              `help:"Settle the external spends shown."`
	As    store.ExternalUse `enum:"loss,operator" default:"loss" help:"How to book what they took: loss, or operator for a payment of your own from operator funds."`
	end
	acting
}

// Help returns an example.
func (chainResumeCommand) Help() string {
	return "A chain is halted by an operator, or when another program used one of its keys. Find out who did before " +
		"you let the service pay again.\n\nAfter an external spend the command shows what was found, and changes nothing " +
		"without --yes. With --yes, the external spends are settled: the next nonce follows the chain, UTXOs that are " +
		"gone are spent, what they took is booked, and outgoing transactions that can never be included are made again. " +
		"One that the journal of the marks has is put back, and is then what it was signed for. " +
		"External spends must be final.\n\nExample:\n\n    bursar chain resume ethereum --yes --reason 'a test of the old " +
		"wallet'"
}

// maxAlarms bounds how many alarms are searched.
const maxAlarms = 10_000

// resumable are the kinds of halts that an operator can end for a chain.
var resumable = []store.HaltKind{store.HaltByOperator, store.HaltByExternalSpend, store.HaltByExpiredIncluded}

// Run ends a halt, settles the external spends behind it, and closes the alarms that came with it.
func (cmd *chainResumeCommand) Run(ctx context.Context, c *call) error {
	db, _, err := c.database(ctx)
	if err != nil {
		return err
	}
	_, err = chainState(ctx, db, cmd.Chain)
	var found []store.ExternalSpend
	if err == nil {
		err = db.View(ctx, func(tx *store.Tx) error {
			halts, err := tx.Halts().Of(ctx, store.HaltChain(cmd.Chain))
			if err != nil {
				return err
			}
			if _, err := cmd.chosen(halts); err != nil { // before anything is settled
				return err
			}
			found, err = tx.ExternalSpends().List(ctx, cmd.Chain, store.ExternalHalted, 1)
			return err
		})
	}
	if err == nil && len(found) == 0 && len(cmd.Halt) == 0 {
		err = db.Do(ctx, func(tx *store.Tx) error {
			if err := askForNonces(ctx, tx, cmd.Chain); err != nil {
				return err
			}
			return closeAlarms(ctx, tx, cmd.Chain)
		})
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	if len(found) > 0 && len(cmd.Halt) == 0 { // an operator's halt that is named ends alone
		if err := cmd.settle(ctx, c); err != nil {
			return err
		}
	}
	return c.resume(ctx, store.HaltChain(cmd.Chain), cmd.end, resumable...)
}

// settle shows the external spends that halted the chain, and settles them with --yes.
func (cmd *chainResumeCommand) settle(ctx context.Context, c *call) error {
	s, err := c.service(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	book, err := s.Assessor(cmd.Chain)
	if err != nil {
		return mistaken(err)
	}
	state, err := cmd.show(ctx, c, s.DB, book)
	if err != nil {
		return err
	}
	if !cmd.Yes {
		return errors.New("nothing was changed; stop the other use of the key, then settle with --yes")
	}
	answer := recovery.Answer{Rest: cmd.As, Note: cmd.Reason, Actor: cmd.Name()}
	var taken []store.ExternalSpend
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		if state, err = tx.Chains().Lock(ctx, cmd.Chain); err != nil {
			return err
		}
		if taken, err = book.TakeAll(ctx, tx, state.Final, answer); err != nil {
			return err
		}
		return closeAlarms(ctx, tx, cmd.Chain)
	})
	if errors.Is(err, recovery.ErrNotFinal) {
		return fmt.Errorf("%w: wait until it is, and try again; the chain stays halted", err)
	}
	if err != nil {
		return err
	}
	settled := 0
	for _, x := range taken {
		if x.Status == store.ExternalSettled {
			settled++
			continue
		}
		if err := c.Say("external spend %s is unclear: %s; see `bursar recovery status`", x.TxID, x.Reason); err != nil {
			return err
		}
	}
	return c.Say("settled: %d external spends, as %s", settled, cmd.As)
}

// show prints what the external spends did, and which outgoing transactions they replaced.
func (cmd *chainResumeCommand) show(
	ctx context.Context, c *call, db *store.DB, book recovery.Assessor,
) (state store.ChainState, err error) {
	var shown []recovery.Shown
	err = db.View(ctx, func(tx *store.Tx) error {
		if state, err = tx.Chains().State(ctx, cmd.Chain); err != nil {
			return err
		}
		found, err := book.Halting(ctx, tx)
		for _, x := range found {
			one, showErr := book.Show(ctx, tx, x)
			err = errors.Join(err, showErr)
			shown = append(shown, one)
		}
		return err
	})
	if err != nil {
		return state, err
	}
	for _, x := range shown {
		for _, line := range describeExternal(x, state.Final, book) {
			if err := c.Say("%s", line); err != nil {
				return state, err
			}
		}
	}
	return state, nil
}

// describeExternal describes one external spend for an operator.
func describeExternal(x recovery.Shown, final uint64, book recovery.Assessor) (lines []string) {
	where := fmt.Sprintf("in block %d, final", x.Height)
	switch {
	case x.Height == 0:
		where = "in no block: reorged out"
	case x.Height > final:
		where = fmt.Sprintf("in block %d, not final (final: %d)", x.Height, final)
	}
	lines = append(lines, fmt.Sprintf("external spend %s from %s, %s", x.TxID, x.Base, where))
	if x.Failed {
		lines = append(lines, "  it failed, and paid its fee")
	}
	for _, p := range x.Payments {
		lines = append(lines, "  it paid "+book.Describe(p))
	}
	if !x.Fee.IsZero() {
		if native, known := book.Registry.Asset(book.Capabilities.ID, ""); known {
			lines = append(lines, "  fee "+native.Exact(x.Fee)+" "+string(native.Code))
		}
	}
	for _, resource := range x.Resources {
		lines = append(lines, "  it used "+resource)
	}
	for _, p := range x.Conflicting {
		lines = append(lines,
			fmt.Sprintf("  it replaced outgoing transaction %s (%s, %s): its payments are made by another transaction", p.ID,
				p.Kind, p.Status))
	}
	return lines
}

// askForNonces makes the addresses whose nonce was found used ask the chain for the next nonce: no external spend in a
// block says what used it.
func askForNonces(ctx context.Context, tx *store.Tx, id bursar.ChainID) error {
	if _, err := tx.Chains().Lock(ctx, id); err != nil {
		return err
	}
	alarms, err := tx.Alarms().List(ctx, maxAlarms)
	for _, a := range alarms {
		outgoingID, notID := bursar.ParseID(a.Ref)
		if err != nil || a.Chain != id || a.Kind != "external_nonce" || notID != nil {
			continue
		}
		var p bursar.OutgoingTx
		if p, err = tx.Outgoing().Get(ctx, outgoingID); err == nil {
			_, err = tx.Nonces().Forget(ctx, id, p.Base)
		}
	}
	return err
}

// closeAlarms closes the alarms that came with a chain's halt.
func closeAlarms(ctx context.Context, tx *store.Tx, id bursar.ChainID) error {
	alarms, err := tx.Alarms().List(ctx, maxAlarms)
	for _, a := range alarms {
		if a.Chain == id && haltKinds[a.Kind] {
			err = errors.Join(err, tx.Alarms().Resolve(ctx, a.Kind, a.Ref))
		}
	}
	return err
}

// haltKinds are the alarms that halt a chain.
var haltKinds = map[string]bool{"external_spend": true, "external_nonce": true, "abandoned_included": true}

// reasonsOf joins the reasons of halts for a message.
func reasonsOf(halts []store.Halt) string {
	texts := make([]string, len(halts))
	for i, h := range halts {
		texts[i] = fmt.Sprintf("%s (%s)", h.Reason, h.Kind)
	}
	return strings.Join(texts, "; ")
}
