package rpc

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
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
				t.Errorf("read %v, error %v, want %q", out.heads, err, "[a x]")
			}
			var whole []struct{ A string }
			if err := c.Call(t.Context(), "m", nil, &whole); err != nil || len(whole) != 1 {
				t.Errorf("decoded %v, error %v, want 1 of them", whole, err)
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
			t.Errorf("%d tokens: %v, want %v", tokens, err, sound)
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
		t.Errorf("read %v in %d runs, error %v, want %q and 2", out.heads, out.runs, err, "[whole]")
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
				t.Errorf("%q became %q: %v, want %x", text, passed, err, want)
			}
		} else if want.IsValid() {
			t.Errorf("%q became sound: %q", text, passed)
		}
	})
}

type stepper struct {
	src  io.Reader
	step int
}

func (s *stepper) Read(p []byte) (int, error) { return s.src.Read(p[:min(len(p), s.step)]) }

// bombBody is the answer of callTracer to a cheap transaction that makes a node repeat 768 KiB of call input for each
// of many calls, and once a single token of 20 MB.
func bombBody(size int64, id string) io.Reader {
	call := `{"type":"CALL","from":"0x1111111111111111111111111111111111111111","to":"0x2222222222222222222222222222222222222222","value":"0x0","gasUsed":"0x0","input":"0x`
	parts := []io.Reader{strings.NewReader(`{"jsonrpc":"2.0","result":[{"txHash":"0x33","result":{"type":"CREATE","calls":[` + call), endless('0', 20<<20), strings.NewReader(`"}`)}
	for left := size - 20<<20; left > 0; left -= 1536 << 10 {
		parts = append(parts, strings.NewReader(","+call), endless('0', 1536<<10), strings.NewReader(`"}`))
	}
	return io.MultiReader(append(parts, strings.NewReader(`]}}],"id":`+id+`}`))...)
}

type same byte

func (s same) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(s)
	}
	return len(p), nil
}

func endless(c byte, n int64) io.Reader { return io.LimitReader(same(c), n) }

// traced counts calls as an adapter does that skips inputs.
type traced struct{ calls int }

func (c *traced) ReadResult(dec *jsontext.Decoder) error {
	c.calls = 0
	depth := dec.StackDepth()
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return err
		}
		if token.Kind() == jsontext.KindString && token.String() == "input" {
			c.calls++
		}
		if dec.StackDepth() == depth {
			return nil
		}
	}
}

// An outsider's transaction decides how long the trace of its block is. 256 MiB of it take a few MiB of memory in all.
func TestATraceBombTakesLittleMemory(t *testing.T) {
	const size = 256 << 20
	c := newClient(t, Config{URLs: []string{"http://node.example"}, HTTP: answering(func() *http.Response {
		return &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: -1,
			Body: io.NopCloser(bombBody(size, "1"))}
	})})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var out traced
	if err := c.Call(t.Context(), "debug_traceBlockByHash", nil, &out); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 4<<20 {
		t.Errorf("%d bytes were allocated for an answer of %d, want at most %v", allocated, size, 4<<20)
	}
	if want := 1 + (size-20<<20+1536<<10-1)/(1536<<10); out.calls != want {
		t.Errorf("%d calls were read, want %d", out.calls, want)
	}
}

func TestAStreamIsBounded(t *testing.T) {
	t.Parallel()
	c := newClient(t, Config{URLs: []string{"http://node.example"}, MaxStream: 1 << 20,
		HTTP: answering(func() *http.Response {
			return &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: -1,
				Body: io.NopCloser(bombBody(32<<20, "1"))}
		})})
	mustBeUnavailable(t, c.Call(t.Context(), "m", nil, &traced{}), "larger than the bound of 1048576 bytes")
	c = newClient(t, Config{URLs: []string{"http://node.example"}, MaxBody: 1 << 20,
		HTTP: answering(func() *http.Response {
			return &http.Response{StatusCode: 500, Header: http.Header{}, ContentLength: -1,
				Body: io.NopCloser(bombBody(32<<20, "1"))}
		})})
	mustBeUnavailable(t, c.Call(t.Context(), "m", nil, &traced{}), "larger than the bound of 1048576 bytes")
}

// What was decoded before an answer turned out to be unsound is not left behind.
func TestNothingIsLeftOfAnInvalidAnswer(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"result":{"A":7},"id":4711}`, `{"id":ID,"result":{"A":7}`,
		`{"id":ID,"result":{"A":7,"B":8}}`,
		`{"id":ID,"result":{"A":7},"error":{"code":1,"message":"x"}}`} {
		c := newClient(t, Config{URLs: urlsOf(startNode(t, says(200, body)))})
		out := struct {
			A int
			B string
		}{A: 1}
		if err := c.Call(t.Context(), "m", nil, &out); !errors.Is(err, ErrUnavailable) || out.A != 0 {
			t.Errorf("%s: %+v, %v, want %v and 0", body, out, err, ErrUnavailable)
		}
	}
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
