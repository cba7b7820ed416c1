package rpc

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// heard is a Streamed that keeps every string of a list of objects, by its length and its beginning.
type heard struct {
	lengths []int
	heads   []string
	runs    int
}

func (h *heard) ReadResult(dec *jsontext.Decoder) error {
	h.lengths, h.heads = nil, nil
	h.runs++
	depth := dec.StackDepth()
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return err
		}
		if token.Kind() == jsontext.KindString {
			s := token.String()
			h.lengths, h.heads = append(h.lengths, len(s)), append(h.heads, s[:min(len(s), 8)])
		}
		if dec.StackDepth() == depth {
			return nil
		}
	}
}

func TestStreamedResultsComeInAnyEnvelope(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"id first":           `{"jsonrpc":"2.0","id":ID,"result":[{"a":"x"}]}`,
		"result first":       `{"result":[{"a":"x"}],"id":ID,"jsonrpc":"2.0"}`,
		"error null between": `{"result":[{"a":"x"}],"error":null,"id":ID}`,
		"members of others": `{"usage":{"cu":[1,2]},"id":ID,"result":[{"a":"x"}],"trace_id":"` +
			strings.Repeat("t", 9000) + `"}`,
		"space": "\n\t { \"id\" : ID ,\r\n \"result\" : [ { \"a\" : \"x\" } ] } \n\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, Config{URLs: urlsOf(startNode(t, says(200, body)))})
			var out heard
			if err := c.Call(t.Context(), "m", nil, &out); err != nil || fmt.Sprint(out.heads) != "[a x]" {
				t.Errorf("read %v, error %v", out.heads, err)
			}
			var whole []struct{ A string }
			if err := c.Call(t.Context(), "m", nil, &whole); err != nil || len(whole) != 1 {
				t.Errorf("decoded %v, error %v", whole, err)
			}
		})
	}
}

func TestInvalidStreamedAnswersAreFaults(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ body, text string }{
		"another id":        {`{"result":[],"id":4711}`, "unknown id"},
		"no id":             {`{"result":[]}`, "unknown id"},
		"truncated":         {`{"id":ID,"result":[{"a":"x"`, "not JSON"},
		"both":              {`{"id":ID,"result":["a"],"error":{"code":1,"message":"x"}}`, "both a result and an error"},
		"neither":           {`{"id":ID}`, "neither"},
		"behind":            {`{"id":ID,"result":[]} {}`, "after top-level value"},
		"twice":             {`{"id":ID,"result":[],"result":[]}`, "duplicate"},
		"a list":            {`[{"id":ID,"result":[]}]`, "requested form"},
		"nothing":           {``, "empty answer"},
		"a page":            {`<html>`, "HTML"},
		"a number for ever": {`{"id":ID,"result":[1` + strings.Repeat("0", 6000) + `]}`, "too long"},
		"names for ever":    {`{"id":ID,"result":{` + manyNames(70000) + `}}`, "too many members"},
		"an error for ever": {`{"id":ID,"error":[` + strings.Repeat(`"0123456789",`, 200_000) + `1]}`,
			"larger than the bound"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, Config{URLs: urlsOf(startNode(t, says(200, tc.body)))})
			mustBeUnavailable(t, c.Call(t.Context(), "m", nil, &heard{}), tc.text)
		})
	}
	var out heard
	c := newClient(t, Config{URLs: urlsOf(startNode(t, says(200, `{"id":ID,"result":null}`)))})
	if err := c.Call(t.Context(), "m", nil, &out); !errors.Is(err, ErrNull) {
		t.Errorf("null: %v, want %v", err, ErrNull)
	}
	c = newClient(t, Config{URLs: urlsOf(startNode(t, says(200, `{"error":{"code":-32000,"message":"no"},"id":ID}`)))})
	var answer *Error
	if err := c.Call(t.Context(), "m", nil, &out); !errors.As(err, &answer) || answer.Code != -32000 {
		t.Errorf("error: %v", err)
	}
}

func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%d" : 0,`, i)
	}
	return b.String() + `"x":0`
}

// greedy reads less or more than one value.
type greedy struct{ tokens int }

func (g *greedy) ReadResult(dec *jsontext.Decoder) error {
	for range g.tokens {
		if _, err := dec.ReadToken(); err != nil {
			return err
		}
	}
	return nil
}

func TestStreamedReadsOneValue(t *testing.T) {
	t.Parallel()
	for tokens, sound := range map[int]bool{0: false, 1: false, 2: true, 3: false} {
		c := newClient(t, Config{URLs: urlsOf(startNode(t, says(200, `{"id":ID,"result":[],"z":1}`)))})
		err := c.Call(t.Context(), "m", nil, &greedy{tokens})
		if (err == nil) != sound {
			t.Errorf("%d tokens: %v", tokens, err)
		}
	}
}

