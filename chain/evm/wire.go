package evm

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/ethabi"
	"github.com/bursar/bursar/chain/ethkey"
)

// The encodings of values in answers. All are strict about the value and lenient about leading zeros, which some nodes
// write.

var errHex = errors.New("not a hexadecimal string of the expected length")

// keccak is Keccak-256.
func keccak(data []byte) hash { return ethkey.Keccak256(data) }

// digits reads a JSON string "0x…" and returns what follows the 0x. The bytes are valid until the next read.
func digits(dec *jsontext.Decoder) ([]byte, error) {
	value, err := dec.ReadValue()
	if err != nil {
		return nil, err
	}
	if len(value) < 4 || value[0] != '"' || value[1] != '0' || value[2] != 'x' {
		return nil, errHex
	}
	return value[3 : len(value)-1], nil
}

func fixed(dec *jsontext.Decoder, out []byte) error {
	text, err := digits(dec)
	if err != nil {
		return err
	}
	if len(text) != 2*len(out) {
		return errHex
	}
	_, err = hex.Decode(out, text)
	return err
}

// hash is 32 bytes.
type hash [32]byte

func (h hash) String() string { return "0x" + hex.EncodeToString(h[:]) }

// UnmarshalJSONFrom reads exactly 32 bytes.
func (h *hash) UnmarshalJSONFrom(dec *jsontext.Decoder) error { return fixed(dec, h[:]) }

// optionalHash is a hash that may be null.
type optionalHash struct {
	hash
	set bool
}

// UnmarshalJSONFrom reads a hash or null.
func (o *optionalHash) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*o = optionalHash{}
	if dec.PeekKind() == jsontext.KindNull {
		return dec.SkipValue()
	}
	o.set = true
	return fixed(dec, o.hash[:])
}

// parseHash reads the output of String.
func parseHash(s string) (h hash, err error) {
	if len(s) != 66 || s[:2] != "0x" {
		return h, errHex
	}
	_, err = hex.Decode(h[:], []byte(s[2:]))
	return h, err
}

// UnmarshalJSONFrom reads exactly 20 bytes.
func (a *address) UnmarshalJSONFrom(dec *jsontext.Decoder) error { return fixed(dec, a[:]) }

// optional is an address that may be null: a creation has no receiver.
type optional struct {
	address
	set bool
}

// UnmarshalJSONFrom reads an address or null; an empty string, as some nodes write, means null.
func (o *optional) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*o = optional{}
	switch dec.PeekKind() {
	case jsontext.KindNull:
		return dec.SkipValue()
	default:
		o.set = true
		return fixed(dec, o.address[:])
	}
}

// quantity is an unsigned number of at most 64 bits.
type quantity uint64

// UnmarshalJSONFrom reads a hexadecimal number.
func (q *quantity) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	text, err := digits(dec)
	if err != nil {
		return err
	}
	n, err := strconv.ParseUint(string(text), 16, 64)
	*q = quantity(n)
	return err
}

// orNull reads a hexadecimal number, or null for 0.
func (q *quantity) orNull(dec *jsontext.Decoder) error {
	if dec.PeekKind() == jsontext.KindNull {
		*q = 0
		return dec.SkipValue()
	}
	return q.UnmarshalJSONFrom(dec)
}

// kind is a transaction's type; nodes that omit it mean 0.
type kind quantity

// UnmarshalJSONFrom reads a hexadecimal number or null.
func (k *kind) UnmarshalJSONFrom(dec *jsontext.Decoder) error { return (*quantity)(k).orNull(dec) }

func (q quantity) hex() string { return "0x" + strconv.FormatUint(uint64(q), 16) }

// wei is an amount. More than 128 bits are an error: no asset has that much.
type wei struct{ bursar.Amount }

// UnmarshalJSONFrom reads a hexadecimal number or null, which means zero.
func (w *wei) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == jsontext.KindNull {
		*w = wei{}
		return dec.SkipValue()
	}
	text, err := digits(dec)
	if err != nil {
		return err
	}
	for len(text) > 1 && text[0] == '0' {
		text = text[1:]
	}
	if len(text) > 32 {
		return bursar.ErrAmountOverflow
	}
	var padded [32]byte
	for i := range padded {
		padded[i] = '0'
	}
	copy(padded[32-len(text):], text)
	var raw [16]byte
	if _, err := hex.Decode(raw[:], padded[:]); err != nil {
		return err
	}
	w.Amount = bursar.AmountOf(raw)
	return nil
}

// word is the 32 bytes that a call returns.
type word [32]byte

// UnmarshalJSONFrom reads exactly 32 bytes: "0x" is the answer of an address without a contract.
func (w *word) UnmarshalJSONFrom(dec *jsontext.Decoder) error { return fixed(dec, w[:]) }

// amount returns the word as a number, or bursar.ErrAmountOverflow above 128 bits.
func (w word) amount() (bursar.Amount, error) { return ethabi.Word(w).Amount() }

// digitsAmount reads a word of 64 hexadecimal digits as a number.
func digitsAmount(digits []byte) (bursar.Amount, error) {
	var w word
	if _, err := hex.Decode(w[:], digits); err != nil {
		return bursar.Amount{}, err
	}
	return w.amount()
}

// wordOf returns a number in 32 bytes.
func wordOf(a bursar.Amount) word { return word(ethabi.WordOf(a)) }

// text is hexadecimal data that is decoded only when it is used: most call data never is.
type text []byte

// UnmarshalJSONFrom keeps the hexadecimal digits.
func (t *text) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == jsontext.KindNull {
		*t = nil
		return dec.SkipValue()
	}
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if len(value) < 4 || value[1] != '0' || value[2] != 'x' || len(value)%2 != 0 {
		return errHex
	}
	*t = append((*t)[:0:0], value[3:len(value)-1]...)
	return nil
}

// again is UnmarshalJSONFrom into the existing memory. Text that was cut off may end within a byte.
func (t *text) again(dec *jsontext.Decoder) error {
	if dec.PeekKind() == jsontext.KindNull {
		*t = (*t)[:0]
		return dec.SkipValue()
	}
	value, err := digits(dec)
	*t = append((*t)[:0], value[:len(value)&^1]...)
	return err
}

// bytes appends the decoded bytes to a buffer.
func (t text) bytes(to []byte) ([]byte, error) {
	out, err := hex.AppendDecode(to, t)
	if err != nil {
		return nil, fmt.Errorf("decode bytes: %w", err)
	}
	return out, nil
}

// bloom is the 2048-bit filter of a header.
type bloom [256]byte

// UnmarshalJSONFrom reads exactly 256 bytes, or null.
func (b *bloom) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == jsontext.KindNull {
		*b = bloom{}
		return dec.SkipValue()
	}
	return fixed(dec, b[:])
}

// add sets the three bits of an address or topic (Yellow Paper, 4.4.1).
func (b *bloom) add(data []byte) {
	sum := keccak(data)
	for i := 0; i < 6; i += 2 {
		bit := (int(sum[i])<<8 | int(sum[i+1])) & 2047
		b[255-bit/8] |= 1 << (bit % 8)
	}
}

// within reports whether every bit of b is in other.
func (b *bloom) within(other *bloom) bool {
	for i := range b {
		if b[i]&^other[i] != 0 {
			return false
		}
	}
	return true
}

// callData is the transaction object of eth_call and eth_estimateGas.
type callData struct {
	From  string `json:"from,omitempty"`
	To    string `json:"to"`
	Value string `json:"value,omitempty"`
	Data  string `json:"data,omitempty"`
}

func hexAmount(a bursar.Amount) string { return "0x" + a.Big().Text(16) }
