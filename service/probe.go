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
	"github.com/bursar/bursar/signer/host"
)

// Probed is the result of reading one block through one endpoint, by the same code as the follower.
type Probed struct {
	Endpoint string
	Height   uint64
	Ref      chain.BlockRef
	Time     time.Time
	Took     time.Duration
	Calls    uint64 // calls that the endpoint received, a batch counting as one; 0 if the adapter does not count them

	Transactions int // transactions whose addresses the adapter asked about: those that it parsed
	Addresses    int // payable addresses seen in them
	Transfers    int // transfers to the sampled addresses
	Anomalies    []chain.Anomaly
	Skipped      bool  // no block exists at this height, as in an empty slot
	Err          error // error of reading the block; nil if it was read
}

// ErrNoProbe is returned for a chain whose adapter cannot read a single endpoint.
var ErrNoProbe = errors.New("this version cannot read a single endpoint of the chain")

// Prober reads blocks of one chain through its endpoints, one by one. It needs neither a database nor a seed.
type Prober struct {
	reader chain.EndpointReader
	blocks chain.Blocks
	counts statsReporter // nil if the adapter counts nothing
}

// NewProber creates the prober of a configured chain. It asks no node, except for a private chain's chain ID.
func NewProber(ctx context.Context, cfg config.Config, id bursar.ChainID, opts Options) (*Prober, error) {
	opts = opts.withDefaults()
	registry, err := host.Usable(cfg)
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
	counts, _ := c.(statsReporter)
	return &Prober{reader, c, counts}, nil
}

// calls returns how many calls an endpoint has received so far.
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

// Find returns the block that contains a transaction, from the first endpoint that knows it.
func (p *Prober) Find(ctx context.Context, txID string) (chain.BlockRef, error) {
	return p.blocks.Find(ctx, txID)
}

// Endpoints returns the endpoints in configured order.
func (p *Prober) Endpoints() []chain.Endpoint { return p.reader.Endpoints() }

// Head returns the newest and the final block of one endpoint.
func (p *Prober) Head(ctx context.Context, endpoint string) (chain.Head, error) {
	return p.reader.HeadOn(ctx, endpoint)
}

// Block reads one block. Errors are in the result.
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

// maxSkipped bounds how many heights without a block are skipped, as on Solana, where slots may be empty.
const maxSkipped = 32

// Newest reads the block before an endpoint's newest final block: behind a load balancer not every backend has the
// newest.
func (p *Prober) Newest(ctx context.Context, endpoint string) (chain.Head, Probed) {
	head, err := p.reader.HeadOn(ctx, endpoint)
	if err != nil {
		return head, Probed{Endpoint: endpoint, Err: err}
	}
	if head.Final.Hash == "" {
		return head, Probed{Endpoint: endpoint, Err: errors.New("no block is final there yet")}
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

// sample watches one address in sampleOf: enough for an adapter to exercise all its code within a busy block, and few
// enough that it does not ask about every address. The sample is the same on every endpoint, and contains no address of
// ours on purpose.
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
