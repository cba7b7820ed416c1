package api_test

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
)

// generator makes requests out of the spec: most are right in most parts, and wrong in some.
type generator struct {
	*script
	*rand.Rand
	right map[string]any
}

// TestNoRequestIsTooMuch sends the generator's requests: no response is an internal error, and each is one that the
// spec describes.
func TestNoRequestIsTooMuch(t *testing.T) {
	onEach(t, noRequestIsTooMuch)
}

func noRequestIsTooMuch(t *testing.T, url string) {
	const seed = 20261121
	c, right := furnished(t, url)
	s := theSpec(t)
	g := &generator{c, rand.New(rand.NewPCG(seed, 0)), right}
	endpoints := s.keyed()
	requests := 120 * len(endpoints)
	if testing.Short() {
		requests = 30 * len(endpoints)
	}
	carried, refused := map[string]int{}, map[string]int{}
	send := func(i int, e endpoint, encoding string) {
		r, description := g.request(e, encoding)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			return // what no HTTP client sends, such as a header with a line feed
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode >= http.StatusInternalServerError || leak.Match(body) {
			t.Errorf("request %d, %s: %d %s", i, description, response.StatusCode, body)
		}
		if err := s.agrees(t.Context(), r, answered{response.StatusCode, response.Header, body}); err != nil {
			t.Errorf("request %d, %s: %v\n%s", i, description, err, body)
		}
		outcome := refused
		if response.StatusCode == http.StatusOK {
			outcome = carried
		}
		outcome[e.op.OperationID]++
		outcome[e.op.OperationID+" by "+encoding]++
	}
	for i := range requests {
		send(i, endpoints[i%len(endpoints)], encodings[i/len(endpoints)%len(encodings)])
	}
	for _, e := range endpoints { // those with many parameters are seldom right in all of them
		for _, encoding := range encodings {
			wanted := e.op.OperationID + " by " + encoding
			if testing.Short() {
				wanted = e.op.OperationID // by any
			}
			for i := 0; i < 200 && carried[wanted] == 0; i++ {
				send(requests+i, e, encoding)
			}
		}
	}
	for _, e := range endpoints {
		if id := e.op.OperationID; carried[id] == 0 || refused[id] == 0 {
			t.Errorf("%s was carried out %d times and refused %d times: the generator has lost its aim, want not 0", id,
				carried[id],
				refused[id])
		}
		for _, encoding := range encodings {
			if what := e.op.OperationID + " by " + encoding; carried[what] == 0 && !testing.Short() {
				t.Errorf("%s was never carried out", what)
			}
		}
	}
}

// fewOf is of how many parameters one is sent to endpoints that have many.
var fewOf = map[string]int{"createLink": 8, "createCharge": 3, "refundCharge": 3}

// one is true once in n times.
func (g *generator) one(n int) bool { return g.IntN(n) == 0 }

// request returns a request with its parameters in an encoding, and a description for failure messages.
func (g *generator) request(e endpoint, encoding string) (*http.Request, string) {
	values := e.least(g.right)
	for _, name := range slices.Sorted(maps.Keys(e.form.Properties)) {
		property := e.form.Properties[name]
		if few := fewOf[e.op.OperationID]; few > 0 && !g.one(few) {
			continue // all its many parameters count, so that few of them are sent
		}
		switch {
		case g.one(12):
			delete(values, name)
		case g.one(6):
			values[name] = g.any(3)
		case g.one(4):
			values[name] = g.value(property.Value)
		case g.one(4):
			if v, known := g.right[name]; known && !e.apart(name) {
				values[name] = v
			}
		}
	}
	if _, some := values["amount"]; e.op.OperationID == "refundCharge" && !some {
		if part, sent := values["part"]; !sent || part == "all" {
			values["amount"] = g.right["amount"] // something must be left for those that follow
			delete(values, "part")
		}
	}
	if _, waits := values["wait"]; waits {
		values["wait"] = []any{0, "0", -1, 26}[g.IntN(4)] // nothing here waits for an event that never comes
	}
	if g.one(10) {
		values[g.text(20)] = g.any(4)
	}
	if g.one(10) && e.method == http.MethodGet && values["limit"] != nil {
		values["limit"] = 1 + g.IntN(1000)
	}
	r := g.encoded(e.method, e.path, encoding, values)
	g.headers(r)
	g.spoil(r)
	if g.one(40) {
		r.Method = []string{"HEAD", "OPTIONS", "DELETE", "PATCH", "POST", "PUT", "GET"}[g.IntN(7)]
	}
	if g.one(10) && r.ContentLength > 0 {
		r.ContentLength = -1 // in chunks
	}
	return r, fmt.Sprintf("%s %s by %s of %.300q with headers %.300q", e.method, r.URL, encoding, values, r.Header)
}

