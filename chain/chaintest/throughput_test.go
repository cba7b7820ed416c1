package chaintest

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

// distant reads a chain in memory as if it asked a node: one HTTP request for each head and each block.
type distant struct {
	*sim.Chain
	url string
}

func (d distant) ask(ctx context.Context, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url+path, strings.NewReader("{}"))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return errors.Join(err, answer.Body.Close())
}

func (d distant) Head(ctx context.Context) (chain.Head, error) {
	if err := d.ask(ctx, "/head"); err != nil {
		return chain.Head{}, err
	}
	return d.Chain.Head(ctx)
}

func (d distant) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	blocks, err := d.Chain.After(ctx, last, limit, watch)
	for range blocks {
		if err := d.ask(ctx, "/block"); err != nil {
			return nil, err
		}
	}
	return blocks, err
}

// pages returns a node that answers with blocks of 100 kB.
func pages() http.Handler {
	block := bytes.Repeat([]byte("block"), 20_000)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/block" {
			_, _ = w.Write(block) // an error means that the client is gone
		}
	})
}

// overSim returns the benchmark of a chain in memory.
func overSim(tb testing.TB) Throughput {
	c := sim.New(sim.Config{})
	from, err := c.At(tb.Context(), 0)
	if err != nil {
		tb.Fatal(err)
	}
	c.Mine(20)
	return Throughput{Node: pages(), From: from, Blocks: 20, Pace: time.Second, Watch: NewWatch(),
		Open: func(_ *testing.B, urls []string) chain.Blocks { return distant{c, urls[0]} }}
}

// BenchmarkSim shows how an adapter is measured. It measures no real chain, and its name keeps it out of the adapters'
// results.
func BenchmarkSim(b *testing.B) { overSim(b).Run(b) }

func TestARunThatMissesBlocksOrTransfersFails(t *testing.T) {
	m := overSim(t)
	server := httptest.NewServer(&front{node: m.Node, wait: wait})
	defer server.Close()
	adapter := m.Open(nil, []string{server.URL})
	if err := m.follow(t.Context(), adapter, 7); err != nil {
		t.Fatal(err)
	}
	for what, other := range map[string]func(m *Throughput){
		"no more blocks after 20 of 21": func(m *Throughput) { m.Blocks++ },
		"want 1":                        func(m *Throughput) { m.Transfers = 1 },
		"blocks after":                  func(m *Throughput) { m.From.Hash = "unknown" },
	} {
		wrong := m
		other(&wrong)
		if err := wrong.follow(t.Context(), adapter, 7); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("got error %v, want one with %q", err, what)
		}
	}
}

func TestAnswersAreDelayedByTheirSizeAndCounted(t *testing.T) {
	var waited []time.Duration
	f := &front{node: pages(), latency: latency{small: 1, big: 2}, wait: func(_ context.Context, d time.Duration) {
		waited = append(waited, d)
	}}
	ask := func(path, body string) *httptest.ResponseRecorder {
		answer := httptest.NewRecorder()
		request := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		request.Header.Set("Accept-Encoding", "gzip")
		f.ServeHTTP(answer, request)
		return answer
	}
	ask("/head", `[{"id":1},{"id":2}]`)
	if answer := ask("/block", `{"id":1}`); answer.Body.Len() != 100_000 {
		t.Errorf("got %d bytes, want 100000", answer.Body.Len())
	}
	if got := fmt.Sprint(waited, f.calls.Load(), f.posts.Load(), f.bytes.Load()); got != "[1ns 2ns] 3 2 100000" {
		t.Errorf("waited, calls, posts and bytes are %s, want [1ns 2ns] 3 2 100000", got)
	}
	f.latency.gzip = true
	answer := ask("/block", `{}`)
	unpacked, err := gzip.NewReader(answer.Body)
	if err != nil || answer.Header().Get("Content-Encoding") != "gzip" {
		t.Fatal(err, answer.Header())
	}
	if text, err := io.ReadAll(unpacked); err != nil || len(text) != 100_000 {
		t.Errorf("got %d bytes after decompression (%v), want 100000", len(text), err)
	}
	if f.reset(); f.calls.Load()+f.posts.Load()+f.bytes.Load() != 0 {
		t.Error("a counter is not 0 after reset")
	}
}
