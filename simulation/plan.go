package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/bursar/bursar/bursartest/replicas"
)

// Event is one event of a plan. The action decides what its numbers mean; each of them is taken modulo the number of
// choices, so that an event means something in every history, and any subset of a plan is a plan.
type Event struct {
	Do         string               `json:"do"`
	A          uint32               `json:"a,omitempty"`
	B          uint32               `json:"b,omitempty"`
	C          uint32               `json:"c,omitempty"`
	Interrupts []replicas.Interrupt `json:"interrupts,omitempty"`
}

func (e Event) String() string {
	text := fmt.Sprintf("%s %d %d %d", e.Do, e.A, e.B, e.C)
	for _, in := range e.Interrupts {
		text += fmt.Sprintf(" [%s at %d for %d]", in.How, in.At, in.Last)
	}
	return text
}

// Plan is a whole history before it runs.
type Plan struct {
	Seed   uint64          `json:"seed"`
	Why    string          `json:"why,omitempty"` // the failure when it was kept
	Kinds  []replicas.Kind `json:"kinds"`
	Events []Event         `json:"events"`
}

// defaultLength is how many events are planned for a history, besides its prologue.
const defaultLength = 60

// weight is how often an action is planned among a hundred or so, and what may interrupt it.
type weight struct {
	do        string
	often     int
	interrupt bool
	fault     bool // a fault: left out where Faults are off
}

// weights are the actions of a plan.
var weights = []weight{
	{do: "wallet", often: 5, interrupt: true},
	{do: "charge", often: 2, interrupt: true},
	{do: "deposit", often: 12},
	{do: "stray", often: 3},
	{do: "capital", often: 2},
	{do: "withdraw", often: 10, interrupt: true},
	{do: "inside", often: 2, interrupt: true},
	{do: "again", often: 2},
	{do: "mine", often: 16},
	{do: "time", often: 4},
	{do: "step", often: 30, interrupt: true},
	{do: "round", often: 14, interrupt: true},
	{do: "hooks", often: 4, interrupt: true},
	{do: "approve", often: 3, interrupt: true},
	{do: "reject", often: 1, interrupt: true},
	{do: "cancel", often: 2, interrupt: true},
	{do: "assign", often: 2, interrupt: true},
	{do: "return", often: 2, interrupt: true},
	{do: "keep", often: 1, interrupt: true},
	{do: "recall", often: 1},
	{do: "look", often: 2, interrupt: true},
	{do: "audit", often: 2, interrupt: true},
	{do: "lead", often: 3, fault: true},
	{do: "restart", often: 3, fault: true},
	{do: "skew", often: 1, fault: true},
	{do: "reorg", often: 4, fault: true},
	{do: "deep", often: 1, fault: true},
	{do: "rate", often: 2, fault: true},
	{do: "node", often: 3, fault: true},
	{do: "lose", often: 2, fault: true},
	{do: "lag", often: 2, fault: true},
	{do: "lie", often: 2, fault: true},
	{do: "still", often: 1, fault: true},
	{do: "heal", often: 2, fault: true},
	{do: "receiver", often: 1, fault: true},
	{do: "signer", often: 1, fault: true},
	{do: "halt", often: 2, interrupt: true, fault: true},
	{do: "gone", often: 2, fault: true},
	{do: "token", often: 2, fault: true},
	{do: "bottom", often: 1, fault: true},
	{do: "stuck", often: 1, fault: true},
	{do: "jump", often: 1, fault: true},
	{do: "edit", often: 1, fault: true},
	{do: "backup", often: 1, fault: true},
	{do: "restore", often: 1, fault: true},
	{do: "failover", often: 1, fault: true},
	{do: "external", often: 1, fault: true},
	{do: "switch", often: 1, fault: true},
	{do: "treasury", often: 2, interrupt: true},
}

// off are the actions that the service does not withstand yet: no history has them. docs/simulation.md gives the
// reasons.
var off = []string{}

// generate makes the plan of a seed.
func generate(seed uint64, length int) Plan {
	random := rand.New(rand.NewPCG(seed, 0x0b5e55ed))
	p := Plan{Seed: seed}
	kinds := replicas.Kinds()
	random.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	p.Kinds = slices.Sorted(slices.Values(kinds[:1+random.IntN(6)/4+random.IntN(8)/7]))
	p.Events = prologue(random)
	total := 0
	var allowed []weight
	for _, w := range weights {
		if !slices.Contains(off, w.do) {
			allowed = append(allowed, w)
			total += w.often
		}
	}
	for range length {
		n := random.IntN(total)
		for _, w := range allowed {
			if n -= w.often; n < 0 {
				p.Events = append(p.Events, planned(random, w))
				break
			}
		}
	}
	p.rotate()
	return p
}

// prologue gives customers wallets and money, so that later events have an effect.
func prologue(random *rand.Rand) (events []Event) {
	do := func(what string) {
		events = append(events, Event{Do: what, A: random.Uint32(), B: random.Uint32(), C: random.Uint32()})
	}
	for range 4 {
		do("wallet")
	}
	do("capital")
	for range 5 {
		do("deposit")
	}
	for range 3 {
		do("mine")
		do("round")
	}
	do("withdraw")
	do("withdraw")
	return events
}

func planned(random *rand.Rand, w weight) Event {
	e := Event{Do: w.do, A: random.Uint32(), B: random.Uint32(), C: random.Uint32()}
	if w.interrupt && random.IntN(5) == 0 {
		in := replicas.Interrupt{At: 1 + random.IntN(60), How: replicas.Suspend, Last: 1 + random.IntN(8)}
		if random.IntN(3) == 0 {
			in.At = 1 + random.IntN(8)
		}
		switch random.IntN(4) {
		case 0:
			in.How = replicas.Kill
		case 1:
			in.How = replicas.Refuse
		}
		e.Interrupts = append(e.Interrupts, in)
	}
	return e
}

// fails reports whether an event is the last one that the server of a coming failover knows of.
func (p Plan) fails(i int) bool {
	for behind := range 6 {
		if at := i + behind; at < len(p.Events) && slices.Contains([]string{"failover", "switch"}, p.Events[at].Do) &&
			int(p.Events[at].A%6) == behind {
			return true
		}
	}
	return false
}

// read reads a plan that was kept.
func read(file string) (p Plan, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(text, &p)
}

// keep writes a plan, one event to a line.
func (p Plan) keep(file string) error {
	head, err := json.Marshal(Plan{Seed: p.Seed, Why: p.Why, Kinds: p.Kinds, Events: []Event{}})
	if err != nil {
		return err
	}
	text := string(head[:len(head)-2])
	for i, e := range p.Events {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if i > 0 {
			text += ","
		}
		text += "\n" + string(line)
	}
	return os.WriteFile(file, []byte(text+"\n]}\n"), 0o644)
}
