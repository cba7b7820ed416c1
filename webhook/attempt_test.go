package webhook

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func TestARedirectIsAFailedAttempt(t *testing.T) {
	t.Parallel()
	inside := newReceiver(t, nil)
	for _, code := range []int{300, 301, 302, 303, 304, 307, 308} {
		from := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", inside.URL)
			w.WriteHeader(code)
		})
		if a := post(New(Config{AllowNetworks: loopback}), from.URL); a.code != code || a.reason == "" {
			t.Errorf("%d: %+v", code, a)
		}
	}
	if inside.count() != 0 {
		t.Error("a redirect was followed, want 0")
	}
}

func TestOnlySuccessCounts(t *testing.T) {
	t.Parallel()
	for code, ok := range map[int]bool{200: true, 201: true, 202: true, 204: true, 206: true, 299: true, 400: false,
		404: false, 410: false, 429: false, 500: false, 503: false, 599: false, 999: false} {
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
		if a := post(New(Config{AllowNetworks: loopback}), r.URL); a.code != code || (a.reason == "") != ok {
			t.Errorf("%d: %+v", code, a)
		}
	}
}

// raw serves one connection after another by hand.
func raw(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if req, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					io.Copy(io.Discard, req.Body)
					serve(conn)
				}
			}()
		}
	}()
	return "http://" + listener.Addr().String()
}

func TestBrokenAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text    string
		code    int
		outcome Outcome
		reason  string
	}{
		"closed early": {"", 0, OutcomeConnection, "the connection was closed before an answer"},
		"closed in the header": {"HTTP/1.1 200 OK\r\nA: ", 0, OutcomeConnection,
			"the connection was closed before an answer"},
		"not HTTP":       {"220 mail.example ESMTP\r\n", 0, OutcomeInvalid, "there was no valid answer"},
		"no line at all": {strings.Repeat("\x00\xff", 4*maxHeader), 0, OutcomeInvalid, "there was no valid answer"},
		"a huge header": {"HTTP/1.1 200 OK\r\nA: " + strings.Repeat("a", 2*maxHeader) + "\r\n\r\n", 0, OutcomeInvalid,
			"there was no valid answer"},
		"many headers": {"HTTP/1.1 200 OK\r\n" + strings.Repeat("A: a\r\n", maxHeader) + "\r\n", 0, OutcomeInvalid,
			"there was no valid answer"},
		"hints without an end": {strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n", maxHeader), 0,
			OutcomeInvalid, "there was no valid answer"},
		"two lengths": {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 0, OutcomeInvalid,
			"there was no valid answer"},
		"a negative length": {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", 0, OutcomeInvalid,
			"there was no valid answer"},
		"a cut body": {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc", 200, Outcome2xx, ""},
		"garbage": {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 6\r\n\r\n\x00{[\xff\"'",
			200, Outcome2xx, ""},
		"broken chunks": {"HTTP/1.1 202 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" + strings.Repeat("g", 9000), 202,
			Outcome2xx, ""},
		"an endless chunk": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + strings.Repeat("x", 2*maxAnswer),
			200, Outcome2xx, ""},
		"endless trailers": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" +
			strings.Repeat("A: a\r\n", maxAnswer), 200, Outcome2xx, ""},
		"two answers": {"HTTP/1.1 204 No\r\n\r\nHTTP/1.1 500 Yes\r\nContent-Length: 0\r\n\r\n", 204, Outcome2xx, ""},
		"a switch": {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nabc", 101,
			OutcomeInvalid, "answered 101 Switching Protocols"},
		"an unknown status": {"HTTP/1.1 799 Hm\r\nContent-Length: 0\r\n\r\n", 799, OutcomeInvalid, "answered 799"},
		"a secret reason": {"HTTP/1.1 500 token=hunter2\r\nContent-Length: 0\r\n\r\n", 500, Outcome5xx,
			"answered 500 Internal Server Error"},
	} {
		url := raw(t, func(conn net.Conn) { io.WriteString(conn, c.text) })
		if a := post(New(Config{AllowNetworks: loopback}), url); a.code != c.code || a.reason != c.reason ||
			a.outcome != c.outcome {
			t.Errorf("%s: %+v, want %v and %v and %v", name, a, c.code, c.reason, c.outcome)
		}
	}
}

func TestAnEndlessAnswerIsReadUpToALimit(t *testing.T) {
	t.Parallel()
	for start, code := range map[string]int{"HTTP/1.1 200 OK\r\n\r\n": 200,
		"HTTP/1.1 503 No\r\nContent-Length: 99999999999\r\n\r\n": 503} {
		d, receiver := New(Config{}), make(chan int64, 1)
		piped(d, func(conn net.Conn) {
			io.WriteString(conn, start)
			var sent int64
			for chunk := make([]byte, 1000); ; {
				n, err := conn.Write(chunk)
				sent += int64(n)
				if err != nil {
					receiver <- sent
					return
				}
			}
		})
		if a := post(d, "http://endless.example/"); a.code != code {
			t.Errorf("%+v, want %v", a, code)
		}
		if n := <-receiver; n > maxAnswer+8<<10 { // what was read ahead
			t.Errorf("%d bytes were read, want at most %v", n, maxAnswer+8<<10)
		}
	}
}

