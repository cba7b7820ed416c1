package api_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/api"
)

// TestScripts runs the exchanges of testdata/*.txt against a service of its own on either database.
//
// Lines: "#" is a comment, "!" changes the harness (see play), ">" is a request: method and target, headers, an empty
// line and the body. "@name" among the headers is that account's key, "@name+" key and secret. "<" is the response: the
// status, and for a refusal code and field, or headers and the body byte for byte. In both {{name}} is replaced by the
// value known by that name; in a response {{name:uuid}} matches any UUID and remembers it; {{bytes:ff00}} and
// {{repeat:a:100}} are expanded, in the latter ~ is a line's end and %3A a colon. After every request that only reads
// or is refused, the database is unchanged, to the last row.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			onEach(t, func(t *testing.T, url string) { newScript(t, url).run(string(text)) })
		})
	}
}

// script is a harness with names for what was made on it.
type script struct {
	*harness
	names map[string]string
	line  int
	books *ledgers
}

func newScript(t *testing.T, url string, change ...func(*api.Config)) *script {
	proxied := func(c *api.Config) { c.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }
	c := &script{harness: newHarness(t, url, newClock(), append(change, proxied)...), names: map[string]string{}}
	c.books = openLedgers(t, url)
	for _, name := range []string{"mine", "other"} {
		c.name(name, c.account(true))
	}
	c.name("open", c.account(false))
	for _, scope := range account.AllScopes() {
		issued, err := c.accounts.NewKey(t.Context(), account.Grant{Account: c.id("mine"), Scopes: []bursar.Scope{scope}})
		if err != nil {
			t.Fatal(err)
		}
		c.name(string(scope), issued)
	}
	for id, sim := range c.chains {
		c.names["outsider."+string(id)] = sim.Named("outsider")
		c.names["hot."+string(id)] = c.hot(id)
	}
	for _, currency := range c.registry.All() {
		c.names["contract."+string(currency.Code)] = currency.Contract
	}
	return c
}

func (c *script) name(name string, issued account.Issued) {
	c.names[name], c.names[name+".key"], c.names[name+".secret"] = issued.AccountID.String(), issued.APIKey,
		issued.APISecret
	c.names[name+".keyID"] = issued.KeyID.String()
}

func (c *script) fatalf(format string, args ...any) {
	c.Helper()
	c.Fatalf("line %d: "+format, append([]any{c.line}, args...)...)
}

func (c *script) run(text string) {
	var request, want []string
	start := 0
	finish := func() {
		if request != nil {
			c.line = start
			c.exchange(request, want)
		}
		request, want = nil, nil
	}
	for i, line := range strings.Split(text, "\n") {
		mark, rest := "", ""
		if line != "" {
			mark, rest = line[:1], strings.TrimPrefix(line[1:], " ")
		}
		if want != nil && mark != "<" {
			finish()
		}
		c.line = i + 1
		switch mark {
		case ">":
			if request == nil {
				start = i + 1
			}
			request = append(request, rest)
		case "<":
			want = append(want, rest)
		case "!":
			c.execute(strings.Fields(c.fill(rest)))
		case "", "#":
		default:
			c.fatalf("what is %q?", line)
		}
	}
	finish()
}

var placeholder = regexp.MustCompile(`\{\{([^{}]+)\}\}`)

// fill replaces the placeholders whose values are known.
func (c *script) fill(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(s string) string {
		parts := strings.Split(s[2:len(s)-2], ":")
		if known, found := c.names[parts[0]]; found && len(parts) == 1 {
			return known
		}
		switch parts[0] {
		case "bytes":
			raw, err := hex.DecodeString(parts[1])
			if err != nil {
				c.fatalf("%s: %v", s, err)
			}
			return string(raw)
		case "repeat":
			n, _ := strconv.Atoi(parts[2])
			return strings.Repeat(strings.NewReplacer("~", "\n", "%3A", ":").Replace(parts[1]), n)
		}
		c.fatalf("nothing is known as %s", s)
		return ""
	})
}

func (c *script) exchange(lines, want []string) {
	c.Helper()
	r := c.request(lines)
	before := c.written()
	response, body := c.send(r)
	c.always(r, response, body)
	if read := r.Method != http.MethodPost && r.Method != http.MethodPut; read || response.StatusCode != http.StatusOK {
		if after := c.written(); after != before {
			c.fatalf("%s %s: what only reads or is refused has changed the database:\n%s", r.Method, r.URL.Path,
				difference(before, after))
		}
	}
	status := strings.Fields(want[0])
	if got := strconv.Itoa(response.StatusCode); got != status[0] {
		c.fatalf("%s %s: status %s, want %s\n%s", r.Method, r.URL.Path, got, want[0], body)
	}
	if len(status) > 1 {
		c.refusal(status, body)
		want = append(want[:1:1], keepHeaders(want[1:])...)
	}
	rest := want[1:]
	for len(rest) > 0 && header.MatchString(rest[0]) {
		name, value, _ := strings.Cut(rest[0], ": ")
		if got := response.Header.Get(name); got != value {
			c.fatalf("header %s is %q, want %q", name, got, value)
		}
		rest = rest[1:]
	}
	if len(rest) > 0 {
		c.match(strings.Join(rest, "\n"), string(body))
	}
}

// written returns all that the database holds.
func (c *script) written() string {
	c.Helper()
	all, err := c.books.read()
	if err != nil {
		c.fatalf("%v", err)
	}
	return all
}