func (g *generator) headers(r *http.Request) {
	who := "mine"
	if g.one(8) {
		who = []string{"other", "open", "read", "wallets", "withdraw"}[g.IntN(5)]
	}
	r.Header.Set("X-API-KEY", g.names[who+".key"])
	r.Header.Set("X-API-SECRET", g.names[who+".secret"])
	if g.one(10) {
		r.Header.Del("X-API-SECRET")
	}
	if g.one(3) {
		r.Header.Set("Idempotency-Key", fmt.Sprint(g.IntN(50)))
	}
	if g.one(30) {
		r.Header[[]string{"X-API-KEY", "X-API-SECRET", "Idempotency-Key", "Content-Type",
			"X-Forwarded-For"}[g.IntN(5)]] = []string{g.text(40), g.text(9)}
	}
	if g.one(20) {
		name := []string{"Accept", "Accept-Encoding", "Accept-Charset", "Content-Encoding", "Content-Language",
			"Content-Range", "Content-Location", "Range",
			"If-Match", "If-None-Match", "If-Modified-Since", "Origin", "Cookie", "Authorization", "X-Request-ID",
			"X-HTTP-Method-Override", "Prefer", "Forwarded", "Via", "Upgrade-Insecure-Requests"}[g.IntN(20)]
		r.Header.Set(name, []string{"*/*", "text/html", "gzip", "identity", "bytes=0-1", "*", g.text(30)}[g.IntN(7)])
	}
	if g.one(30) {
		r.Header.Set("Content-Type", []string{"text/plain", "application/json; charset=utf-16", "multipart/form-data",
			"application/x-www-form-urlencoded", "a;b"}[g.IntN(5)])
	}
}

// spoil changes some bytes of some bodies.
func (g *generator) spoil(r *http.Request) {
	if r.ContentLength == 0 || !g.one(8) {
		return
	}
	body := readAll(g, r.Body)
	for range 1 + g.IntN(3) {
		at := g.IntN(len(body))
		switch g.IntN(3) {
		case 0:
			body[at] = byte(g.IntN(256))
		case 1:
			body = slices.Insert(body, at, body[at])
		case 2:
			body = body[:max(1, at)]
		}
	}
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	r.ContentLength = int64(len(body))
}

// value makes up a value at or just beyond a schema's bounds.
func (g *generator) value(s *openapi3.Schema) any {
	if len(s.OneOf) > 0 {
		return g.value(s.OneOf[g.IntN(len(s.OneOf))].Value)
	}
	switch {
	case s.Type.Is("integer"), s.Type.Is("number"):
		switch n := g.IntN(5); {
		case n == 0 && s.Min != nil:
			return *s.Min - float64(g.IntN(2))
		case n == 1 && s.Max != nil:
			return *s.Max + float64(g.IntN(2))
		case n == 2:
			return g.NormFloat64() * 1e6
		}
		return g.Int64N(1 << g.IntN(62))
	case len(s.Examples) > 0 && g.one(2):
		return s.Examples[g.IntN(len(s.Examples))]
	case s.MaxLength != nil && g.one(4):
		return strings.Repeat("é", int(*s.MaxLength)/2) + strings.Repeat("x", g.IntN(2))
	}
	return g.near(s)
}

// near changes a valid text slightly.
func (g *generator) near(s *openapi3.Schema) string {
	text := g.text(30)
	if len(s.Examples) > 0 {
		text = fmt.Sprint(s.Examples[0])
	}
	if g.one(3) {
		return strings.ToUpper(text)
	}
	at := g.IntN(len(text) + 1)
	return strings.ToValidUTF8(text[:at]+g.text(3)+text[at:], "")
}

// alphabet has characters on which parsers fail.
var alphabet = []rune("aZ09 .-+_:/%&=;,'\"\\{}[]<>\x00\x01\n\r\t\u007f\u0085\u2028\ufeff\ufffdé世😀٣")

func (g *generator) text(most int) string {
	runes := make([]rune, g.IntN(most+1))
	for i := range runes {
		runes[i] = alphabet[g.IntN(len(alphabet))]
	}
	return string(runes)
}

// any makes up any JSON.
func (g *generator) any(depth int) any {
	switch n := g.IntN(8); {
	case n == 0:
		return nil
	case n == 1:
		return g.one(2)
	case n == 2:
		return g.NormFloat64()
	case n == 3:
		return -g.Int64()
	case n == 4 && depth > 0:
		return []any{g.any(depth - 1), g.any(depth - 1)}
	case n == 5 && depth > 0:
		return map[string]any{g.text(5): g.any(depth - 1)}
	case n == 6:
		return []string{"", "0", "-0", "1e9", "NaN", "null", "00000000-0000-0000-0000-000000000000", "' OR 1=1 --",
			"../../etc/passwd", "http://127.0.0.1/", "\x00"}[g.IntN(11)]
	}
	return strings.ToValidUTF8(g.text(60), string(utf8.RuneError))
}
