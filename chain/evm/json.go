package evm

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// Data of unbounded length is read token by token: no part of a block is kept only because somebody else put it there.

var errShape = errors.New("unexpected JSON structure")

// members reads an object. It calls member with each name, quotes included, while the decoder is before its value.
// member either reads that value and returns true, or leaves it, and members skips it. Null is an object without
// members.
func members(dec *jsontext.Decoder, member func(name []byte) (read bool, err error)) error {
	if open, err := enter(dec, jsontext.KindBeginObject); err != nil || !open {
		return err
	}
	for dec.PeekKind() != jsontext.KindEndObject {
		name, err := dec.ReadValue()
		if err != nil {
			return err
		}
		read, err := member(name)
		if err == nil && !read {
			err = dec.SkipValue()
		}
		if err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// elements reads an array. element reads exactly one value. Null is an array without elements.
func elements(dec *jsontext.Decoder, element func() error) error {
	if open, err := enter(dec, jsontext.KindBeginArray); err != nil || !open {
		return err
	}
	for dec.PeekKind() != jsontext.KindEndArray {
		if err := element(); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// enter reads the beginning of an object or array, or null in its place.
func enter(dec *jsontext.Decoder, kind jsontext.Kind) (open bool, err error) {
	switch dec.PeekKind() {
	case kind:
		_, err = dec.ReadToken()
		return true, err
	case jsontext.KindNull:
		return false, dec.SkipValue()
	case jsontext.KindInvalid:
		_, err = dec.ReadToken() // returns the syntax error
		return false, errors.Join(err, errShape)
	}
	return false, errShape
}
