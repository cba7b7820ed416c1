package evm

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// What may be of any length is read token by token: nothing of a block is held only because somebody else put it there.

var errShape = errors.New("JSON of another shape")

// members reads an object. member is called with each name, quotes included, while the decoder stands before its value.
// It reads that value and says so, or leaves it, and then the value is skipped. Null is an object without members.
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

// enter reads the beginning of an object or array, or a null in its place.
func enter(dec *jsontext.Decoder, kind jsontext.Kind) (open bool, err error) {
	switch dec.PeekKind() {
	case kind:
		_, err = dec.ReadToken()
		return true, err
	case jsontext.KindNull:
		return false, dec.SkipValue()
	case jsontext.KindInvalid:
		_, err = dec.ReadToken() // says what is wrong with it
		return false, errors.Join(err, errShape)
	}
	return false, errShape
}