// A second attempt starts from nothing: what the first endpoint sent before it broke off is forgotten.
func TestStreamedIsReadAgainElsewhere(t *testing.T) {
	t.Parallel()
	ill := startNode(t, says(200, `{"id":ID,"result":["half",`))
	c := newClient(t, Config{URLs: urlsOf(ill, startNode(t, gives(`["whole"]`)))})
	var out heard
	if err := c.Call(t.Context(), "m", nil, &out); err != nil || fmt.Sprint(out.heads) != "[whole]" || out.runs != 2 {
		t.Errorf("read %v in %d runs, error %v", out.heads, out.runs, err)
	}
}

func TestLongStringsAreCut(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in   string
		want int // bytes that arrive
	}{
		"plain":               {strings.Repeat("f", 5<<20), longestString},
		"as long as it may":   {strings.Repeat("f", longestString), longestString},
		"one more":            {strings.Repeat("f", longestString+1), longestString},
		"a character on edge": {strings.Repeat("f", longestString-1) + "€" + strings.Repeat("f", 100), longestString + 2},
		"characters only":     {strings.Repeat("€", 3000), longestString + 2},
		"escapes":             {strings.Repeat(`\"`, 4000), longestString / 2},
		"backslashes":         {strings.Repeat(`\\`, 4000), longestString / 2},
		"an escape on edge":   {strings.Repeat("f", longestString-1) + `\"` + strings.Repeat("f", 100), longestString},
		"a pair on edge": {strings.Repeat("f", longestString-6) + `\ud83d\ude00` + strings.Repeat("f", 100),
			longestString - 6 + 4},
		"a unit on edge": {strings.Repeat("f", longestString-2) + `\u0041\u0042` + strings.Repeat("f", 100),
			longestString - 2 + 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, gz := range []bool{false, true} {
				body := `{"result":["before","` + tc.in + `","after"],"id":1}`
				c := newClient(t, Config{URLs: []string{"http://node.example"}, HTTP: answering(func() *http.Response {
					return response(body, gz)
				})})
				var out heard
				err := c.Call(t.Context(), "m", nil, &out)
				if err != nil || len(out.lengths) != 3 || out.lengths[1] != tc.want || out.heads[2] != "after" {
					t.Errorf("gzip %v: lengths %v, error %v, want %d", gz, out.lengths, err, tc.want)
				}
			}
		})
	}
}

func answering(next func() *http.Response) inMemory {
	return func(*http.Request) (*http.Response, error) { return next(), nil }
}

func response(body string, gz bool) *http.Response {
	r := &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: int64(len(body)),
		Body: io.NopCloser(strings.NewReader(body))}
	if gz {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		io.WriteString(z, body)
		z.Close()
		r.Header.Set("Content-Encoding", "gzip")
		r.Body, r.ContentLength = io.NopCloser(&b), int64(b.Len())
	}
	return r
}

// FuzzFilter holds that the filter changes nothing that the decoder sees but the length of strings and space, however
// the text is cut into pieces.
func FuzzFilter(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-2.5e3,true,null,"x\u0041\ud83d\ude00\n"]}`, `  [ "" , {} ]  `, `"\\\\\""`,
		`[1 2]`, `{"a" : {"b" : "c"}}x`, "\"\xff\"", `"\ud800"`, `tru e`} {
		f.Add([]byte(seed), 1)
		f.Add([]byte(seed), 3)
	}
	f.Fuzz(func(t *testing.T, text []byte, step int) {
		if len(text) >= longestString {
			return
		}
		passed, err := io.ReadAll(newFilter(&stepper{bytes.NewReader(text), 1 + step&15}))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		plain, want := jsontext.Value(text).Clone(), jsontext.Value(passed).Clone()
		if plain.Compact() == nil {
			if err := want.Compact(); err != nil || !bytes.Equal(plain, want) {
				t.Errorf("%q became %q: %v", text, passed, err)
			}
		} else if want.IsValid() {
			t.Errorf("%q became sound: %q", text, passed)
		}
	})
}

func BenchmarkStream(b *testing.B) {
	const size = 64 << 20
	c := newClient(b, Config{URLs: []string{"http://node.example"},
		HTTP: inMemory(func(r *http.Request) (*http.Response, error) {
			asked, _ := io.ReadAll(r.Body)
			return &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: -1,
				Body: io.NopCloser(bombBody(size, idOf(asked)))}, nil
		})})
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Call(b.Context(), "debug_traceBlockByHash", nil, &traced{}); err != nil {
			b.Fatal(err)
		}
	}
}
