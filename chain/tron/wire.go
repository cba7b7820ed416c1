package tron

import (
	"encoding/binary"
	"encoding/hex"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/ethabi"
)

// The encodings of values in answers: bytes are hexadecimal without a prefix, and values that are zero, empty or false
// are omitted.

var errHex = errors.New("not a hexadecimal string of the expected length")

// hash is 32 bytes: the id of a transaction or a block.
type hash [32]byte

func (h hash) String() string { return hex.EncodeToString(h[:]) }

// parseHash reads the output of String.
func parseHash(s string) (h hash, err error) {
	if len(s) != 2*len(h) {
		return h, errHex
	}
	_, err = hex.Decode(h[:], []byte(s))
	return h, err
}

// UnmarshalJSONFrom reads exactly 32 bytes.
func (h *hash) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	text, err := textOf(dec)
	if err != nil {
		return err
	}
	if len(text) != 2*len(h) {
		return errHex
	}
	_, err = hex.Decode(h[:], text)
	return err
}

// height returns the number that a block's id begins with.
func (h hash) height() uint64 { return binary.BigEndian.Uint64(h[:8]) }

// textOf reads a JSON string that needs no unquoting. The bytes are valid until the next read.
func textOf(dec *jsontext.Decoder) ([]byte, error) {
	value, err := dec.ReadValue()
	if err != nil {
		return nil, err
	}
	if len(value) < 2 || value[0] != '"' {
		return nil, errHex
	}
	return value[1 : len(value)-1], nil
}

// UnmarshalJSONFrom reads 41 followed by 20 bytes, or the 20 bytes of events.
func (a *address) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	text, err := textOf(dec)
	if err != nil {
		return err
	}
	if len(text) == 42 && text[0] == '4' && text[1] == '1' {
		text = text[2:]
	}
	if len(text) != 2*len(a) {
		return errHex
	}
	_, err = hex.Decode(a[:], text)
	return err
}

// sun is an amount in millionths of a TRX, as java-tron counts it: a signed number of 64 bits that is not negative.
type sun int64

var errNegative = errors.New("the amount is negative")

func (s sun) amount() (bursar.Amount, error) {
	if s < 0 {
		return bursar.Amount{}, errNegative
	}
	return bursar.Units(uint64(s)), nil
}

// word is 32 bytes of call data, of a result or of an event.
type word [32]byte

// amount returns the word as a number, or bursar.ErrAmountOverflow above 128 bits.
func (w word) amount() (bursar.Amount, error) { return ethabi.Word(w).Amount() }

// wordOf returns a number in 32 bytes.
func wordOf(a bursar.Amount) word { return word(ethabi.WordOf(a)) }

// wordOfAddress returns an address as an argument of a call.
func wordOfAddress(a address) word { return word(ethabi.WordOfAddress(a)) }

func parseWord(text string) (w word, err error) {
	if len(text) != 2*len(w) {
		return w, errHex
	}
	_, err = hex.Decode(w[:], []byte(text))
	return w, err
}
