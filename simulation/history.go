package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/replicas"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// Setting is the environment of a history.
type Setting struct {
	Template *replicas.Template
	DB       *store.DB // nil: in memory
	Print    io.Writer // receives the log as it is written; nil: discarded
	Service  io.Writer // receives what the service logs; nil: discarded
	Record   bool      // sum up every event with each row that it changed
}

// Result is the result of a history.
type Result struct {
	Hash  string // of the whole log
	Lines int
	Err   error // the first failure
	Paid  int   // withdrawals that were paid

	Stolen int // external spends
	Epochs int // that began

	Sums []string // of each event, and of each round in which the history came to rest
}

// history is a harness with what its customers, payers and operator know of it.
type history struct {
	*replicas.Harness
	ctx     context.Context
	hash    hash.Hash
	print   io.Writer
	lines   int
	failure error
	record  *record // nil: not recorded

	wallets   []*wallet
	orders    []*order
	open      []*request           // whose outcome their customer does not know
	given     map[string]bursar.ID // wallet by address
	requests  int
	outsides  map[bursar.ChainID][]string // external payments that a reorg may drop
	dropped   map[bursar.ChainID][]string
	assigned  map[string]int                  // customer by deposit that an operator assigned
	decided   []bursar.Deposit                // unattributed ones, at the end
	held      map[bursar.ID]bursar.Resolution // refunds that were held and cancelled, by deposit
	below     []bursar.ID
	gone      []string        // payments that were double-spent
	final     map[string]bool // transactions that were in a final block once
	scanned   scans
	covered   map[bursar.ChainID]int64  // sum of the changes when the books and the chain last agreed
	lied      bool                      // a node reported a payment that does not exist
	liar      int                       // that node
	highest   map[bursar.ChainID]uint64 // final heights that nodes have reported
	unruly    bool                      // a token has misbehaved: a payment in a block that is made again may fail there
	reorged   bool                      // blocks were replaced
	halted    []store.HaltScope         // halted by command when the present event began
	signed    int                       // how many transactions were signed then
	putBack   map[bursar.ID]bool        // what a recovery was to put back then
	edited    *edit                     // what was edited in the database
	stolen    int
	externals map[bursar.ChainID][]string
	images    []image
	restored  int
	undone    map[bursar.ID]int  // withdrawals whose cancellation was lost with a database
	lost      map[bursar.ID]bool // wallets that the database has forgotten, at the end
	resting   bool
	drawn     []*drawn // withdrawals of the treasury
	paced     int      // how many transactions were counted for the hourly limits
	flows     map[flow][]*outflow
}

// wallet is a wallet or the address of a charge, as its customer knows it.
type wallet struct {
	id       bursar.ID
	customer int
	currency bursar.Currency
	address  bursar.Address
	hook     string
	number   int
}

// order is a withdrawal as its customer knows it.
type order struct {
	id       bursar.ID
	customer int
	currency bursar.Currency
	amount   bursar.Amount
	fee      bursar.Amount
	to       bursar.Address
	inside   *wallet // of another customer; nil: an external address, which this withdrawal alone pays
}

// request is a customer's request, repeated until there is an answer.
type request struct {
	replicas.Request
	customer int
	then     func(replicas.Answer)
	done     []byte // the answer when it was carried out, and then was called
	restored int    // how many older databases had taken over then
}

// run runs a plan, lets it come to rest, and evaluates it.
func run(p Plan, s Setting) (result Result) {
	h := &history{ctx: context.Background(), hash: sha256.New(), print: s.Print, given: map[string]bursar.ID{},
		flows: map[flow][]*outflow{}, final: map[string]bool{}, scanned: scans{}, highest: map[bursar.ChainID]uint64{},
		externals: map[bursar.ChainID][]string{}, outsides: map[bursar.ChainID][]string{},
		dropped: map[bursar.ChainID][]string{}, assigned: map[string]int{}, undone: map[bursar.ID]int{},
		held: map[bursar.ID]bursar.Resolution{}}
	config := replicas.Config{Seed: p.Seed, Kinds: p.Kinds, Template: s.Template, DB: s.DB, Log: h.log,
		Rotates: p.rotates()}
	if s.Service != nil {
		config.Records = newRecords(s.Service, h.log)
	}
	if s.Record {
		h.record = newRecord()
		config.Asked = h.log
	}
	harness, err := replicas.New(h.ctx, config)
	if err != nil {
		return Result{Err: err}
	}
	h.Harness = harness
	h.run(p)
	h.fail(harness.Close())
	result = Result{Hash: hex.EncodeToString(h.hash.Sum(nil)), Lines: h.lines, Err: h.failure, Stolen: h.stolen,
		Epochs: int(h.Epoch())}
	if h.record != nil {
		result.Sums = h.record.sums
	}
	for _, o := range h.orders {
		if o.inside == nil && !h.Chain(o.currency.Chain).Balance(o.to.Base, o.currency.Contract).IsZero() {
			result.Paid++
		}
	}
	return result
}

