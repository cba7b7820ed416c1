package api_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store/storetest"
)

// rawConnection is a connection on which only a test writes.
type rawConnection struct {
	*harness
	conn   *net.TCPConn
	reader *bufio.Reader
}

func (s *harness) dial() *rawConnection {
	s.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil { // a test that waits in vain fails
		s.Fatal(err)
	}
	return &rawConnection{s, conn.(*net.TCPConn), bufio.NewReader(conn)}
}

// say writes lines, each of which ends as in HTTP; the last one ends with the text.
func (w *rawConnection) say(text string) {
	w.Helper()
	if _, err := io.WriteString(w.conn, strings.ReplaceAll(text, "\n", "\r\n")); err != nil {
		w.Fatal(err)
	}
}

// hear reads one response: status and code, "bare" in place of the code where the HTTP layer itself has responded. It
// is "end" where the connection ends.
func (w *rawConnection) hear(method string) string {
	w.Helper()
	response, err := http.ReadResponse(w.reader, &http.Request{Method: method})
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "end"
	}
	if err != nil {
		return fmt.Sprint("broken off: ", err)
	}
	if response.StatusCode == http.StatusContinue {
		return "100"
	}
	body := readAll(w, response.Body)
	id := response.Header.Get("X-Request-ID")
	if id == "" {
		return fmt.Sprint(response.StatusCode, " bare")
	}
	var said struct {
		Error     struct{ Code string }
		RequestID string
	}
	if err := json.Unmarshal(body, &said); err != nil && len(body) > 0 {
		w.Errorf("the answer is no JSON: %s", body)
	}
	if _, err := bursar.ParseID(id); err != nil || said.Error.Code != "" && said.RequestID != id {
		w.Errorf("the request's ID is %q, in the body %q", id, said.RequestID)
	}
	return strings.TrimSpace(fmt.Sprint(response.StatusCode, " ", said.Error.Code))
}

// all reads to the end of the connection.
func (w *rawConnection) all() (answers []string) {
	for range 100 {
		answer := w.hear(http.MethodGet)
		answers = append(answers, answer)
		if answer == "end" || strings.HasPrefix(answer, "broken") {
			break
		}
	}
	return answers
}

