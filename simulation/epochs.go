package main

import (
	"math/rand/v2"
	"slices"
)

// rotating is how many seeds there are for one whose history replaces the seed of the wallets.
const rotating = 5

// rotate adds the beginnings of epochs to every fifth plan, at random moments, and moments at which a process hears of
// them. Everything else of the plan stays as it is without them.
func (p *Plan) rotate() {
	if p.Seed%rotating != rotating-1 {
		return
	}
	random := rand.New(rand.NewPCG(p.Seed, 0xe90c5))
	for range 1 + random.IntN(2) {
		for _, do := range []string{"epoch", "hear", "hear"} {
			at := random.IntN(len(p.Events) + 1)
			p.Events = slices.Insert(p.Events, at, Event{Do: do, A: random.Uint32()})
		}
	}
}

// rotates reports whether an epoch begins in the plan.
func (p Plan) rotates() bool {
	return slices.ContainsFunc(p.Events, func(e Event) bool { return e.Do == "epoch" })
}

// beginEpoch begins the next epoch at the signer, as its command does. Processes go on in the one before until they
// hear of it.
func (h *history) beginEpoch(Event) {
	if h.BeginEpoch() {
		h.log("  epoch %d begins", h.Epoch())
	}
}

// hear makes a process hear of the epoch that is in force: it ends and starts again with its keys.
func (h *history) hear(e Event) {
	if p := h.process(e.A); !p.Heard() {
		p.Kill()
		h.Scheduler.Tick()
		h.process(e.A)
		h.log("  p%d is in epoch %d", e.A%2, h.Epoch())
	}
}
