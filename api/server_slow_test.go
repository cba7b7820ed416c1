package api_test

import (
	"errors"

	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/api"
	"github.com/bursar/bursar/store/storetest"
)

// hurried serves a harness's API once more, on a listener whose time limits are a fraction of a second. gone gets the
// address of every client whose connection the server has closed.
func (s *harness) hurried(change func(*http.Server)) (hurried *harness, gone <-chan string) {
	s.Helper()
	closed := make(chan string, 1000)
	server := httptest.NewUnstartedServer(nil)
	server.Config = api.Server(api.New(s.config), s.config.Log)
	change(server.Config)
	server.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- conn.RemoteAddr().String()
		}
	}
	server.Start()
	s.Cleanup(server.Close)
	again := *s
	again.base = server.URL
	return &again, closed
}

// soon is when a client is cut off: a request that is not slow must be read in it on a busy machine.
const soon = 2 * time.Second

// dribble writes one byte after the other, slower than any client, until the server ends the connection; it returns
// what the server responded before that.
func (w *rawConnection) dribble(text string) string {
	w.Helper()
	var said strings.Builder
	buffer := make([]byte, 4096)
	for i := 0; ; i++ {
		if err := w.conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
			w.Fatal(err)
		}
		n, err := w.conn.Read(buffer)
		said.Write(buffer[:n])
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return said.String()
		}
		_, _ = w.conn.Write([]byte{text[i%len(text)]}) // that it fails shows when reading
	}
}

// slowClient holds a connection without using it.
type slowClient struct {
	change func(*http.Server)
	first  string
	drops  string
	answer string // its status, as a pattern; empty where the connection just ends
}

func slowClients(key string) map[string]slowClient {
	headers := func(s *http.Server) { s.ReadHeaderTimeout = soon }
	whole := func(s *http.Server) { s.ReadTimeout = soon }
	idle := func(s *http.Server) { s.IdleTimeout = soon }
	post := "POST /api/v1/wallet?currency=BTC&webhook=https://shop.example HTTP/1.1\nHost: a\nX-API-KEY: " + key +
		"\nContent-Type: application/json\n"
	return map[string]slowClient{
		"nothing at all":          {headers, "", "", ""},
		"headers in drops":        {headers, "GET /api/v1/account HTTP/1.1\n", "a:b\r\n", "(400 Bad Request)?"},
		"a request in drops":      {headers, "", "GET", "(400 Bad Request)?"},
		"a body in drops":         {whole, post + "Content-Length: 60000\n\n{", " ", "400 Bad Request"},
		"chunks in drops":         {whole, post + "Transfer-Encoding: chunked\n\n1\n{\n", "1\r\n \r\n", "400 Bad Request"},
		"a body that never comes": {whole, post + "Content-Length: 2\n\n", "", "400 Bad Request"},
		"idleness":                {idle, "GET /healthz HTTP/1.1\nHost: a\n\n", "", "200 OK"},
		"the next in drops":       {headers, "GET /healthz HTTP/1.1\nHost: a\n\n", "GET", "200 OK"},
	}
}

// TestSlowClientsAreCutOff has slow clients. Each loses its connection, no matter how often it sends another byte, and
// no request of it was carried out.
func TestSlowClientsAreCutOff(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	s := newHarness(t, url, newClock())
	clients := slowClients(s.account(false).APIKey)
	books := openLedgers(t, url)
	before, err := books.read()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("all", func(t *testing.T) {
		for name, c := range clients {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				hurried, _ := s.hurried(c.change)
				w := hurried.dial()
				w.TB = t
				w.say(c.first)
				said := ""
				if c.drops != "" {
					said = w.dribble(c.drops)
				} else if rest, err := io.ReadAll(w.conn); err == nil {
					said = string(rest)
				}
				status, _, _ := strings.Cut(strings.TrimPrefix(said, "HTTP/1.1 "), "\r\n")
				if !regexp.MustCompile("^" + c.answer + "$").MatchString(status) {
					t.Errorf("answered %q, want %q", said, c.answer)
				}
			})
		}
	})
	if after, err := books.read(); err != nil || after != before {
		t.Errorf("the database has changed: %v\n%s", err, difference(before, after))
	}
}

// TestAClientThatNeverReads sends requests and reads no response, until the kernel's buffers are full and the server
// cannot write any more.
func TestAClientThatNeverReads(t *testing.T) {
	t.Parallel()
	s := newHarness(t, storetest.SQLite(t), newClock())
	hurried, gone := s.hurried(func(s *http.Server) { s.WriteTimeout = soon })
	w := hurried.dial()
	if err := w.conn.SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	ask := []byte(strings.Repeat("GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n", 100))
	for {
		if _, err := w.conn.Write(ask); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal("the server holds on to it")
			}
			break
		}
	}
	if got := <-gone; got != w.conn.LocalAddr().String() {
		t.Errorf("%s was cut off", got)
	}
}

// TestSlowClientsHoldNobodyUp has many connections in the middle of a request, and an ordinary client at the same time.
func TestSlowClientsHoldNobodyUp(t *testing.T) {
	t.Parallel()
	s := newHarness(t, storetest.SQLite(t), newClock())
	key := s.account(false).APIKey
	for i := range 300 {
		w := s.dial()
		w.say([]string{"GET /api/v1/acc", "POST /api/v1/wallet HTTP/1.1\nHost: a\nX-API-KEY: " + key +
			"\nContent-Length: 9\n\n{", "GET /api/v1/account HTTP/1.1\nHost: a\nX: "}[i%3])
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+"/api/v1/account", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-API-KEY", key)
	if response, body := s.send(r); response.StatusCode != http.StatusOK {
		t.Errorf("%d %s, want %d", response.StatusCode, body, http.StatusOK)
	}
}

// TestTheServerHasEveryBound checks the time limits that the other tests replace by shorter ones.
func TestTheServerHasEveryBound(t *testing.T) {
	t.Parallel()
	s := api.Server(http.NotFoundHandler(), newHarness(t, storetest.SQLite(t), newClock()).config.Log)
	for name, bound := range map[string]time.Duration{"headers": s.ReadHeaderTimeout, "requests": s.ReadTimeout,
		"answers": s.WriteTimeout, "idleness": s.IdleTimeout} {
		if bound <= 0 || bound > 2*time.Minute {
			t.Errorf("%s may take %v, want more than 0 and at most %v", name, bound, 2*time.Minute)
		}
	}
	if s.MaxHeaderBytes <= 0 || s.MaxHeaderBytes > 64<<10 {
		t.Errorf("headers may have %d bytes, want more than 0 and at most %v", s.MaxHeaderBytes, 64<<10)
	}
}
