package api_test

import (
	"encoding/hex"
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
