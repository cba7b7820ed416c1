package pay_test

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/pay"
)

// ticks lets a test say when the page looks for changes.
type ticks chan struct{}

func (c ticks) sleep(ctx context.Context, _ time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-c:
		return true
	}
}

// streamed is a harness behind a real server, whose looks are the test's.
func streamed(t *testing.T) (*harness, ticks, *httptest.Server) {
	t.Helper()
	looks := make(ticks)
	h := newHarness(t, func(c *pay.Config) { c.Sleep = looks.sleep })
	server := httptest.NewUnstartedServer(h)
	server.Config.ReadTimeout = time.Hour
	server.Start()
	t.Cleanup(func() { h.handler.Close(); server.Close() })
	return h, looks, server
}

// listener reads a stream.
type listener struct {
	t *testing.T
	*http.Response
	lines *bufio.Scanner
}

func listen(t *testing.T, url string, header ...string) listener {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return listener{t, answer, bufio.NewScanner(answer.Body)}
}

// next returns the next block of lines, "" at the end.
func (l listener) next() string {
	l.t.Helper()
	var block []string
	for l.lines.Scan() {
		if l.lines.Text() == "" {
			return strings.Join(block, "\n")
		}
		block = append(block, l.lines.Text())
	}
	return strings.Join(block, "\n")
}

// A stream shows each change at once, and nothing twice.
func TestAStreamOfChanges(t *testing.T) {
	t.Parallel()
	h, looks, server := streamed(t)
	l := listen(t, server.URL+h.path("waiting")+"/events?seen=1.waiting")
	if got := l.Header.Get("Content-Type") + " " + l.Header.Get("X-Accel-Buffering"); got != "text/event-stream no" {
		t.Errorf("the headers are %q, want text/event-stream no", got)
	}
	if got := l.next(); got != "retry: 3000" {
		t.Fatalf("the stream begins with %q, want the time of a retry alone: the page has seen the rest", got)
	}
	looks <- struct{}{}
	h.describe("waiting", "two pots of sage", "")
	looks <- struct{}{}
	got := l.next()
	if !strings.HasPrefix(got, "id: 2.waiting\ndata: <main ") || !strings.Contains(got, "two pots of sage") {
		t.Errorf("the change is %q, want version 2 of the changing part", got)
	}
}

// Each new block counts a confirmation more, though the charge stays as it is.
func TestAStreamCountsConfirmations(t *testing.T) {
	t.Parallel()
	h, looks, server := streamed(t)
	l := listen(t, server.URL+h.path("confirming")+"/events", "Last-Event-ID", "1.confirming.2")
	l.next()
	h.mine(bursar.Bitcoin)
	looks <- struct{}{}
	if got := l.next(); !strings.Contains(got, "Confirmations: 3 of 12") {
		t.Errorf("after a block it is %q, want 3 of 12 confirmations", got)
	}
}

// mine makes a chain one block longer, and changes no charge.
func (h *harness) mine(id bursar.ChainID) {
	h.Change("choose", func(_ *charge.Shown, heights map[bursar.ChainID]uint64) { heights[id]++ })
}

// While nothing changes a sign of life keeps proxies from closing the stream.
func TestASignOfLife(t *testing.T) {
	t.Parallel()
	h, looks, server := streamed(t)
	l := listen(t, server.URL+h.path("waiting")+"/events?seen=1.waiting")
	l.next()
	for range 15 {
		looks <- struct{}{}
	}
	if got := l.next(); got != ":" {
		t.Errorf("after 15 s the stream says %q, want a comment", got)
	}
}

// A charge has four streams and no more; the one that is refused may ask from time to time.
func TestAtMostFourStreamsOfACharge(t *testing.T) {
	t.Parallel()
	h, _, server := streamed(t)
	url := server.URL + h.path("waiting") + "/events"
	for range 4 {
		if l := listen(t, url); l.StatusCode != http.StatusOK {
			t.Fatalf("a stream is %d, want 200", l.StatusCode)
		}
	}
	if l := listen(t, url); l.StatusCode != http.StatusTooManyRequests || l.Header.Get("Retry-After") != "5" {
		t.Errorf("the fifth stream is %d, want 429 with a time", l.StatusCode)
	}
	if l := listen(t, server.URL+h.path("choose")+"/events"); l.StatusCode != http.StatusOK {
		t.Errorf("a stream of another charge is %d, want 200", l.StatusCode)
	}
}

// Close ends every stream, so that a server can shut down.
func TestCloseEndsStreams(t *testing.T) {
	t.Parallel()
	h, _, server := streamed(t)
	l := listen(t, server.URL+h.path("waiting")+"/events?seen=1.waiting")
	l.next()
	h.handler.Close()
	if got := l.next(); got != "" {
		t.Errorf("the stream goes on with %q, want its end", got)
	}
	if after := listen(t, server.URL+h.path("waiting")+"/events"); after.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a stream after that is %d, want 429", after.StatusCode)
	}
}

// A client that leaves makes room.
func TestAClientThatLeavesFreesItsCapacity(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	ask := func(name string, from netip.Prefix) int {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // it has left already
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, h.path(name)+"/events", http.NoBody)
		w := httptest.NewRecorder()
		h.handler.Serve(w, r, from)
		return w.Code
	}
	for range 100 {
		if got := ask("waiting", client); got != http.StatusOK {
			t.Fatalf("a stream after others have left is %d, want 200", got)
		}
	}
}
