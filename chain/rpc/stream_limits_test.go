package rpc

import (
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

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
		t.Errorf("%d bytes were allocated for an answer of %d", allocated, size)
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
			t.Errorf("%s: %+v, %v", body, out, err)
		}
	}
}
