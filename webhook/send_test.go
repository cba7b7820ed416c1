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
		if a := post(New(Config{AllowNetworks: loopback}), from.URL); a.code != code || a.words == "" {
			t.Errorf("%d: %+v", code, a)
		}
	}
	if inside.count() != 0 {
		t.Error("a redirect was followed")
	}
}

func TestOnlySuccessCounts(t *testing.T) {
	t.Parallel()
	for code, ok := range map[int]bool{200: true, 201: true, 202: true, 204: true, 206: true, 299: true, 400: false, 404: false, 410: false, 429: false, 500: false, 503: false, 599: false, 999: false} {
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
		if a := post(New(Config{AllowNetworks: loopback}), r.URL); a.code != code || (a.words == "") != ok {
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
		text  string
		code  int
		words string
	}{
		"closed early":         {"", 0, "the connection was closed before an answer"},
		"closed in the header": {"HTTP/1.1 200 OK\r\nA: ", 0, "the connection was closed before an answer"},
		"not HTTP":             {"220 mail.example ESMTP\r\n", 0, "there was no valid answer"},
		"a huge header":        {"HTTP/1.1 200 OK\r\nA: " + strings.Repeat("a", 2*maxHeader) + "\r\n\r\n", 0, "there was no valid answer"},
		"a cut body":           {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc", 200, ""},
		"a switch":             {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nabc", 101, "answered 101 Switching Protocols"},
		"a secret reason":      {"HTTP/1.1 500 token=hunter2\r\nContent-Length: 0\r\n\r\n", 500, "answered 500 Internal Server Error"},
	} {
		url := raw(t, func(conn net.Conn) { io.WriteString(conn, c.text) })
		if a := post(New(Config{AllowNetworks: loopback}), url); a.code != c.code || a.words != c.words {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

func TestAnEndlessAnswerIsReadUpToALimit(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	url := raw(t, func(conn net.Conn) {
		io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		for chunk := make([]byte, 1<<16); ; {
			n, err := conn.Write(chunk)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	})
	if a := post(New(Config{AllowNetworks: loopback}), url); a.code != 200 {
		t.Errorf("%+v", a)
	}
	if n := sent.Load(); n > 32<<20 { // what the sockets' buffers took is not counted against us
		t.Errorf("%d bytes went out", n)
	}
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
		t.Errorf("%+v, accepting %q", a, asked.Load())
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
	if a := post(d, server.URL); a.words != "the certificate is not trusted" {
		t.Errorf("an unknown issuer: %+v", a)
	}
	transport := newTransport(newDialer(loopback), d.lanes.limits)
	transport.TLSClientConfig = &tls.Config{RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	d.client = &http.Client{Transport: transport}
	t.Cleanup(d.client.CloseIdleConnections)
	if a := post(d, server.URL); a.code != 202 {
		t.Errorf("a known one: %+v", a)
	}
	if a := post(d, strings.Replace(server.URL, "127.0.0.1", "localhost", 1)); a.words != "the certificate is not for this host" {
		t.Errorf("another host's: %+v", a)
	}
	if a := post(d, strings.Replace(newReceiver(t, nil).URL, "http", "https", 1)); a.words == "" || a.code != 0 {
		t.Errorf("TLS to a plain receiver: %+v", a)
	}
}

// A receiver that trickles its answer is cut off when the time of an attempt is over, to the second.
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
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var receiver sync.WaitGroup
				d := New(Config{})
				transport := newTransport(newDialer(nil), d.lanes.limits)
				transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
					ours, theirs := net.Pipe()
					receiver.Go(func() { trickle(theirs, c.start) })
					return ours, nil
				}
				d.client = &http.Client{Transport: transport}
				began := time.Now()
				a := post(d, "http://slow.example/")
				if took := time.Since(began); a.code != c.code || took != 15*time.Second {
					t.Errorf("%+v after %s", a, took)
				}
				if a.code == 0 && a.words != "no answer in time" {
					t.Errorf("it is said that %q", a.words)
				}
				receiver.Wait() // its connection was closed
			})
		})
	}
}

// trickle reads a request, writes the start of an answer, and then one byte a second.
func trickle(conn net.Conn, start string) {
	defer conn.Close()
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	io.Copy(io.Discard, req.Body)
	if start == "" {
		conn.Read(make([]byte, 1)) // until the other end has gone
		return
	}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for _, err = io.WriteString(conn, start); err == nil; _, err = io.WriteString(conn, "a") {
		<-ticker.C
	}
}