var header = regexp.MustCompile(`^[A-Z][A-Za-z-]*: `)

func keepHeaders(lines []string) []string {
	var kept []string
	for _, line := range lines {
		if header.MatchString(line) {
			kept = append(kept, line)
		}
	}
	return kept
}

func (c *script) request(lines []string) *http.Request {
	c.Helper()
	method, target, _ := strings.Cut(c.fill(lines[0]), " ")
	headers := http.Header{}
	body := ""
	for i, line := range lines[1:] {
		if line == "" {
			body = c.fill(strings.Join(lines[i+2:], "\n"))
			break
		}
		if who, ok := strings.CutPrefix(line, "@"); ok {
			name, secret := strings.CutSuffix(who, "+")
			headers.Set("X-API-KEY", c.fill("{{"+name+".key}}"))
			if secret {
				headers.Set("X-API-SECRET", c.fill("{{"+name+".secret}}"))
			}
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		headers.Add(name, c.fill(strings.TrimPrefix(value, " ")))
	}
	if strings.HasPrefix(headers.Get("Content-Type"), "multipart/") {
		body = strings.ReplaceAll(body, "\n", "\r\n")
	}
	r, err := http.NewRequestWithContext(c.Context(), method, c.base+target, strings.NewReader(body))
	if err != nil {
		c.fatalf("%v", err)
	}
	r.Header = headers
	return r
}

var leak = regexp.MustCompile(`(?i)select |sql|goroutine|panic|\.go:|/tmp|postgres`)

// always checks what holds for every response.
func (c *script) always(r *http.Request, response *http.Response, body []byte) {
	c.Helper()
	id := response.Header.Get("X-Request-ID")
	if _, err := bursar.ParseID(id); err != nil {
		c.fatalf("X-Request-ID is %q", id)
	}
	c.agrees(r, response, body)
	if r.URL.Path == "/docs" || r.URL.Path == "/openapi.json" {
		return // TestTheDescriptionIsServed has them
	}
	want := "application/json"
	if r.URL.Query().Get("format") == "csv" && response.StatusCode == http.StatusOK {
		want = "text/csv; charset=utf-8"
	}
	if got := response.Header.Get("Content-Type"); got != want && response.StatusCode != http.StatusNoContent {
		c.fatalf("Content-Type is %q, want %q", got, want)
	}
	if leak.Match(body) {
		c.fatalf("the response shows too much: %s", body)
	}
	if r.Method == http.MethodHead || response.StatusCode == http.StatusNoContent {
		if len(body) > 0 {
			c.fatalf("%s has a body: %s", r.Method, body)
		}
		return
	}
	if want != "application/json" {
		return
	}
	var common struct {
		Success   *bool           `json:"success"`
		Response  json.RawMessage `json:"response"`
		RequestID string          `json:"requestID"`
		Status    string          `json:"status"`
	}
	if err := json.Unmarshal(body, &common); err != nil {
		c.fatalf("the answer is no JSON: %v\n%s", err, body)
	}
	ok := response.StatusCode == http.StatusOK
	if common.Status == "" && (common.Success == nil || *common.Success != ok || !ok && common.RequestID != id ||
		ok && !bytes.HasPrefix(common.Response, []byte("{"))) {
		c.fatalf("the answer has not the form of status %d: %s", response.StatusCode, body)
	}
}

func (c *script) refusal(want []string, body []byte) {
	c.Helper()
	var got struct {
		Error struct{ Code, Message, Field string }
	}
	if err := json.Unmarshal(body, &got); err != nil || got.Error.Message == "" {
		c.fatalf("no refusal: %s", body)
	}
	field := strings.Join(want[2:], " ")
	if got.Error.Code != want[1] || got.Error.Field != field {
		c.fatalf("refused as %s of field %q, want %s of %q: %s", got.Error.Code, got.Error.Field, want[1], field,
			got.Error.Message)
	}
}

var shapes = map[string]string{
	"uuid": `[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`,
	"text": `[^"]+`,
	"json": `\{.*\}`, // one object
}

// match compares byte for byte and remembers the values of the placeholders.
func (c *script) match(want, got string) {
	c.Helper()
	var pattern strings.Builder
	var learned []string
	last := 0
	for _, at := range placeholder.FindAllStringSubmatchIndex(want, -1) {
		pattern.WriteString(regexp.QuoteMeta(want[last:at[0]]))
		last = at[1]
		name, shape, isNew := strings.Cut(want[at[2]:at[3]], ":")
		if isNew && shapes[shape] != "" {
			fmt.Fprintf(&pattern, "(%s)", shapes[shape])
			learned = append(learned, name)
			continue
		}
		pattern.WriteString(regexp.QuoteMeta(c.fill(want[at[0]:at[1]])))
	}
	pattern.WriteString(regexp.QuoteMeta(want[last:]))
	found := regexp.MustCompile("^" + pattern.String() + "\n?$").FindStringSubmatch(got)
	if found == nil {
		c.fatalf("the answer is\n%s\nwant\n%s", got, want)
	}
	for i, name := range learned {
		c.names[name] = found[i+1]
	}
}

func readAll(t testing.TB, r io.Reader) []byte {
	t.Helper()
	body, err := io.ReadAll(io.LimitReader(r, 64<<20))
	if err != nil {
		t.Fatal(err)
	}
	return body
}
