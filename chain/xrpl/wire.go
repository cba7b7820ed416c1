package xrpl

import (
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar"
)

// The encodings of values in answers.

var (
	errHash   = errors.New("not 64 hexadecimal digits")
	errDrops  = errors.New("not a string of drops")
	errNumber = errors.New("not a number of the expected form")
)

// maxDrops is the total supply of XRP: a hundred billion, in drops.
var maxDrops = bursar.Units(100_000_000_000 * dropsPerXRP)

const dropsPerXRP = 1_000_000

// sha512Half returns the ledger's hash function: the first half of SHA-512, over four bytes that say what is hashed and
// the parts.
func sha512Half(prefix string, parts ...[]byte) hash {
	h := sha512.New()
	h.Write([]byte(prefix))
	for _, part := range parts {
		h.Write(part)
	}
	return hash(h.Sum(nil)[:32])
}

// hash is 32 bytes; its text is in upper case, as nodes write it.
type hash [32]byte

func (h hash) String() string { return strings.ToUpper(hex.EncodeToString(h[:])) }

// UnmarshalJSONFrom reads exactly 32 bytes.
func (h *hash) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if len(value) != 66 || value[0] != '"' {
		return errHash
	}
	if _, err := hex.Decode(h[:], value[1:65]); err != nil {
		return errHash
	}
	return nil
}

// parseHash reads the output of String.
func parseHash(s string) (h hash, err error) {
	if len(s) != 64 || s != strings.ToUpper(s) {
		return h, errHash
	}
	if _, err := hex.Decode(h[:], []byte(s)); err != nil {
		return h, errHash
	}
	return h, nil
}

// drops is an amount of XRP as nodes write it: a string of digits. An object is an issued currency and never XRP.
type drops struct{ bursar.Amount }

// UnmarshalJSONFrom reads a string of digits, at most the total supply of XRP.
func (d *drops) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	d.Amount, err = dropsOf(value)
	return err
}

func dropsOf(value jsontext.Value) (bursar.Amount, error) {
	if value.Kind() != jsontext.KindString || len(value) > 40 {
		return bursar.Amount{}, errDrops
	}
	amount, err := bursar.ParseUnits(string(value[1 : len(value)-1]))
	if err != nil || maxDrops.Less(amount) {
		return bursar.Amount{}, errDrops
	}
	return amount, nil
}

// index is a ledger's number, which some answers write as a string.
type index uint32

// UnmarshalJSONFrom reads a number or a string of digits.
func (n *index) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	parsed, err := strconv.ParseUint(strings.Trim(string(value), `"`), 10, 32)
	if err != nil {
		return errNumber
	}
	*n = index(parsed)
	return nil
}

// wholeXRP is an amount of XRP written as a JSON number of whole XRP, such as 0.2 or 1e-05.
type wholeXRP struct{ bursar.Amount }

// UnmarshalJSONFrom reads a number that is a whole count of drops. It never becomes a float.
func (c *wholeXRP) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(string(value)), "e")
	if value.Kind() != jsontext.KindNumber || len(mantissa) > 30 || len(exponent) > 3 {
		return errNumber
	}
	n, ok := new(big.Rat).SetString(string(value))
	if !ok {
		return errNumber
	}
	n.Mul(n, big.NewRat(dropsPerXRP, 1))
	if !n.IsInt() {
		return errNumber
	}
	if c.Amount, err = bursar.AmountFromBig(n.Num()); err != nil || maxDrops.Less(c.Amount) {
		return fmt.Errorf("%w: %.20q", errNumber, value)
	}
	return nil
}

// word is a string if there is one, and empty if a transaction of an unknown type has something else there.
type word string

// UnmarshalJSONFrom reads a string, and skips anything else.
func (w *word) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != jsontext.KindString {
		return dec.SkipValue()
	}
	token, err := dec.ReadToken()
	if err != nil {
		return err
	}
	*w = word(token.String())
	return nil
}

// amount is an amount of XRP. If something else is there, it is present but not XRP.
type amount struct {
	drops
	there bool
	bad   bool
}

// UnmarshalJSONFrom reads a string of drops, and skips anything else.
func (a *amount) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	a.there = true
	if dec.PeekKind() != jsontext.KindString {
		a.bad = true
		return dec.SkipValue()
	}
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	a.Amount, err = dropsOf(value)
	a.bad = err != nil
	return nil
}

// number is a number of 32 bits, and absent if something else is there.
type number struct {
	value uint32
	there bool
}

// UnmarshalJSONFrom reads a number of at most 32 bits, and skips anything else.
func (n *number) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != jsontext.KindNumber {
		return dec.SkipValue()
	}
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	parsed, err := strconv.ParseUint(string(value), 10, 32)
	n.value, n.there = uint32(parsed), err == nil
	return nil
}
