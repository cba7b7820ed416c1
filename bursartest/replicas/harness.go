package replicas

import (
	"context"
	"encoding/binary"
	"log/slog"
	"math/rand/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/remote"
	"github.com/bursar/bursar/store"
)

// Config describes a harness.
type Config struct {
	Seed     uint64
	Kinds    []Kind
	Template *Template
	DB       *store.DB    // filled by NewTemplate; nil: one in memory, with the template's image
	Records  slog.Handler // receives what the service logs; nil: discarded
	Log      func(format string, args ...any)
	Asked    func(format string, args ...any) // receives the calls of processes to nodes and the signer; nil: discarded
	Rotates  bool                             // epochs begin in it
}

// Harness is the whole Bursar with its surroundings. It is used by one goroutine.
type Harness struct {
	Config
	Clock      *clocktest.Clock
	Scheduler  *Scheduler
	DB         *store.DB // for readers from outside: it has no points and the right time
	Chains     []*sim.Chain
	Registry   *bursar.Registry
	Receivers  *Receivers
	Screener   *Screener
	Processes  []*Process
	Marks      map[string]*marks.Memory // by machine: restores and failovers of the database do not affect them
	SignerAway bool                     // the signer does not answer
	Signed     []Signed                 // by any process, in order

	random       *rand.ChaCha8
	keys         *bursartest.CachedKeys
	hot          map[bursar.ChainID]chain.Source
	olds         map[bursar.ChainID][]string
	epoch        chain.Epoch
	memory       memory.Keeper // of all signers, where epochs begin
	started      int
	remoteSigner *remote.Client // the signer that serves all processes, if one does

	unlimited bool      // signers that start from now on have no hourly limits
	first     *store.DB // of the template
}

// New makes a harness in which no process runs yet.
func New(ctx context.Context, c Config) (*Harness, error) {
	w := &Harness{
		Config:    c,
		Clock:     clocktest.New(),
		Scheduler: &Scheduler{},
		keys:      c.Template.cached,
		hot:       map[bursar.ChainID]chain.Source{},
		olds:      map[bursar.ChainID][]string{},
		Marks:     map[string]*marks.Memory{},
	}
	w.Screener = newScreener(w.Clock.Now)
	w.Receivers = &Receivers{harness: w, taken: map[string]*Received{}}
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], c.Seed)
	w.random = rand.NewChaCha8(seed)
	var err error
	if w.DB = c.DB; w.DB == nil {
		if w.first, err = c.Template.take(ctx); err != nil {
			return nil, err
		}
		w.DB = w.first
	}
	w.DB = w.DB.As(w.Clock.Now, store.Hooks{})
	var currencies []bursar.Currency
	for _, kind := range c.Kinds {
		made := sim.New(kind.config(c.Seed, w.Clock.Now))
		w.Chains = append(w.Chains, made)
		currencies = append(currencies, kind.currencies(made)...)
		id := made.Capabilities().ID
		if w.hot[id], err = w.hotAt(chain.Hot(made.Capabilities().Family), id); err != nil {
			return nil, err
		}
	}
	w.Registry, err = bursar.NewRegistry(currencies)
	return w, err
}

// Hot returns the hot wallet address on a chain, as people know it: of the newest epoch in which a process has led.
func (w *Harness) Hot(id bursar.ChainID) chain.Source { return w.hot[id] }

// Chain returns a chain by its ID.
func (w *Harness) Chain(id bursar.ChainID) *sim.Chain {
	for _, c := range w.Chains {
		if c.Capabilities().ID == id {
			return c
		}
	}
	return nil
}

// machine returns what the disk of a process's machine holds besides the database. With every other seed all
// processes run on one machine.
func (w *Harness) machine(process string) *marks.Memory {
	if w.Seed%2 == 0 {
		process = "all"
	}
	if w.Marks[process] == nil {
		w.Marks[process] = &marks.Memory{}
	}
	return w.Marks[process]
}

// Backup returns an image of the database as it is now.
func (w *Harness) Backup(ctx context.Context) ([]byte, error) { return w.DB.Image(ctx) }

// Restore kills every process and replaces the content of the database by that of an image, as a restore of a backup
// does, or a failover to a replica that lags. Processes that are started from then on use it.
func (w *Harness) Restore(ctx context.Context, image []byte) error {
	for _, p := range w.Processes {
		p.Kill()
	}
	return w.StepBack(ctx, image)
}

// StepBack is Restore under processes that keep running, and find an older database at their next statement.
func (w *Harness) StepBack(ctx context.Context, image []byte) error {
	w.Scheduler.Tick()
	return w.DB.Overwrite(ctx, image)
}

// Close ends all processes and gives the database back to its template.
func (w *Harness) Close() error {
	for _, p := range w.Processes {
		p.Kill()
	}
	w.Scheduler.Tick()
	if w.first == nil {
		return nil
	}
	return w.Template.give(context.Background(), w.first)
}
