package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/bursar/bursar"
)

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