// piped gives a deliverer connections without buffers or an operating system in between; serve is each one's receiver.
func piped(d *Deliverer, serve func(net.Conn)) (wait func()) {
	var receivers sync.WaitGroup
	dial := func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		receivers.Go(func() {
			defer theirs.Close()
			if req, err := http.ReadRequest(bufio.NewReader(theirs)); err == nil {
				io.Copy(io.Discard, req.Body)
				serve(theirs)
			}
		})
		return ours, nil
	}
	d.client = dialling(d, dial)
	return receivers.Wait
}

// dialling returns the client of a deliverer, which connects as the test says.
func dialling(d *Deliverer, dial func(ctx context.Context, network, address string) (net.Conn, error)) *poster {
	p := newClient(nil, d.queues.limits)
	p.transport.DialContext, p.conns.dial = dial, dial
	return p
}

func TestAnAnswerIsNeverUnpacked(t *testing.T) {
	t.Parallel()
	var asked atomic.Value
	r := newReceiver(t, func(w http.ResponseWriter, req *http.Request) {
		asked.Store(req.Header.Get("Accept-Encoding"))
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for zeros := make([]byte, 1<<20); ; {
			if _, err := z.Write(zeros); err != nil {
				return
			}
		}
	})
	if a := post(New(Config{AllowNetworks: loopback}), r.URL); a.code != 200 || asked.Load() != "" {
		t.Errorf("%+v, accepting %q, want 200 and %q", a, asked.Load(), "")
	}
}

func TestCertificatesAreVerified(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.WriteHeader(200 + req.ProtoMajor)
	}))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = quiet()
	server.StartTLS()
	t.Cleanup(server.Close)
	d := New(Config{AllowNetworks: loopback})
	if a := post(d, server.URL); a.reason != "the certificate is not trusted" {
		t.Errorf("an unknown issuer: %+v", a)
	}
	d.client = newPoster(newDialer(loopback), d.queues.limits, trusting(server))
	t.Cleanup(d.client.CloseIdleConnections)
	if a := post(d, server.URL); a.code != 202 {
		t.Errorf("a known one: %+v, want 202", a)
	}
	if a := post(d, strings.Replace(server.URL, "127.0.0.1", "localhost",
		1)); a.reason != "the certificate is not for this host" {
		t.Errorf("another host's: %+v, want %q", a, "the certificate is not for this host")
	}
	if a := post(d, strings.Replace(newReceiver(t, nil).URL, "http", "https", 1)); a.reason == "" || a.code != 0 {
		t.Errorf("TLS to a plain receiver: %+v, want not %q and 0", a, "")
	}
}

// trusting is the TLS of a client that knows who issued a server's certificate.
func trusting(server *httptest.Server) *tls.Config {
	return &tls.Config{RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
}

// A receiver that sends its response slowly is cut off when the time limit of an attempt is over, to the second.
func TestASlowReceiverIsCutOff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		start string
		code  int
	}{
		"silence":       {"", 0},
		"slow header":   {"HTTP/1.1 200 OK\r\nA: ", 0},
		"slow body":     {"HTTP/1.1 500 No\r\nContent-Length: 60000\r\n\r\n", 500},
		"slow, but 200": {"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n", 200},
		"slow chunks":   {"HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n60000\r\n", 404},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := New(Config{})
				wait := piped(d, func(conn net.Conn) { trickle(conn, c.start) })
				began := time.Now()
				a := post(d, "http://slow.example/")
				if took := time.Since(began); a.code != c.code || took != 15*time.Second {
					t.Errorf("%+v after %s, want %v and %v", a, took, c.code, 15*time.Second)
				}
				if a.code == 0 && (a.reason != "no answer in time" || a.outcome != OutcomeTimeout) {
					t.Errorf("it is said that %q, %s", a.reason, a.outcome)
				}
				wait() // its connection was closed
			})
		})
	}
}

// A receiver that does not accept, or does not complete the TLS handshake, is given up before.
func TestAConnectionThatIsNeverMadeIsCutOff(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://slow.example/", "https://slow.example/"} {
		synctest.Test(t, func(t *testing.T) {
			d := New(Config{})
			dialer := newDialer(nil)
			d.client = dialling(d, func(ctx context.Context, _, _ string) (net.Conn, error) {
				ctx, cancel := context.WithTimeout(ctx, dialer.Timeout)
				defer cancel()
				if strings.HasPrefix(url, "https") {
					ours, theirs := net.Pipe()
					go io.Copy(io.Discard, theirs)
					return ours, nil
				}
				<-ctx.Done()
				return nil, ctx.Err()
			})
			began := time.Now()
			if a := post(d, url); a.outcome != OutcomeTimeout || time.Since(began) != 10*time.Second {
				t.Errorf("%s: %+v after %s, want %v and %v", url, a, time.Since(began), OutcomeTimeout, 10*time.Second)
			}
		})
	}
}

// trickle writes the start of a response, and then one byte a second. Without a start it never responds.
func trickle(conn net.Conn, start string) {
	if start == "" {
		conn.Read(make([]byte, 1)) // until the other end has gone
		return
	}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	_, err := io.WriteString(conn, start)
	for ; err == nil; _, err = io.WriteString(conn, "a") {
		<-ticker.C
	}
}
