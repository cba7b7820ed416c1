package rpc

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// someBytes returns bytes that are the same for the same length.
func someBytes(n int) []byte {
	random := rand.New(rand.NewPCG(uint64(n), 1))
	raw := make([]byte, n)
	for i := range raw {
		raw[i] = byte(random.Uint32())
	}
	return raw
}

// Each length around the one at which strings are cut, and each place in the answer.
func TestHexIsDecodedAtEveryLength(t *testing.T) {
	t.Parallel()
	const cut = longestString / 2
	for _, length := range []int{0, 1, 2, 100, cut - 1, cut, cut + 1, cut + 2, 3 * cut, 100_001} {
		want := someBytes(length)
		text := hex.EncodeToString(want)
		for name, body := range map[string]string{
			"alone":             `{"id":ID,"result":"` + text + `"}`,
			"first":             `{"result":"` + text + `","error":null,"id":ID}`,
			"in capitals":       ` { "result" : "` + strings.ToUpper(text) + `" , "id" : ID } `,
			"before long text":  `{"result":"` + text + `","id":ID,"trace":"` + strings.Repeat("t", 9000) + `"}`,
			"before many texts": `{"result":"` + text + `","id":ID,"z":["` + strings.Repeat(`ab","`, 90_000) + `"]}`,
		} {
			c := newClient(t, Config{URLs: urlsOf(startNode(t, says(200, body)))})
			out := Hex{Bytes: someBytes(7)}
			if err := c.Call(t.Context(), "m", nil, &out); err != nil || !bytes.Equal(out.Bytes, want) {
				t.Errorf("%d bytes %s: got %d (%v), want %x", length, name, len(out.Bytes), err, want)
			}
		}
	}
}

// However the answer is cut into pieces, the result is the same.
func TestHexArrivesInAnyPieces(t *testing.T) {
	t.Parallel()
	want := someBytes(9001)
	text := `{"error":null,"result":"` + hex.EncodeToString(want) + `","id":1,"trace":"` + strings.Repeat("f", 9000) + `"}`
	for name, in := range map[string]io.Reader{
		"byte by byte": iotest.OneByteReader(strings.NewReader(text)),
		"in halves":    iotest.HalfReader(strings.NewReader(text)),
		"at random":    &pieces{rest: []byte(text), random: rand.New(rand.NewPCG(3, 4))},
	} {
		var out Hex
		_, err := decodeStream(reply{stream: &body{src: in, limit: 1 << 20, promise: -1}}, &out)
		if err != nil || !bytes.Equal(out.Bytes, want) {
			t.Errorf("%s: %d bytes (%v), want %x", name, len(out.Bytes), err, want)
		}
	}
}

// pieces reads pieces of random lengths.
type pieces struct {
	rest   []byte
	random *rand.Rand
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.rest[:min(len(p.rest), 1+p.random.IntN(700))])
	p.rest = p.rest[n:]
	return n, nil
}

func TestOtherResultsThanHexAreFaults(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ab", 5000)
	for name, result := range map[string]string{
		"a number":                  `17`,
		"an object":                 `{"a":"ab"}`,
		"an odd digit":              `"abc"`,
		"a letter":                  `"zz"`,
		"an escape":                 `"\u0061b"`,
		"an odd digit at the end":   `"` + long + `a"`,
		"a letter at the end":       `"` + long + `zz"`,
		"a letter at the beginning": `"zz` + long + `"`,
		"an escape at the end":      `"` + long + `\u0061b"`,
		"an escaped quote":          `"` + long + `\"ab"`,
		"an escape before the cut":  `"` + long[:4090] + `\u0061\u0061` + long + `"`,
		"other letters":             `"` + long + strings.Repeat("ü", 1000) + `"`,
	} {
		c := newClient(t, Config{URLs: urlsOf(startNode(t, says(200, `{"id":ID,"result":`+result+`}`)))})
		t.Run(name, func(t *testing.T) { mustBeUnavailable(t, c.Call(t.Context(), "m", nil, &Hex{}), "hexadecimal") })
	}
	// Only the first long string is kept. One that is not the result is refused, and never taken for it.
	for name, body := range map[string]string{
		"before":   `{"trace":"` + long + `","result":"` + long + `","id":ID}`,
		"the last": `{"result":"` + long + `","result":"cd","id":ID}`,
	} {
		c := newClient(t, Config{URLs: urlsOf(startNode(t, says(200, body)))})
		if err := c.Call(t.Context(), "m", nil, &Hex{}); !errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: %v, want %v", name, err, ErrUnavailable)
		}
	}
}

// A short result after a long text is complete without it.
func TestHexAfterLongText(t *testing.T) {
	t.Parallel()
	body := `{"trace":"` + strings.Repeat("ab", 5000) + `","result":"cdef","id":ID}`
	c := newClient(t, Config{URLs: urlsOf(startNode(t, says(200, body)))})
	var out Hex
	if err := c.Call(t.Context(), "m", nil, &out); err != nil || fmt.Sprintf("%x", out.Bytes) != "cdef" {
		t.Errorf("%x (%v), want %q", out.Bytes, err, "cdef")
	}
}

func TestHexIsNoLongerThanOtherResults(t *testing.T) {
	t.Parallel()
	body := `{"id":ID,"result":"` + strings.Repeat("ab", 5000) + `"}`
	c := newClient(t, Config{URLs: urlsOf(startNode(t, says(200, body))), MaxBody: 9000})
	mustBeUnavailable(t, c.Call(t.Context(), "m", nil, &Hex{}), "larger than the bound")
	c = newClient(t, Config{URLs: urlsOf(startNode(t, says(200, `{"id":ID,"result":null}`)))})
	if err := c.Call(t.Context(), "m", nil, &Hex{}); !errors.Is(err, ErrNull) {
		t.Errorf("null: %v, want %v", err, ErrNull)
	}
}

// A second attempt starts from nothing, in the same buffer.
func TestHexIsReadAgainElsewhere(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("ab", 6000)
	broken := startNode(t, says(200, `{"id":ID,"result":"`+text))
	c := newClient(t, Config{URLs: urlsOf(broken, startNode(t, says(200, `{"id":ID,"result":"`+text[:9000]+`"}`)))})
	var out Hex
	if err := c.Call(t.Context(), "m", nil, &out); err != nil || hex.EncodeToString(out.Bytes) != text[:9000] {
		t.Errorf("%d bytes (%v), want %v", len(out.Bytes), err, text[:9000])
	}
}

func TestDecodeHexAgainstTheStandardLibrary(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	const letters = "0123456789abcdefABCDEF"
	for range 20_000 {
		text := make([]byte, 2*random.IntN(20))
		for i := range text {
			text[i] = letters[random.IntN(len(letters))]
		}
		if len(text) > 0 && random.IntN(2) == 0 {
			text[random.IntN(len(text))] = byte(random.Uint32())
		}
		want, got := make([]byte, len(text)/2), make([]byte, len(text)/2)
		_, err := hex.Decode(want, text)
		if ok := decodeHex(got, text); ok != (err == nil) || ok && !bytes.Equal(got, want) {
			t.Fatalf("%q gives %x, %v; want %x (%v)", text, got, ok, want, err)
		}
	}
}

func BenchmarkDecodeHex(b *testing.B) {
	text := []byte(hex.EncodeToString(someBytes(1 << 20)))
	raw := make([]byte, len(text)/2)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if !decodeHex(raw, text) {
			b.Fatal("it is not hexadecimal")
		}
	}
}
