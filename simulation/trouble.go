package main

import (
	"context"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// scope returns what an operator may halt.
func (h *history) scope(e Event) store.HaltScope {
	switch e.B % 4 {
	case 0:
		return store.HaltAll
	case 1:
		return store.HaltChain(h.chain(e.C).Capabilities().ID)
	case 2:
		return store.HaltCurrency(h.currency(e.C).Code)
	}
	return store.HaltAccount(h.Template.Customers[h.customer(e.C)].ID)
}

// halt makes an operator halt everything, a chain, a currency or an account, or resume what they halted.
func (h *history) halt(e Event) {
	p, scope := h.process(e.A), h.scope(e)
	outcome := p.Do("halt", e.Interrupts, func(ctx context.Context) error {
		return p.Change(ctx, func(tx *store.Tx) error {
			if e.A>>8%2 == 0 {
				return tx.Halts().Put(ctx, store.Halt{
					Scope:  scope,
					Kind:   store.HaltByOperator,
					Reason: "a test",
					Actor:  "operator",
				})
			}
			_, err := tx.Halts().Lift(ctx, scope, store.HaltByOperator, "")
			return err
		})
	})
	h.log("  halt of %s: %s", string(scope), outcome)
}

// resumeAll ends every halt that a command can end.
func (h *history) resumeAll() {
	h.settleExternal()
	h.fail(h.process(0).Change(h.ctx, func(tx *store.Tx) error {
		halts, err := tx.Halts().List(h.ctx)
		for _, halt := range halts {
			switch halt.Kind {
			case store.HaltByOperator, store.HaltByExpiredIncluded, store.HaltByShortPayout:
				if _, err := tx.Halts().Lift(h.ctx, halt.Scope, halt.Kind, halt.Ref); err != nil {
					return err
				}
				h.log("  resumed %s: %s", string(halt.Scope), halt.Reason)
			}
		}
		return err
	}))
}

// doubleSpend double-spends an external payment that a reorg has dropped: that payment never comes back.
func (h *history) doubleSpend(e Event) {
	c := h.chain(e.A)
	id := c.Capabilities().ID
	if list := h.dropped[id]; len(list) > 0 {
		again := list[int(e.B)%len(list)]
		if _, err := c.Find(h.ctx, again); err == nil {
			return // it came back already
		}
		if c.Capabilities().Model == chain.UTXOModel {
			h.outsides[id] = append(h.outsides[id], c.DoubleSpend(again)) // its sender repeats it
		}
		h.gone = append(h.gone, again)
		h.log("  %s is spent again, and never comes back", again)
	}
}

// token makes a token's contract or issuer misbehave for a while.
func (h *history) token(e Event) {
	currency := h.currency(e.A)
	if !currency.IsToken() {
		return
	}
	c, hot := h.Chain(currency.Chain), h.Hot(currency.Chain).Base
	if h.unruly = true; h.reorged {
		h.gone = append(h.gone, "what was let through once, and is not any more when it comes back")
	}
	switch e.B % 6 {
	case 0:
		c.SetManners(currency.Contract, sim.Manners{Fee: tokenKeeps})
	case 1:
		c.SetManners(currency.Contract, sim.Manners{False: true})
	case 2:
		c.SetManners(currency.Contract, sim.Manners{Paused: true})
	case 3:
		c.FreezeToken(currency.Contract, hot, true)
	case 4:
		if len(h.wallets) > 0 {
			c.FreezeToken(currency.Contract, h.wallets[int(e.C)%len(h.wallets)].address.Base, true)
		}
	default:
		h.calmTokens()
	}
}

// calmTokens ends all misbehaviour of tokens.
func (h *history) calmTokens() {
	for _, currency := range h.Registry.All() {
		if !currency.IsToken() {
			continue
		}
		c := h.Chain(currency.Chain)
		c.SetManners(currency.Contract, sim.Manners{})
		for _, hot := range append(h.Olds(currency.Chain), h.Hot(currency.Chain).Base) {
			c.FreezeToken(currency.Contract, hot, false)
		}
		for _, w := range h.wallets {
			c.FreezeToken(currency.Contract, w.address.Base, false)
		}
	}
}

// backup keeps an image of the database.
func (h *history) backup(Event) {
	if h.DB.Postgres() {
		return // a server has no image
	}
	bytes, err := h.Backup(h.ctx)
	h.fail(err)
	h.images = append(h.images, image{bytes, h.edited})
}

// image is an earlier database, with what had been edited in it.
type image struct {
	bytes  []byte
	edited *edit
}

// restore replaces the database by a backup; a failover does so with a very recent one, and so does a switch under
// processes that keep running.
func (h *history) restore(e Event) {
	if len(h.images) == 0 {
		return
	}
	image := h.images[len(h.images)-1]
	if e.Do == "restore" {
		image = h.images[int(e.A)%len(h.images)]
	}
	before := h.statuses()
	defer func() { h.noteUndone(before) }()
	h.edited = image.edited
	h.restored++
	if e.Do == "switch" {
		h.fail(h.StepBack(h.ctx, image.bytes))
		h.log("  the database is an older one, and nobody was stopped")
		for i := range h.Processes { // as each does within seconds, and before any signature
			h.look(Event{A: uint32(i) + e.B})
		}
		return
	}
	h.fail(h.Restore(h.ctx, image.bytes))
	if e.Do == "restore" { // `bursar restore` records so in the database
		h.fail(h.DB.Do(h.ctx, func(tx *store.Tx) error { return tx.Settings().SetRestored(h.ctx, "then") }))
	}
	for i := range h.Processes {
		h.start(i)
	}
	for _, c := range h.Chains {
		h.takeLease(0, c)
	}
	h.log("  the database is an older one")
}
