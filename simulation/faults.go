package main

import (
	"context"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/replicas"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

// heal ends everything that is wrong with a chain's nodes, and brings back what reorgs dropped.
func (h *history) heal(c *sim.Chain) {
	for _, e := range c.Endpoints() {
		c.Heal(e.Name)
	}
	c.ClearFaults()
	c.HoldFinality(false)
	id := c.Capabilities().ID
	for _, txID := range h.dropped[id] {
		if !slices.Contains(h.gone, txID) {
			c.Restore(txID)
		}
	}
	h.dropped[id] = nil
	for _, txID := range h.externals[id] {
		if c.Dropped(txID) {
			c.Restore(txID) // anyone who has the bytes broadcasts it again
		}
	}
}

func (h *history) nodeFault(e Event) {
	methods := []sim.Method{sim.Head, sim.After, sim.Build, sim.Quote, sim.Holdings, sim.Expired, sim.Broadcast}
	h.chain(e.A).Fail(methods[int(e.B)%len(methods)], 1+int(e.C%3), nil)
}

// lose makes a node lose what it is sent, or everything that it was sent.
func (h *history) lose(e Event) {
	c := h.chain(e.A)
	switch e.B % 4 {
	case 0:
		for _, txID := range c.Forget() {
			if slices.Contains(h.outsides[c.Capabilities().ID], txID) {
				h.dropped[c.Capabilities().ID] = append(h.dropped[c.Capabilities().ID], txID) // its sender repeats it
			}
		}
	case 1:
		c.FailBroadcasts(sim.LostSilently, 1+int(e.C%4))
	case 2:
		c.FailBroadcasts(sim.LostUnknown, 1+int(e.C%3))
	default:
		c.FailBroadcasts(sim.TakenUnknown, 1+int(e.C%3))
	}
}

// lag makes an endpoint show an older chain, or be down.
func (h *history) lag(e Event) {
	c := h.chain(e.A)
	name := c.Endpoints()[e.B%3].Name
	switch e.C % 4 {
	case 0:
		c.Behind(name, 1+int(e.C>>8%5))
	case 1:
		c.Freeze(name, true)
	case 2:
		c.Down(name, true)
	default:
		c.Rotate(e.C>>8%2 == 0)
	}
}

// lie makes an endpoint report a payment that does not exist, in a currency that requires two opinions. It is the
// same endpoint each time, because two endpoints with the same lie would satisfy the requirement.
func (h *history) lie(e Event) {
	for _, w := range h.wallets {
		if w.currency.CreditQuorum.Endpoints < 2 {
			continue
		}
		c := h.Chain(w.currency.Chain)
		at := height(c)
		if !h.lied {
			h.lied, h.liar = true, int(e.B%3)
		}
		c.Forge(c.Endpoints()[h.liar].Name, at,
			chain.Payment{Address: w.address, Contract: w.currency.Contract, Amount: bursar.Units(replicas.Unit)})
		h.log("  endpoint %d forges a payment at %d", h.liar, at)
		return
	}
}

// outsider makes the receiver of a withdrawal refuse payments, or accept them again, on chains where that is
// possible.
func (h *history) outsider(e Event) {
	if len(h.orders) == 0 {
		return
	}
	o := h.orders[int(e.A)%len(h.orders)]
	if o.inside != nil {
		return
	}
	if c := h.Chain(o.currency.Chain); e.B%2 == 0 {
		c.Close(o.to.Base)
	} else {
		c.Open(o.to.Base)
	}
}

// reorg replaces blocks, and leaves out some external payments and some outgoing transactions.
func (h *history) reorg(e Event) {
	c := h.chain(e.A)
	id := c.Capabilities().ID
	depth := 1 + int(e.B%2)
	if e.Do == "deep" {
		depth = 3 + int(e.B%8)
	}
	at := height(c)
	if e.Do == "bottom" {
		depth = int(at) // the block that was followed first is replaced too
	}
	if depth < 1 || uint64(depth) > at {
		return
	}
	theirs := h.within(c, depth, h.outsides[id], e.C)
	var signed []string
	for _, s := range h.Signed {
		if s.Chain == id {
			signed = append(signed, s.TxID)
		}
	}
	ours := h.within(c, depth, signed, e.C>>8)
	c.Reorg(depth, append(theirs, ours...)...)
	h.dropped[id] = append(h.dropped[id], theirs...)
	if h.reorged = true; h.unruly {
		h.gone = append(h.gone, "what a token let through once, and does not any more")
	}
	h.log("  %d blocks replaced without %v and %v", depth, theirs, ours)
}

// stuck keeps everything that pays a usual fee out of blocks until the fee rate falls or the chain heals, and what
// waited comes back then.
func (h *history) stuck(e Event) {
	h.chain(e.A).SetRate(1 << 18)
	h.log("  nothing is confirmed for a while")
}

// jump advances the clock of the harness, or that of one process, by hours or days, and may set that of a process
// back.
func (h *history) jump(e Event) {
	switch by := time.Hour +
		time.Duration(e.B%120)*time.Minute; e.C % 3 { // a wrong clock prolongs the reservation of an idempotency key
	case 0:
		h.Clock.Advance(24 * by)
	case 1:
		h.process(e.A).Skew = by
	default:
		h.process(e.A).Skew = -by
	}
}

// within selects about a third of the transactions in the last blocks.
func (h *history) within(c *sim.Chain, depth int, txIDs []string, choice uint32) (some []string) {
	at := height(c)
	for i, id := range txIDs[max(0, len(txIDs)-30):] {
		ref, err := c.Find(context.Background(), id)
		if err == nil && ref.Height+uint64(depth) > at && (choice>>(i%24))%3 == 0 {
			some = append(some, id)
		}
	}
	return some
}
