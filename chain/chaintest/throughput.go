package chaintest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/bursar/bursar/chain"
)

// Throughput measures how fast an adapter follows its chain when the node is as far away as a hosted provider. Each
// adapter has a Benchmark with blocks of the size that its mainnet has today; `go run ./bench` writes the results to
// docs/performance.md.
//
//	func BenchmarkThroughput(b *testing.B) {
//		node := newBlockServer(...) // the adapter's own: answers like the node, from blocks made or recorded beforehand
//		chaintest.Throughput{
//			Node: node, From: node.ref(0), Blocks: 256, Pace: 12 * time.Second,
//			Open: func(b *testing.B, urls []string) chain.Blocks { return open(b, urls) },
//			Watch: watch, Transfers: 512,
//		}.Run(b)
//	}
//
// It runs a benchmark for each latency: 0 (a node beside it: what the CPU alone allows), and 200, 400 and 700 ms for a
// large answer with 60 ms for a small one; "tip", which follows block by block, as at the chain's end; and "gzip" where
// asked for. Each reports
//
//	blocks/s      blocks followed per second
//	x-chain       the headroom: how many times faster than the chain makes them
//	calls/block   JSON-RPC calls, each of a batch counted, or HTTP requests of another interface
//	posts/block   HTTP requests
//	MB/block      bytes of all answers before compression, in 1,000,000
//	peak-MB       the most memory on the heap beyond what was there before, collectable or not, in 1,000,000 bytes; it
//	              includes what Node allocates to answer
type Throughput struct {
	// Node answers as the chain's node does, to any number of calls at a time. It should write answers from prepared
	// pieces: what it computes and allocates is measured too.
	Node http.Handler
	// Open opens the adapter on endpoints that are all served by Node.
	Open func(b *testing.B, urls []string) chain.Blocks
	// From is the block before the first that is followed; Node has Blocks more after it, up to its head.
	From   chain.BlockRef
	Blocks int
	// Pace is the chain's time between two blocks.
	Pace time.Duration
	// Watch says what is ours; Transfers is how many transfers all the blocks have for it. A run that finds another
	// number fails.
	Watch     chain.Watch
	Transfers int
	// Gzip adds a run with compressed answers. The compression is measured too.
	Gzip bool
	// Endpoints is the number of endpoints; 0 means one.
	Endpoints int
}

// ahead is how many blocks the follower asks for at a time.
const ahead = 64

// latency is how long a node takes to answer.
type latency struct {
	small, big time.Duration
	gzip       bool
}

// Run runs the benchmarks.
func (m Throughput) Run(b *testing.B) {
	for _, big := range []time.Duration{0, 200, 400, 700} {
		l := latency{small: 60 * time.Millisecond, big: big * time.Millisecond}
		if big == 0 {
			l.small = 0
		}
		b.Run(fmt.Sprintf("big=%v", l.big), func(b *testing.B) { m.measure(b, l, ahead) })
	}
	b.Run("tip", func(b *testing.B) { m.measure(b, latency{}, 1) })
	if m.Gzip {
		b.Run("gzip", func(b *testing.B) {
			m.measure(b, latency{small: 60 * time.Millisecond, big: 400 * time.Millisecond, gzip: true}, ahead)
		})
	}
}

// measure follows all the blocks as often as the benchmark asks for, by one adapter that is opened once.
func (m Throughput) measure(b *testing.B, l latency, limit int) {
	front := &front{node: m.Node, latency: l, wait: wait}
	var urls []string
	for range max(m.Endpoints, 1) {
		server := httptest.NewServer(front)
		b.Cleanup(server.Close)
		urls = append(urls, server.URL)
	}
	blocks := m.Open(b, urls)
	if _, err := blocks.Head(b.Context()); err != nil { // this connects
		b.Fatalf("ask for the head: %v", err)
	}
	front.reset()
	heap := watchHeap()
	for b.Loop() {
		if err := m.follow(b.Context(), blocks, limit); err != nil {
			b.Fatal(err)
		}
	}
	peak := heap()
	followed := float64(b.N) * float64(m.Blocks)
	rate := followed / b.Elapsed().Seconds()
	b.ReportMetric(rate, "blocks/s")
	b.ReportMetric(rate*m.Pace.Seconds(), "x-chain")
	b.ReportMetric(float64(front.calls.Load())/followed, "calls/block")
	b.ReportMetric(float64(front.posts.Load())/followed, "posts/block")
	b.ReportMetric(float64(front.bytes.Load())/followed/1e6, "MB/block")
	b.ReportMetric(float64(peak)/1e6, "peak-MB")
	b.ReportMetric(0, "ns/op") // the time of a pass over all blocks says nothing
}

// idle bounds how often a node may return no new block before all its blocks were read: endpoints do not lag in this
// benchmark.
const idle = 10

// follow reads all the blocks as the follower does: the head, then up to limit blocks after the last one.
func (m Throughput) follow(ctx context.Context, blocks chain.Blocks, limit int) error {
	last, read, transfers, empty := m.From, 0, 0, 0
	for read < m.Blocks {
		if _, err := blocks.Head(ctx); err != nil {
			return fmt.Errorf("ask for the head: %w", err)
		}
		next, err := blocks.After(ctx, last, min(limit, m.Blocks-read), m.Watch)
		if err != nil {
			return fmt.Errorf("read blocks after %d: %w", last.Height, err)
		}
		if empty++; len(next) > 0 {
			empty = 0
		}
		if empty == idle {
			return fmt.Errorf("the node returned no more blocks after %d of %d", read, m.Blocks)
		}
		for _, block := range next {
			if block.Parent != last.Hash {
				return fmt.Errorf("block %d follows %s, not %s", block.Ref.Height, block.Parent, last.Hash)
			}
			last = block.Ref
			transfers += len(block.Transfers)
		}
		read += len(next)
	}
	if transfers != m.Transfers {
		return fmt.Errorf("found %d transfers, want %d", transfers, m.Transfers)
	}
	return nil
}
