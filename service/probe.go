package service

import (
	"context"
	"errors"
	"hash/fnv"
	"sync"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/config"
)

// Probed is what came of reading one block through one endpoint, by the very path that the follower takes.
type Probed struct {
	Endpoint string
	Height   uint64
	Ref      chain.BlockRef
	Time     time.Time
	Took     time.Duration
	Calls    uint64 // that the endpoint was asked, a batch being one; 0 where the adapter does not count them

	Transactions int // that the adapter asked about: those that it understood
	Addresses    int // of those, the payable ones that it saw
	Transfers    int // to the sampled ones among them
	Anomalies    []chain.Anomaly
	Skipped      bool  // there is no block at this height, as in a slot without one
	Err          error // why the block cannot be read; nil where it can
}

// ErrNoProbe is returned for a chain whose adapter reads no single endpoint.
var ErrNoProbe = errors.New("this version cannot read one endpoint of the chain alone")

// Prober reads blocks of one chain through its endpoints, one by one. It needs neither a database nor a seed.
type Prober struct {
	reader chain.EndpointReader
	blocks chain.Blocks
	counts talkative // nil where the adapter counts nothing
}

// NewProber makes the prober of a configured chain. It asks no node, but for a private chain's id.
func NewProber(ctx context.Context, cfg config.Config, id bursar.ChainID, opts Options) (*Prober, error) {
	opts = opts.withDefaults()
	registry, err := usable(cfg)
	if err != nil {
		return nil, err
	}
	part, err := connector{network: cfg.Network, registry: registry, log: opts.Log}.connect(ctx, cfg.Chains[id])
	if err != nil {
		return nil, err
	}
	return proberOf(part.Chain)
}

func proberOf(c chain.Chain) (*Prober, error) {
	reader, can := c.(chain.EndpointReader)
	if !can {
		return nil, ErrNoProbe
	}
	counts, _ := c.(talkative)
	return &Prober{reader, c, counts}, nil
}

// calls is how many an endpoint has been asked so far.
func (p *Prober) calls(endpoint string) uint64 {
	if p.counts == nil {
		return 0
	}
	for _, e := range p.counts.Stats() {
		if e.Name == endpoint {
			return e.Calls
		}
	}
	return 0
}

// Find returns the block that holds a transaction, by whichever endpoint knows it.
func (p *Prober) Find(ctx context.Context, txID string) (chain.BlockRef, error) {
	return p.blocks.Find(ctx, txID)
}

// Endpoints returns the endpoints in configured order.
func (p *Prober) Endpoints() []chain.Endpoint { return p.reader.Endpoints() }

// Head returns the newest and the final block of one endpoint.
func (p *Prober) Head(ctx context.Context, endpoint string) (chain.Head, error) {
	return p.reader.HeadOn(ctx, endpoint)
}

// Block reads one block. Whatever is wrong with it stands in the answer.
func (p *Prober) Block(ctx context.Context, endpoint string, height uint64) Probed {
	sample := &sample{transactions: map[string]bool{}, addresses: map[string]bool{}}
	started, asked := time.Now(), p.calls(endpoint)
	block, err := p.reader.BlockOn(ctx, endpoint, height, sample)
	result := Probed{Endpoint: endpoint, Height: height, Took: time.Since(started),
		Transactions: len(sample.transactions), Addresses: len(sample.addresses)}
	result.Calls = p.calls(endpoint) - asked
	switch {
	case errors.Is(err, chain.ErrNoBlock):
		result.Skipped = true
	case err != nil:
		result.Err = err
	default:
		result.Ref, result.Time = block.Ref, block.Time
		result.Transfers, result.Anomalies = len(block.Transfers), block.Anomalies
	}
	return result
}

// maxSkipped bounds how many heights without a block are passed, as on Solana, where slots may be empty.
const maxSkipped = 32

// Newest reads the newest final block of an endpoint, or rather the one before it: behind a load balancer not every
// backend has the newest.
func (p *Prober) Newest(ctx context.Context, endpoint string) (chain.Head, Probed) {
	head, err := p.reader.HeadOn(ctx, endpoint)
	if err != nil {
		return head, Probed{Endpoint: endpoint, Err: err}
	}
	if head.Final.Hash == "" {
		return head, Probed{Endpoint: endpoint, Err: errors.New("nothing is final there yet")}
	}
	height := head.Final.Height - min(head.Final.Height, 1)
	result := p.Block(ctx, endpoint, height)
	for tried := 1; result.Skipped && height > 0 && tried < maxSkipped; tried++ {
		height--
		result = p.Block(ctx, endpoint, height)
	}
	if result.Skipped {
		result.Err = chain.ErrNoBlock
	}
	return head, result
}

// sample watches one address in sampleOf, which is enough for an adapter to go all its ways within a busy block, and
// few enough that it does not ask about every address there is. It is the same sample on every endpoint, and none is
// ours.
type sample struct {
	mu                      sync.Mutex
	transactions, addresses map[string]bool
}

const sampleOf = 32

func (s *sample) Sync(context.Context) error { return nil }

func (s *sample) Pays(base string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addresses[base] = true
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(base)) // it never fails
	return sum.Sum32()%sampleOf == 0
}

func (s *sample) Sent(txID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.transactions[txID] = true
	return false
}
