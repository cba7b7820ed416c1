package replicas

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/store"
)

// Process is one replica of the service. Everything in its memory is lost when it dies.
type Process struct {
	Name    string
	Service *service.Service
	// Skew is the difference between its clock and the right time.
	Skew time.Duration

	harness *Harness
	db      *store.DB
	handler http.Handler
	leases  map[bursar.ChainID]store.Lease // the leases that it believes to hold
	ends    map[bursar.ChainID]func()      // of the leases
	holder  string
	killed  bool
	keys    *bursartest.CachedKeys
}

// Start starts a process. No two live processes have the same name.
func (w *Harness) Start(name string) (*Process, error) {
	p := &Process{Name: name, harness: w, leases: map[bursar.ChainID]store.Lease{}, ends: map[bursar.ChainID]func(){},
		keys: w.keys}
	w.started++
	p.holder = fmt.Sprintf("%s %d", name, w.started)
	p.db = w.DB.As(p.now, w.Scheduler.hooks(p))
	signs, err := p.signer()
	if err != nil {
		return nil, err
	}
	parts := service.Parts{
		DB:       p.db,
		Keys:     p.keys,
		Signer:   signs,
		Registry: w.Registry,
		Holder:   p.holder,
		Marks:    w.machine(name),
		Network:  "",

		SoleSigner: w.Rotates,
		Screening:  w.screening(),
		TestHooks: service.TestHooks{
			Random:    w.random,
			Clock:     p.now,
			Receivers: w.Receivers,
			Spread:    func(n int64) int64 { return n / 2 },
		},
	}
	if w.Records != nil {
		parts.Log = slog.New(w.Records)
	}
	start := uint64(1)
	for _, c := range w.Chains {
		parts.Chains = append(parts.Chains, service.ChainPart{Chain: node{addressed{c, p.keys}, p}, Start: &start,
			MaxFee: bursar.Units(maxFee)})
	}
	if p.Service, err = service.New(parts); err != nil {
		return nil, err
	}
	if err := p.begin(context.Background()); err != nil {
		return nil, fmt.Errorf("compare the database with the marks: %w", err)
	}
	if err := p.Service.BeginEpochs(context.Background()); err != nil {
		return nil, err
	}
	p.handler = p.Service.Handler()
	w.Processes = append(w.Processes, p)
	return p, nil
}

// begin compares the database with the marks, as a process does before anything else. A machine without marks is
// joined first, as an operator does.
func (p *Process) begin(ctx context.Context) error {
	err := p.Service.Guard.Start(ctx)
	if !errors.Is(err, marks.ErrMissing) {
		return err
	}
	if err := p.Service.Guard.Join(ctx); err != nil {
		return err
	}
	return p.Service.Guard.Start(ctx)
}

func (p *Process) now() time.Time { return p.harness.Clock.Now().Add(p.Skew) }

// Kill ends the process at its present point. Its suspended tasks end at the scheduler's next tick.
func (p *Process) Kill() { p.killed = true }

// Killed reports whether the process has ended.
func (p *Process) Killed() bool { return p.killed }

// Do runs an action of the process as a task. It does nothing while a task of the same name is suspended: each worker
// has one goroutine.
func (p *Process) Do(name string, interrupts []Interrupt, f func(ctx context.Context) error) (outcome string) {
	if p.killed || p.harness.Scheduler.Suspended(p, name) {
		return "busy"
	}
	outcome = "unknown"
	p.harness.Scheduler.Run(&Task{Name: name, Process: p, Interrupts: slices.Clone(interrupts)}, func() {
		err := f(context.Background())
		if outcome = "ok"; err != nil {
			outcome = err.Error()
		}
	})
	return outcome
}

// TakeLease gives the process the lease of a chain, whichever process holds it.
func (p *Process) TakeLease(ctx context.Context, id bursar.ChainID) error {
	var lease store.Lease
	taken := false
	err := p.db.Do(ctx, func(tx *store.Tx) (err error) {
		if err := tx.Chains().Ensure(ctx, id); err != nil {
			return err
		}
		lease, taken, err = tx.Leases().Acquire(ctx, id, p.holder,
			-time.Second) // which expires at once, whether its holder notices or not
		return err
	})
	if err != nil || !taken {
		return err
	}
	if end := p.ends[id]; end != nil {
		end()
		delete(p.ends, id)
	}
	end, err := p.Service.Guard.BeginLease(ctx, id)
	if err != nil {
		return err
	}
	p.leases[id], p.ends[id] = lease, end
	return p.harness.led(id, p.keys.Epoch())
}

// CompareMarks makes the process compare the database with the marks, as it does every few seconds.
func (p *Process) CompareMarks(ctx context.Context) error { return p.Service.Guard.Compare(ctx) }

// Change runs f in a transaction of the process.
func (p *Process) Change(ctx context.Context, f func(tx *store.Tx) error) error {
	return p.db.Do(ctx, f)
}

// HoldsLease reports whether the process believes that it holds the lease of a chain.
func (p *Process) HoldsLease(id bursar.ChainID) bool {
	_, leads := p.leases[id]
	return leads && !p.killed
}

// Worker names one of the workers of a chain.
type Worker string

// The workers.
const (
	Follower Worker = "follower"
	Sender   Worker = "spender"
	Sweeper  Worker = "sweeper"
	Quorum   Worker = "opinions"

	Screening Worker = "screening" // where something is screened
)

// Step makes a step of a worker under the lease that the process got last, whether that is still valid or not.
func (p *Process) Step(ctx context.Context, c *sim.Chain, worker Worker) error {
	id := c.Capabilities().ID
	lease, workers := p.leases[id], p.Service.Workers(id)
	switch worker {
	case Follower:
		for range 8 {
			if more, err := workers.Follower.Step(ctx, lease); err != nil || !more {
				return err
			}
		}
		return nil
	case Sender:
		return workers.Sender.Step(ctx, lease)
	case Sweeper:
		return workers.Sweeper.Step(ctx, lease)
	case Screening:
		if workers.Screener == nil {
			return nil
		}
		_, err := workers.Screener.Step(ctx, lease)
		return err
	}
	_, err := workers.Follower.Quorum.Step(ctx, lease)
	return err
}

// Request is a request of a customer to the API.
type Request struct {
	Customer     Customer
	Method, Path string
	Key          string // Idempotency-Key; may be empty
	Body         string
}

// Answer is the API's answer.
type Answer struct {
	Status int
	Body   []byte
}

// Ask makes the process answer a request.
func (p *Process) Ask(ctx context.Context, r Request) (Answer, error) {
	req, err := http.NewRequestWithContext(ctx, r.Method, "/api/v1/"+r.Path, strings.NewReader(r.Body))
	if err != nil {
		return Answer{}, err
	}
	req.RemoteAddr = "192.0.2.1:1234"
	req.Header.Set("X-API-KEY", r.Customer.Key)
	if r.Customer.Secret != "" {
		req.Header.Set("X-API-SECRET", r.Customer.Secret)
	}
	if r.Body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.Key != "" {
		req.Header.Set("Idempotency-Key", r.Key)
	}
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	p.handler.ServeHTTP(w, req)
	return Answer{w.status, w.body.Bytes()}, nil
}

// recorder keeps an answer.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header            { return r.header }
func (r *recorder) WriteHeader(status int)         { r.status = status }
func (r *recorder) Write(part []byte) (int, error) { return r.body.Write(part) }
