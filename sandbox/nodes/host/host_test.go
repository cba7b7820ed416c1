package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// serving runs a host with a handler until the end of the test.
func serving(t *testing.T, o Options, handler http.HandlerFunc) *Host {
	t.Helper()
	h := New("test", o)
	t.Cleanup(func() { h.Close() })
	if err := h.Start(t.Context(), func(ctx context.Context) error { return h.Serve(ctx, handler) }); err != nil {
		t.Fatal(err)
	}
	return h
}

// get returns the status and the body of an answer.
func get(url string) (string, error) {
	res, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return fmt.Sprint(res.StatusCode, " ", string(body)), err
}

func hello(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }

func TestAnswersOnAFreePortUntilClose(t *testing.T) {
	t.Parallel()
	one, other := serving(t, Options{}, hello), serving(t, Options{}, hello)
	if one.URL() == other.URL() || strings.HasSuffix(one.Address(), ":0") || one.URL() != "http://"+one.Address() {
		t.Errorf("two nodes answer at %s and %s", one.URL(), other.URL())
	}
	if got, err := get(one.URL()); got != "200 hello" || err != nil {
		t.Errorf("answer %q, %v, want %q", got, err, "200 hello")
	}
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := get(one.URL()); err == nil {
		t.Errorf("answer %q after Close, want an error", got)
	}
	again := serving(t, Options{Listen: one.Address()}, hello) // the port is free again
	if got, err := get(again.URL()); got != "200 hello" || err != nil {
		t.Errorf("answer %q, %v, want %q", got, err, "200 hello")
	}
}

func TestEveryListenerIsServed(t *testing.T) {
	t.Parallel()
	var listeners []net.Listener
	for range 2 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners = append(listeners, listener)
	}
	h := New("test", Options{})
	h.ServeOn(http.HandlerFunc(hello), listeners...)
	for _, listener := range listeners {
		if got, err := get("http://" + listener.Addr().String()); got != "200 hello" || err != nil {
			t.Errorf("answer %q, %v, want %q", got, err, "200 hello")
		}
	}
	if err := h.Close(); err != nil || h.Address() != listeners[0].Addr().String() {
		t.Errorf("closed %s: %v", h.Address(), err)
	}
}

func TestRequestsAreWrapped(t *testing.T) {
	t.Parallel()
	h := serving(t, Options{Wrap: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/broken" {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			next.ServeHTTP(w, r)
		})
	}}, hello)
	for path, want := range map[string]string{"/": "200 hello", "/broken": "502 "} {
		if got, err := get(h.URL() + path); got != want || err != nil {
			t.Errorf("%s: answer %q, want %q: %v", path, got, want, err)
		}
	}
}

// TestCloseWaitsForRequests checks that a request in progress is answered while the node is being closed, and that the
// parts of the node are closed after it.
func TestCloseWaitsForRequests(t *testing.T) {
	t.Parallel()
	started, closing := make(chan bool), make(chan bool)
	var order []string
	h := serving(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
		close(started)
		<-closing
		order = append(order, "request")
		io.WriteString(w, "in time")
	})
	h.grace = time.Minute
	h.OnClose(func() error { order = append(order, "node"); return nil })
	h.server.RegisterOnShutdown(func() { close(closing) })
	answer := make(chan string, 1)
	go func() {
		got, err := get(h.URL())
		answer <- fmt.Sprint(got, " ", err)
	}()
	<-started
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if got := <-answer; got != "200 in time <nil>" || !slices.Equal(order, []string{"request", "node"}) {
		t.Errorf("answer %q; the order is %v, want %q and %+v", got, order, "200 in time <nil>", []string{"request", "node"})
	}
}

// TestCloseCutsRequestsOff checks that a request that does not end is cut off.
func TestCloseCutsRequestsOff(t *testing.T) {
	t.Parallel()
	started, ended := make(chan bool), make(chan bool)
	h := serving(t, Options{}, func(_ http.ResponseWriter, r *http.Request) {
		close(started)
		<-r.Context().Done()
		close(ended)
	})
	h.grace = time.Millisecond
	answer := make(chan error, 1)
	go func() {
		_, err := get(h.URL())
		answer <- err
	}()
	<-started
	if err := h.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := <-answer; err == nil {
		t.Error("a request that never ends was answered")
	}
	<-ended
}

// TestCloseWaitsForNoUnusedConnection checks that Close does not wait for connections that a client opened ahead.
func TestCloseWaitsForNoUnusedConnection(t *testing.T) {
	t.Parallel()
	h := serving(t, Options{}, hello)
	h.grace = time.Hour
	conn, err := net.Dial("tcp", h.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := get(h.URL()); err != nil { // its connection is accepted after that one
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is still open")
	}
}

// TestPartsAreClosedInReverse checks the order of closing, that every part is closed although one fails, and that a
// second Close repeats the result.
func TestPartsAreClosedInReverse(t *testing.T) {
	t.Parallel()
	h, wrong := New("test", Options{}), errors.New("wrong")
	var order []int
	for i := range 3 {
		h.OnClose(func() error {
			order = append(order, i)
			if i == 1 {
				return wrong
			}
			return nil
		})
	}
	for range 2 {
		if err := h.Close(); !errors.Is(err, wrong) {
			t.Errorf("close: %v, want %v", err, wrong)
		}
	}
	if !slices.Equal(order, []int{2, 1, 0}) {
		t.Errorf("closed in the order %v, want %+v", order, []int{2, 1, 0})
	}
}

func TestAStartThatFailsLeavesNothingOpen(t *testing.T) {
	t.Parallel()
	busy := serving(t, Options{}, hello)
	h := New("lonely", Options{DataDir: t.TempDir(), Listen: busy.Address()})
	var order []string
	err := h.Start(t.Context(),
		func(context.Context) error {
			order = append(order, "open")
			h.OnClose(func() error { order = append(order, "close"); return nil })
			return nil
		},
		func(ctx context.Context) error { return h.Serve(ctx, http.HandlerFunc(hello)) },
		func(context.Context) error { order = append(order, "later"); return nil })
	if err == nil || !strings.HasPrefix(err.Error(), "start lonely node: listen tcp "+busy.Address()) {
		t.Errorf("start on a port in use: %v", err)
	}
	if !slices.Equal(order, []string{"open", "close"}) {
		t.Errorf("the steps are %v, want %+v", order, []string{"open", "close"})
	}
	if err := New("test", h.options).Start(t.Context()); err != nil {
		t.Errorf("the directory is still locked: %v", err)
	}
}

func TestOneNodeUsesADirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	first := New("test", Options{DataDir: dir})
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode() != fs.ModeDir|0o700 {
		t.Errorf("the directory was created with %v: %v", info.Mode(), err)
	}
	second := New("test", Options{DataDir: dir})
	if err := second.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "another node may be using") {
		t.Errorf("a second node in the directory: %v, want an error and %q in it", err, "another node may be using")
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	third := New("test", Options{DataDir: dir})
	if err := errors.Join(third.Start(t.Context()), third.Close()); err != nil {
		t.Errorf("after the first was closed: %v", err)
	}
}