// talks are texts written at once, and all responses until the connection ends. KEY is a key; END asks for the
// connection to be closed.
var talks = map[string]struct {
	text string
	want []string
}{
	"an ordinary request": {"GET /api/v1/account HTTP/1.1\nHost: a\nX-API-KEY: KEY\nEND\n\n", []string{"200", "end"}},
	"HTTP/1.0":            {"GET /api/v1/account HTTP/1.0\nX-API-KEY: KEY\n\n", []string{"200", "end"}},
	"HTTP/1.0 with a body": {"POST /api/v1/wallet HTTP/1.0\nX-API-KEY: KEY\nContent-Type: " +
		"application/json\nContent-Length: 2\n\n{}", []string{"400 invalid_request", "end"}},
	"a body of HTTP/1.0 without a length is none": {"POST /api/v1/wallet HTTP/1.0\nX-API-KEY: KEY\nContent-Type: " +
		"application/json\n\n{\"currency\":\"BTC\",\"webhook\":\"https://shop.example\"}",
		[]string{"400 invalid_request", "end"}},
	"HTTP/0.9":              {"GET /api/v1/account\n", []string{"400 bare", "end"}},
	"HTTP/3":                {"GET /api/v1/account HTTP/3.0\nHost: a\n\n", []string{"505 bare", "end"}},
	"the preface of HTTP/2": {"PRI * HTTP/2.0\n\nSM\n\n", []string{"404 not_found", "end"}},
	"no host":               {"GET /api/v1/account HTTP/1.1\nX-API-KEY: KEY\n\n", []string{"400 bare", "end"}},
	"two hosts": {"GET /api/v1/account HTTP/1.1\nHost: a\nHost: b\nX-API-KEY: KEY\n\n",
		[]string{"400 bare", "end"}},
	"no HTTP at all": {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n", []string{"400 bare", "end"}},
	"a whole URL": {"GET http://elsewhere.example/api/v1/account HTTP/1.1\nHost: a\nX-API-KEY: KEY\nEND\n\n",
		[]string{"200", "end"}},
	"a star": {"OPTIONS * HTTP/1.1\nHost: a\nEND\n\n", []string{"404 not_found", "end"}},
	"CONNECT": {"CONNECT elsewhere.example:443 HTTP/1.1\nHost: a\nEND\n\n",
		[]string{"404 not_found", "end"}},
	"no slash": {"GET api/v1/account HTTP/1.1\nHost: a\nX-API-KEY: KEY\nEND\n\n",
		[]string{"400 bare", "end"}},
	"a fragment": {"GET /api/v1/account#x HTTP/1.1\nHost: a\nX-API-KEY: KEY\nEND\n\n",
		[]string{"404 not_found", "end"}},
	"a raw space": {"GET /api/v1/account ?a=1 HTTP/1.1\nHost: a\nX-API-KEY: KEY\nEND\n\n",
		[]string{"400 bare", "end"}},
	"a space before the colon": {"GET /api/v1/account HTTP/1.1\nHost: a\nX-API-KEY : KEY\n\n",
		[]string{"400 bare", "end"}},
	"a zero byte in a header": {"GET /api/v1/account HTTP/1.1\nHost: a\nX-API-KEY: KEY\x00\n\n",
		[]string{"400 bare", "end"}},
	"a key on two lines": {"GET /api/v1/account HTTP/1.1\nHost: a\nX-API-KEY: KEY\n  x\nEND\n\n",
		[]string{"401 unauthorized", "end"}},
	"two keys": {"GET /api/v1/account HTTP/1.1\nHost: a\nX-API-KEY: KEY\nx-api-key: KEY\nEND\n\n",
		[]string{"401 unauthorized", "end"}},
	"a key and an empty one": {"GET /api/v1/account HTTP/1.1\nHost: a\nX-API-KEY: KEY\nX-API-KEY:\nEND\n\n",
		[]string{"401 unauthorized", "end"}},
	"a key with an underscore": {"GET /api/v1/account HTTP/1.1\nHost: a\nX_API_KEY: KEY\nEND\n\n",
		[]string{"401 unauthorized", "end"}},

	"two lengths": {"POST /api/v1/wallet HTTP/1.1\nHost: a\nX-API-KEY: KEY\nContent-Length: " +
		"2\nContent-Length: 3\n\n{}", []string{"400 bare", "end"}},
	"a length with a sign": {"POST /api/v1/wallet HTTP/1.1\nHost: a\nX-API-KEY: KEY\nContent-Length: " +
		"+2\n\n{}", []string{"400 bare", "end"}},
	"a length below zero": {"POST /api/v1/wallet HTTP/1.1\nHost: a\nX-API-KEY: KEY\nContent-Length: " +
		"-1\n\n", []string{"400 bare", "end"}},
	"an unknown coding": {"POST /api/v1/wallet HTTP/1.1\nHost: a\nX-API-KEY: " +
		"KEY\nTransfer-Encoding: gzip, chunked\n\n0\n\n", []string{"501 bare", "end"}},
	"chunks": {"POST /api/v1/wallet HTTP/1.1\nHost: a\nX-API-KEY: KEY\nContent-Type: " +
		"application/json\nTransfer-Encoding: chunked\nEND\n\n1\n{\n1\n}\n0\n\n", []string{"400 invalid_request", "end"}},
	"a trailer is no parameter, nor a key": {"POST /api/v1/wallet HTTP/1.1\nHost: a\nTransfer-Encoding: " +
		"chunked\nTrailer: X-API-KEY\nEND\n\n0\nX-API-KEY: KEY\n\n", []string{"401 unauthorized", "end"}},
	"a chunk of no size": {"POST /api/v1/wallet HTTP/1.1\nHost: a\nX-API-KEY: KEY\nContent-Type: " +
		"application/json\nTransfer-Encoding: chunked\n\nzz\n{}\n0\n\n", []string{"400 invalid_request", "end"}},
	"chunks of a wrong length": {"POST /api/v1/wallet HTTP/1.1\nHost: a\nX-API-KEY: KEY\nContent-Type: " +
		"application/json\nTransfer-Encoding: chunked\n\n1\n{}\n0\n\n", []string{"400 invalid_request", "end"}},
	"chunks without end": {"POST /api/v1/wallet HTTP/1.1\nHost: a\nX-API-KEY: KEY\nContent-Type: " +
		"application/json\nTransfer-Encoding: chunked\nEND\n\n" +
		strings.Repeat("1000\n"+strings.Repeat(" ", 4096)+"\n", 17) + "0\n\n", []string{"413 body_too_large", "end"}},
	"chunks come before a length": {"POST /api/v1/account HTTP/1.1\nHost: a\nX-API-KEY: KEY\nContent-Length: " +
		"5\nTransfer-Encoding: chunked\n\n0\n\nGET /healthz HTTP/1.1\nHost: a\nEND\n\n",
		[]string{"405 method_not_allowed", "end"}},

	"HTTP/1.0 that would stay": {"GET /healthz HTTP/1.0\nConnection: keep-alive\n\nGET /healthz HTTP/1.0\n\n",
		[]string{"200", "end"}},
	"HTTP/1.0 with chunks and a length": {"POST /api/v1/account HTTP/1.0\nConnection: keep-alive\nX-API-KEY: KEY\n" +
		"Content-Length: 5\nTransfer-Encoding: chunked\n\n0\n\nGET /healthz HTTP/1.1\nHost: a\nEND\n\n",
		[]string{"405 method_not_allowed", "end"}},

	"an unknown expectation": {"GET /api/v1/account HTTP/1.1\nHost: a\nX-API-KEY: KEY\nExpect: miracles\nEND\n\n",
		[]string{"417 bare", "end"}},

	"pipelining": {"GET /api/v1/account HTTP/1.1\nHost: a\nX-API-KEY: KEY\n\nGET /nothing HTTP/1.1\nHost: a\n\nPOST " +
		"/api/v1/wallet HTTP/1.1\nHost: a\nX-API-KEY: KEY\nContent-Type: application/json\nContent-Length: 2\n\n{}GET " +
		"/healthz HTTP/1.1\nHost: a\nEND\n\n",
		[]string{"200", "404 not_found", "400 invalid_request", "200", "end"}},
	"a body that is refused unread is no request": {"POST /api/v1/account HTTP/1.1\nHost: a\nX-API-KEY: " +
		"KEY\nContent-Length: 36\n\nGET /healthz HTTP/1.1\nHost: b\nX: y\n\nGET /api/v1/account HTTP/1.1\nHost: " +
		"a\nX-API-KEY: KEY\nEND\n\n",
		[]string{"405 method_not_allowed", "200", "end"}},

	"a header too long": {"GET /api/v1/account HTTP/1.1\nHost: a\nX-API-KEY: KEY\nX: " +
		strings.Repeat("x", 24<<10) + "\n\n", []string{"431 bare", "end"}},
	"a target too long": {"GET /api/v1/account?x=" + strings.Repeat("x", 24<<10) +
		" HTTP/1.1\nHost: a\nX-API-KEY: KEY\n\n", []string{"431 bare", "end"}},
	"headers too many": {"GET /api/v1/account HTTP/1.1\nHost: a\nX-API-KEY: KEY\n" +
		strings.Repeat("X: y\n", 5000) + "\n", []string{"431 bare", "end"}},
	"a key of 10,000 characters": {"GET /api/v1/account HTTP/1.1\nHost: a\nX-API-KEY: " + strings.Repeat("k", 10_000) +
		"\nEND\n\n", []string{"401 unauthorized", "end"}},
}

// TestOnTheWire writes what no HTTP client of Go writes, on real sockets. Every request is answered as listed or cut
// off, and nothing is written into the database.
func TestOnTheWire(t *testing.T) {
	t.Parallel()
	url := storetest.Reused(t)
	s := newHarness(t, url, newClock())
	key := s.account(false).APIKey
	books := openLedgers(t, url)
	before, err := books.read()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range talks {
		w := s.dial()
		w.say(strings.NewReplacer("KEY\n", key+"\n", "KEY\x00", key+"\x00", "END\n", "Connection: close\n").Replace(c.text))
		if got := w.all(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if after, err := books.read(); err != nil || after != before {
		t.Errorf("the database has changed: %v\n%s", err, difference(before, after))
	}
}

// TestAClientThatAsksFirst sends headers and waits for "100 Continue". It gets that where its body will be read, and
// the refusal at once where it will not.
func TestAClientThatAsksFirst(t *testing.T) {
	t.Parallel()
	s := newHarness(t, storetest.Reused(t), newClock())
	key := s.account(false).APIKey
	const body = `{"currency":"BTC","webhook":"https://shop.example"}`
	for name, c := range map[string]struct {
		key    string
		length int
		want   []string
	}{
		"is asked to go on":     {key, len(body), []string{"100", "200"}},
		"with too much to send": {key, 64<<10 + 1, []string{"413 body_too_large"}},
		"without a key":         {"", len(body), []string{"401 unauthorized"}},
	} {
		w := s.dial()
		w.say(fmt.Sprintf("POST /api/v1/wallet HTTP/1.1\nHost: a\nX-API-KEY: %s\nContent-Type: "+
			"application/json\nContent-Length: %d\nExpect: 100-continue\n\n", c.key, c.length))
		for _, want := range c.want {
			got := w.hear(http.MethodPost)
			if got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
			if got == "100" {
				w.say(body)
			}
		}
	}
}

// TestABodyThatBreaksOff ends the sending side in the middle of a body, with and without a length. The body is not
// taken as complete, even where the received part is whole JSON.
func TestABodyThatBreaksOff(t *testing.T) {
	t.Parallel()
	url := storetest.Reused(t)
	s := newHarness(t, url, newClock())
	key := s.account(false).APIKey
	books := openLedgers(t, url)
	before, err := books.read()
	if err != nil {
		t.Fatal(err)
	}
	const body = `{"currency":"BTC","webhook":"https://shop.example"}`
	for framing, text := range map[string]string{
		"Content-Length: 60":         body,
		"Transfer-Encoding: chunked": fmt.Sprintf("%x\n%s\n", len(body), body),
	} {
		w := s.dial()
		w.say("POST /api/v1/wallet HTTP/1.1\nHost: a\nX-API-KEY: " + key + "\nContent-Type: application/json\n" + framing +
			"\n\n" + text)
		if err := w.conn.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if got := w.all(); !slices.Equal(got, []string{"400 invalid_request", "end"}) {
			t.Errorf("with %s: %q, want %+v", framing, got, []string{"400 invalid_request", "end"})
		}
	}
	if after, err := books.read(); err != nil || after != before {
		t.Errorf("the database has changed: %v\n%s", err, difference(before, after))
	}
}

// A request with a Content-Length and chunks is read by its chunks: what a proxy may have read as its body is no
// request.
func TestNothingIsReadBehindChunks(t *testing.T) {
	t.Parallel()
	s := newHarness(t, storetest.Reused(t), newClock())
	for name, length := range map[string]string{"both lengths": "Content-Length: 60\n", "chunks alone": ""} {
		w := s.dial()
		w.say("GET /healthz HTTP/1.1\nHost: a\n" + length + "Transfer-Encoding: chunked\n\n0\n\n" +
			"GET /healthz HTTP/1.1\nHost: a\n\n")
		if got := w.hear("GET"); got != "200 " && got != "200" {
			t.Errorf("%s: the request itself: %q, want 200", name, got)
		}
		if got := w.hear("GET"); got != "end" {
			t.Errorf("%s: what follows: %q, want the end of the connection", name, got)
		}
	}
}
