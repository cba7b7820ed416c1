package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/replicas"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

// act runs one event.
func (h *history) act(e Event) {
	do, known := actions[e.Do]
	if !known {
		h.fail(fmt.Errorf("unknown action %q", e.Do))
		return
	}
	do(h, e)
}

var actions = map[string]func(*history, Event){
	"wallet":   func(h *history, e Event) { h.newWallet(e, false) },
	"charge":   func(h *history, e Event) { h.newWallet(e, true) },
	"deposit":  (*history).deposit,
	"stray":    (*history).stray,
	"capital":  (*history).operatorFunds,
	"withdraw": (*history).withdraw,
	"inside":   (*history).inside,
	"again":    (*history).again,
	"mine":     func(h *history, e Event) { h.chain(e.A).Mine(1 + int(e.B%3)) },
	"time":     func(h *history, e Event) { h.Clock.Advance(time.Duration(e.A%600) * time.Second) },
	"step":     (*history).oneStep,
	"round":    (*history).round,
	"hooks":    func(h *history, e Event) { h.hooks(h.process(e.A), e.Interrupts) },
	"look":     (*history).look,
	"audit":    (*history).audit,
	"lead":     func(h *history, e Event) { h.takeLease(e.A, h.chain(e.B)) },
	"restart":  (*history).restart,
	"skew":     func(h *history, e Event) { h.process(e.A).Skew = time.Duration(int(e.B%7200)-3600) * time.Second },
	"approve":  (*history).decide,
	"reject":   (*history).decide,
	"cancel":   (*history).decide,
	"assign":   (*history).resolve,
	"return":   (*history).resolve,
	"keep":     (*history).resolve,
	"recall":   (*history).resolve,
	"reorg":    (*history).reorg,
	"deep":     (*history).reorg,
	"bottom":   (*history).reorg,
	"stuck":    (*history).stuck,
	"jump":     (*history).jump,
	"rate":     func(h *history, e Event) { h.chain(e.A).SetRate([]uint64{5, 10, 10, 20, 40}[e.B%5]) },
	"node":     (*history).nodeFault,
	"lose":     (*history).lose,
	"lag":      (*history).lag,
	"lie":      (*history).lie,
	"still":    func(h *history, e Event) { h.chain(e.A).HoldFinality(e.B%2 == 0) },
	"heal":     func(h *history, e Event) { h.heal(h.chain(e.A)) },
	"receiver": (*history).outsider,
	"halt":     (*history).halt,
	"gone":     (*history).doubleSpend,
	"token":    (*history).token,
	"external": (*history).external,
	"edit":     (*history).edit,
	"backup":   (*history).backup,
	"restore":  (*history).restore,
	"failover": (*history).restore,
	"switch":   (*history).restore,
	"treasury": (*history).treasury,
	"signer":   func(h *history, e Event) { h.SignerAway = e.A%2 == 0 },
}

// deposit pays a wallet in its currency, now and then less than the minimum.
func (h *history) deposit(e Event) {
	if len(h.wallets) == 0 {
		return
	}
	w := h.wallets[int(e.A)%len(h.wallets)]
	amount := 1000 + uint64(e.B)%(5*replicas.Unit)
	if e.C%10 == 0 {
		amount = 1 + uint64(e.B%999)
	}
	h.pay(h.Chain(w.currency.Chain), w.address, w.currency.Contract, amount)
}

// stray pays what fits no wallet: another currency of the chain to a wallet's address, or an unknown tag.
func (h *history) stray(e Event) {
	currency := h.currency(e.A)
	c := h.Chain(currency.Chain)
	to := bursar.Address{Base: h.Hot(currency.Chain).Base}
	switch {
	case c.Capabilities().SharedAddress:
		to.HasMemo, to.Memo = e.B%2 == 0, 1<<30+e.C%2*e.B
		if !to.HasMemo {
			to.Memo = 0
		}
	case len(h.wallets) > 0:
		w := h.wallets[int(e.B)%len(h.wallets)]
		if w.currency.Chain != currency.Chain || w.currency.Code == currency.Code {
			return
		}
		to = w.address
	default:
		return
	}
	h.pay(c, to, currency.Contract, 1000+uint64(e.C)%(2*replicas.Unit))
}

// operatorFunds pays the operator's own money to the hot wallet address, where it counts as operator funds.
func (h *history) operatorFunds(e Event) {
	currency := h.currency(e.A)
	c := h.Chain(currency.Chain)
	h.pay(c, bursar.Address{Base: h.Hot(currency.Chain).Base}, currency.Contract,
		replicas.Unit+uint64(e.B)%(4*replicas.Unit))
}

// again repeats a request whose outcome its customer does not know.
func (h *history) again(e Event) {
	if len(h.open) > 0 {
		h.send(e.A, h.open[int(e.B)%len(h.open)], e.Interrupts)
	}
}

var workers = []replicas.Worker{replicas.Follower, replicas.Follower, replicas.Sender, replicas.Sender,
	replicas.Sweeper, replicas.Opinions}

// oneStep makes a step of a worker of the process that holds the chain lease, now and then of one that has lost it.
func (h *history) oneStep(e Event) {
	c := h.chain(e.A)
	p := h.leaseHolder(c)
	if e.B%6 == 0 {
		if other := h.process(e.B >> 8); other.HoldsLease(c.Capabilities().ID) {
			p = other
		}
	}
	if h.Screens() && e.C>>8%4 == 0 {
		h.step(p, c, replicas.Screening, e.Interrupts)
	}
	h.step(p, c, workers[int(e.C)%len(workers)], e.Interrupts)
}

// round makes the process that holds the chain lease do everything that is due once.
func (h *history) round(e Event) {
	c := h.chain(e.A)
	h.screens(h.leaseHolder(c), c)
	for _, worker := range []replicas.Worker{replicas.Follower, replicas.Opinions, replicas.Sender,
		replicas.Sweeper} {
		h.step(h.leaseHolder(c), c, worker, e.Interrupts)
	}
}

// audit makes a process do a step of the audit of the books.
func (h *history) audit(e Event) {
	p := h.process(e.A)
	outcome := p.Do("audit", e.Interrupts, func(ctx context.Context) error {
		_, err := p.Service.Auditor.Step(ctx)
		return err
	})
	if outcome != "ok" {
		h.log("  %s audits: %s", p.Name, outcome)
	}
}

// look makes a process compare the database with the marks outside it.
func (h *history) look(e Event) {
	p := h.process(e.A)
	if outcome := p.Do("look", e.Interrupts, p.CompareMarks); outcome != "ok" {
		h.log("  %s looks: %s", p.Name, outcome)
	}
}

func (h *history) restart(e Event) {
	h.process(e.A).Kill()
	h.Scheduler.Tick()
	h.process(e.A)
}

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
