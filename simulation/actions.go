package main

import (
	"context"
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/replicas"
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
	"epoch":    (*history).beginEpoch,
	"hear":     (*history).hear,
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
	replicas.Sweeper, replicas.Quorum}

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
	for _, worker := range []replicas.Worker{replicas.Follower, replicas.Quorum, replicas.Sender,
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
