package webhook

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"sync/atomic"
	"testing"
	"time"
)

// counted is a receiver that counts its connections, over TLS if that is asked for; it speaks HTTP/1.1 only.
func counted(t *testing.T, secured bool, handle http.HandlerFunc) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(handle)
	server.Config.ErrorLog = quiet()
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	if secured {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server, &connections
}

// poster returns a client for a server that counted made.
func posterTo(t *testing.T, server *httptest.Server, secured bool) (*Deliverer, *poster) {
	t.Helper()
	d := New(Config{AllowNetworks: loopback})
	p := newClient(loopback, d.queues.limits)
	if secured {
		p = newPoster(newDialer(loopback), d.queues.limits, trusting(server))
	}
	d.client = p
	t.Cleanup(p.CloseIdleConnections)
	return d, p
}

func TestAConnectionIsUsedAgain(t *testing.T) {
	t.Parallel()
	for name, secured := range map[string]bool{"http": false, "https": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, connections := counted(t, secured, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(w, r.Body)
			})
			d, p := posterTo(t, server, secured)
			for range 4 {
				if a := post(d, server.URL); a.code != 200 {
					t.Fatalf("%+v, want 200", a)
				}
			}
			want := int64(1)
			if secured {
				want = 2 // the first shows that HTTP/2 is not spoken
			}
			if got := connections.Load(); got != want {
				t.Errorf("%d connections were made, want %d", got, want)
			}
			p.CloseIdleConnections()
			if a := post(d, server.URL); a.code != 200 || connections.Load() != want+1 {
				t.Errorf("after the idle ones were closed: %+v, %d connections, want %d", a, connections.Load(), want+1)
			}
		})
	}
}

// What http.Transport sends, and what comes over connections of our own, is the same request.
func TestARequestIsTheSameOverBothKindsOfConnection(t *testing.T) {
	t.Parallel()
	type request struct {
		header http.Header
		body   string
		uri    string
		host   string
		length int64
	}
	got := make(chan request, 2)
	server, _ := counted(t, false, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- request{r.Header, string(body), r.RequestURI, r.Host, r.ContentLength}
	})
	d, p := posterTo(t, server, false)
	for _, client := range []Poster{p, &http.Client{Transport: p.transport}} {
		d.client = client
		if a := post(d, server.URL+"/a%20b?c=d"); a.code != 200 {
			t.Fatalf("%+v, want 200", a)
		}
	}
	own, theirs := <-got, <-got
	own.header.Del("Webhook-Timestamp") // they may be a second apart
	theirs.header.Del("Webhook-Timestamp")
	own.header.Del("Webhook-Signature")
	theirs.header.Del("Webhook-Signature")
	if !reflect.DeepEqual(own, theirs) {
		t.Errorf("over a connection of our own came %+v, want %+v", own, theirs)
	}
}

func TestIdleConnectionsAreClosedInTime(t *testing.T) {
	t.Parallel()
	server, _ := counted(t, false, func(http.ResponseWriter, *http.Request) {})
	d, p := posterTo(t, server, false)
	post(d, server.URL)
	idle := func() int {
		p.conns.mu.Lock()
		defer p.conns.mu.Unlock()
		return p.conns.count
	}
	if got := idle(); got != 1 {
		t.Fatalf("%d connections are idle, want 1", got)
	}
	p.conns.mu.Lock()
	p.conns.idle[server.URL][0].since = time.Now().Add(-keepIdle)
	p.conns.mu.Unlock()
	p.conns.reap()
	if got := idle(); got != 0 {
		t.Errorf("%d connections are idle after their time, want 0", got)
	}
}

// No more is kept than may be, whatever was open at once.
func TestNoMoreConnectionsAreKeptThanMayBe(t *testing.T) {
	t.Parallel()
	first, _ := counted(t, false, func(http.ResponseWriter, *http.Request) {})
	second, _ := counted(t, false, func(http.ResponseWriter, *http.Request) {})
	d, p := posterTo(t, first, false)
	p.conns.limits = limits{destination: 2, sending: 3}
	for _, url := range []string{first.URL, second.URL} {
		var open []io.Closer
		for range 3 {
			j, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := d.client.Do(j)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, response.Body)
			open = append(open, response.Body)
		}
		for _, body := range open {
			body.Close()
		}
	}
	p.conns.mu.Lock()
	defer p.conns.mu.Unlock()
	if got := len(p.conns.idle[second.URL]); got != 2 || p.conns.count != 3 {
		t.Errorf("%d connections of the second receiver are kept of %d, want 2 of 3", got, p.conns.count)
	}
}

func TestARequestEndsWithItsContext(t *testing.T) {
	t.Parallel()
	came, let := make(chan struct{}), make(chan struct{})
	server, _ := counted(t, false, func(_ http.ResponseWriter, r *http.Request) {
		close(came)
		<-let
	})
	t.Cleanup(func() { close(let) })
	_, p := posterTo(t, server, false)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-came
		cancel()
	}()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if response, err := p.Do(r); !errors.Is(err, context.Canceled) {
		t.Errorf("the response is %+v, %v; want that the context was cancelled", response, err)
	}
}
