package rpc

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Hex is an out of Call for a result that is one string of hexadecimal digits, such as a raw block. It is decoded while
// it arrives: the text, which is twice as long, is never in memory. Config.MaxBody bounds the answer.
type Hex struct {
	// Bytes is the result. A call overwrites what it holds and uses its capacity; the contents are valid only once the
	// call has returned nil.
	Bytes []byte

	ends    []int64 // where the strings that were cut off ended, in what the filter passed on; the first one is kept
	started int     // how many of them have started
	half    byte    // the first digit of a byte whose second one has not arrived; 0: none
	bad     bool    // the first one is not hexadecimal
	read    bool    // the result was read: nothing else is kept
}

var (
	_ Streamed = (*Hex)(nil)

	errHex = errors.New("the result is not a string of hexadecimal digits")
)

// arrives prepares for an answer that passes through a filter, of a length that is promised or -1.
func (h *Hex) arrives(through *filter, promise int64) {
	*h = Hex{Bytes: slices.Grow(h.Bytes[:0], int(min(max(promise, 0), trustedLength)/2))}
	through.rest = h
}

// begin begins with the part of a string that the filter cuts off. Only the first such string is kept; if another one
// is the result, then ReadResult refuses it.
func (h *Hex) begin() {
	if h.started++; h.started == 1 && !h.read {
		h.Bytes = append(h.Bytes[:0], make([]byte, longestString/2)...)
	}
}

// end ends that string, at a place in what the filter passed on.
func (h *Hex) end(at int64) {
	if !h.read {
		h.ends = append(h.ends, at)
	}
}

// add decodes more of the string.
func (h *Hex) add(text []byte) {
	if h.read || h.started > 1 {
		return
	}
	if h.half != 0 && len(text) > 0 {
		h.decode([]byte{h.half, text[0]})
		h.half, text = 0, text[1:]
	}
	if odd := len(text) % 2; odd == 1 {
		h.half, text = text[len(text)-1], text[:len(text)-1]
	}
	h.decode(text)
}

func (h *Hex) decode(text []byte) {
	have, need := len(h.Bytes), len(text)/2
	if cap(h.Bytes)-have < need {
		h.Bytes = slices.Grow(h.Bytes, max(need, have)) // twice as much each time
	}
	h.Bytes = h.Bytes[:have+need]
	h.bad = !decodeHex(h.Bytes[have:], text) || h.bad
}

// ReadResult reads the beginning of the string; the rest has arrived before.
func (h *Hex) ReadResult(dec *jsontext.Decoder) error {
	text, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if text.Kind() != jsontext.KindString {
		return errHex
	}
	h.read = true
	text = text[1 : len(text)-1]
	switch cut := slices.Index(h.ends, dec.InputOffset()); {
	case cut > 0 || cut == 0 && (len(text) != longestString || h.half != 0 || h.bad):
		return errHex
	case cut < 0:
		h.Bytes = append(h.Bytes[:0], make([]byte, len(text)/2)...)
	}
	if len(text)%2 != 0 || !decodeHex(h.Bytes[:len(text)/2], text) {
		return errHex
	}
	return nil
}

// hexPairs holds the byte of every two characters, the first one in the low bits; notHex for those that are no digits.
var hexPairs = func() *[1 << 16]uint16 {
	var pairs [1 << 16]uint16
	for i := range pairs {
		pairs[i] = notHex
	}
	const digits = "0123456789abcdefABCDEF"
	value := func(i int) int {
		if i >= 16 {
			return i - 6
		}
		return i
	}
	for i := range digits {
		for j := range digits {
			pairs[int(digits[i])|int(digits[j])<<8] = uint16(value(i)<<4 | value(j))
		}
	}
	return &pairs
}()

const notHex = 0x100

// decodeHex decodes an even number of digits into half as many bytes, several times faster than encoding/hex, and
// reports whether all are digits.
func decodeHex(dst, text []byte) bool {
	var all uint16
	pairs := hexPairs
	for len(text) >= 16 && len(dst) >= 8 {
		x, y := binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[8:])
		a, b, c, d := pairs[uint16(x)], pairs[uint16(x>>16)], pairs[uint16(x>>32)], pairs[uint16(x>>48)]
		e, f, g, h := pairs[uint16(y)], pairs[uint16(y>>16)], pairs[uint16(y>>32)], pairs[uint16(y>>48)]
		all |= a | b | c | d | e | f | g | h
		binary.LittleEndian.PutUint64(dst, uint64(a)|uint64(b)<<8|uint64(c)<<16|uint64(d)<<24|
			uint64(e)<<32|uint64(f)<<40|uint64(g)<<48|uint64(h)<<56)
		dst, text = dst[8:], text[16:]
	}
	for ; len(text) >= 2; dst, text = dst[1:], text[2:] {
		pair := pairs[binary.LittleEndian.Uint16(text)]
		all |= pair
		dst[0] = byte(pair)
	}
	return all&notHex == 0
}