func (h *history) run(p Plan) {
	h.start(0)
	h.start(1)
	for _, c := range h.Chains {
		h.takeLease(0, c)
	}
	for i, e := range p.Events {
		if h.failure != nil {
			return
		}
		h.log("%d %s", i, e)
		h.Scheduler.Tick()
		if p.fails(i) {
			h.backup(e) // as far as the other server got it
		}
		h.noteHalts()
		h.act(e)
		h.observe(i)
		h.sum()
	}
	if h.failure == nil {
		h.rest()
	}
	if h.failure == nil {
		h.fail(h.evaluate())
	}
	if h.failure != nil {
		h.log("FAILED: %v", h.failure)
	}
}

func (h *history) log(format string, args ...any) {
	line := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " ") + "\n"
	h.lines++
	io.WriteString(h.hash, line)
	if h.record != nil {
		io.WriteString(h.record.event, line)
	}
	if h.print != nil {
		io.WriteString(h.print, line)
	}
}

// fail records the first failure.
func (h *history) fail(err error) {
	if h.failure == nil && err != nil {
		h.failure = err
	}
}

// start replaces a dead process by a new one.
func (h *history) start(i int) {
	p, err := h.Start(fmt.Sprint("p", i))
	if err != nil {
		h.fail(fmt.Errorf("start a process: %w", err))
		return
	}
	if last := len(h.Processes) - 1; i < last {
		h.Processes[i], h.Processes = p, h.Processes[:last]
	}
}

// process returns a live process.
func (h *history) process(n uint32) *replicas.Process {
	i := int(n % 2)
	if h.Processes[i].Killed() {
		h.start(i)
		h.log("  p%d is started", i)
	}
	return h.Processes[i]
}

// leaseHolder returns the process that holds a chain's lease, as far as it knows.
func (h *history) leaseHolder(c *sim.Chain) *replicas.Process {
	for i := range h.Processes {
		if p := h.process(uint32(i)); p.HoldsLease(c.Capabilities().ID) {
			return p
		}
	}
	p := h.takeLease(0, c)
	if !p.HoldsLease(c.Capabilities().ID) && !p.Heard() { // a process of a later epoch has led, and ended
		h.hear(Event{})
		p = h.takeLease(0, c)
	}
	return p
}

func (h *history) takeLease(n uint32, c *sim.Chain) *replicas.Process {
	p := h.process(n)
	if outcome := p.Do("lead", nil, func(ctx context.Context) error {
		return p.TakeLease(ctx, c.Capabilities().ID)
	}); outcome != "ok" {
		h.log("  %s does not lead %s: %s", p.Name, c.Capabilities().ID, outcome)
	}
	return p
}

func (h *history) chain(n uint32) *sim.Chain { return h.Chains[int(n)%len(h.Chains)] }

// customer returns one of the customers.
func (h *history) customer(n uint32) int { return int(n) % len(h.Template.Customers) }

func (h *history) currency(n uint32) bursar.Currency {
	all := h.Registry.All()
	return all[int(n)%len(all)]
}

// step makes a step of a worker.
func (h *history) step(
	p *replicas.Process, c *sim.Chain, worker replicas.Worker, interrupts []replicas.Interrupt,
) {
	name := fmt.Sprintf("%s %s", worker, c.Capabilities().ID)
	if worker == replicas.Quorum {
		name = fmt.Sprintf("%s %s", replicas.Follower, c.Capabilities().ID) // they share what they have in memory
	}
	outcome := p.Do(name, interrupts, func(ctx context.Context) error { return p.Step(ctx, c, worker) })
	if outcome != "ok" {
		h.log("  %s %s %s: %s", p.Name, worker, c.Capabilities().ID, outcome)
	}
}

// hooks makes a process deliver what is due.
func (h *history) hooks(p *replicas.Process, interrupts []replicas.Interrupt) {
	outcome := p.Do("hooks", interrupts, func(ctx context.Context) error { return p.Service.Deliverer.Step(ctx) })
	if outcome != "ok" {
		h.log("  %s hooks: %s", p.Name, outcome)
	}
}

// pay makes external payments, and remembers that a reorg may drop them.
func (h *history) pay(c *sim.Chain, to bursar.Address, contract string, amount uint64) string {
	id := c.Pay(chain.Payment{Address: to, Contract: contract, Amount: bursar.Units(amount)})
	h.outsides[c.Capabilities().ID] = append(h.outsides[c.Capabilities().ID], id)
	h.log("  %s pays %d %s to %s", id, amount, contract, to)
	return id
}

func height(c *sim.Chain) uint64 {
	_, tip := c.Heights()
	return tip
}
