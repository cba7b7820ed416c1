package rpc

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The ways in which an answer is invalid. The decoder adds its own errors: truncated, trailing data, a duplicate name,
// nested deeper than 10,000, invalid UTF-8.
var (
	errEmpty    = errors.New("empty answer")
	errHTML     = errors.New("HTML instead of JSON")
	errMismatch = errors.New("answer with an unknown id")
	errTwice    = errors.New("two answers with one id")
	errMissing  = errors.New("answers are missing")
	errObject   = errors.New("the error is not an object with a code and a message")
	errShape    = errors.New("the answer does not have the requested form")
)

// span is the position of a JSON value in the body that it was decoded from, so that a result of many megabytes is not
// copied.
type span struct{ start, end int64 }

// UnmarshalJSONFrom validates the value and stores its position.
func (s *span) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	s.end = dec.InputOffset()
	s.start = s.end - int64(len(value))
	return nil
}

// of returns the value's text, nil when the member was absent.
func (s span) of(body []byte) []byte {
	if s.end == 0 {
		return nil
	}
	return body[s.start:s.end:s.end]
}

// answer is one JSON-RPC answer. Version 1.0 has both members, one of them null; version 2.0 has one.
type answer struct {
	ID     span `json:"id"`
	Result span `json:"result"`
	Error  span `json:"error"`
}

// answerList decodes at most cap answers, so that an endless list cannot fill the memory.
type answerList struct {
	list []answer
	most int
}

func (l *answerList) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if _, err := dec.ReadToken(); err != nil { // the bracket, which the caller has checked
		return err
	}
	for kind := dec.PeekKind(); kind != jsontext.KindEndArray; kind = dec.PeekKind() {
		if len(l.list) == l.most && kind != jsontext.KindInvalid {
			return errMismatch
		}
		var a answer
		if err := json.UnmarshalDecode(dec, &a); err != nil {
			return err
		}
		l.list = append(l.list, a)
	}
	_, err := dec.ReadToken()
	return err
}

// decodeAnswer decodes the answer to the single question with an id.
func decodeAnswer(body []byte, id uint64) (answer, error) {
	var a answer
	if err := expect(body, '{'); err != nil {
		return a, err
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return a, plainError(err)
	}
	if !fits(a.ID.of(body), id, a.Error.of(body)) {
		return a, errMismatch
	}
	return a, nil
}

// invalidRequest is the code for an invalid request. An error with it may lack an id: JSON-RPC 2.0, section 5.
const invalidRequest = -32600

// fits reports whether an answer belongs to the question with an id.
func fits(text []byte, id uint64, failure []byte) bool {
	if isID(text, id) {
		return true
	}
	if !isNull(text) || failure == nil {
		return false
	}
	code, _, _, err := decodeError(failure)
	return err == nil && code == invalidRequest
}

func isID(text []byte, id uint64) bool { return string(text) == strconv.FormatUint(id, 10) }

// decodeAnswers decodes the answer to a batch: a list in any order with exactly one answer for every id in places,
// returned in the order of places; or one object that refuses the batch as a whole, which must have an error.
func decodeAnswers(body []byte, places map[uint64]int) ([]answer, *answer, error) {
	if expect(body, '{') == nil {
		var refusal answer
		if err := json.Unmarshal(body, &refusal); err != nil {
			return nil, nil, plainError(err)
		}
		if failure := refusal.Error.of(body); failure == nil || isNull(failure) {
			return nil, nil, errShape
		}
		return nil, &refusal, nil
	}
	if err := expect(body, '['); err != nil {
		return nil, nil, err
	}
	found := answerList{most: len(places)}
	if err := json.Unmarshal(body, &found); err != nil {
		return nil, nil, plainError(err)
	}
	return inPlace(body, found.list, places)
}

func inPlace(body []byte, found []answer, places map[uint64]int) ([]answer, *answer, error) {
	ids := make(map[string]int, len(places))
	for id, place := range places {
		ids[strconv.FormatUint(id, 10)] = place
	}
	ordered := make([]answer, len(places))
	for _, a := range found {
		place, ok := ids[string(a.ID.of(body))]
		if !ok {
			return nil, nil, errMismatch
		}
		if ordered[place].ID.end != 0 {
			return nil, nil, errTwice
		}
		ordered[place] = a
	}
	if len(found) < len(places) {
		return nil, nil, errMissing
	}
	return ordered, nil, nil
}

// decodeError decodes a JSON-RPC error object. A code is required, since adapters decide by it.
func decodeError(object []byte) (code int, message string, data []byte, err error) {
	var e struct {
		Code    *int           `json:"code"`
		Message string         `json:"message"`
		Data    jsontext.Value `json:"data"`
	}
	if err := json.Unmarshal(object, &e); err != nil || e.Code == nil {
		return 0, "", nil, errObject
	}
	return *e.Code, e.Message, e.Data, nil
}

// decodeValue validates a body that is one JSON value and returns it without the surrounding space.
func decodeValue(body []byte) ([]byte, error) {
	if err := expect(body, 0); err != nil {
		return nil, err
	}
	var s span
	if err := json.Unmarshal(body, &s); err != nil {
		return nil, plainError(err)
	}
	return s.of(body), nil
}

// expect checks the first character for what often comes instead of JSON; kind 0 accepts any JSON.
func expect(body []byte, kind byte) error {
	body = bytes.TrimLeft(body, " \t\r\n")
	switch {
	case len(body) == 0:
		return errEmpty
	case body[0] == '<':
		return errHTML
	case kind != 0 && body[0] != kind:
		return errShape
	}
	return nil
}

func isNull(value []byte) bool { return string(value) == "null" }

// plainError keeps this package's errors and removes the Go types from the decoder's.
func plainError(err error) error {
	if errors.Is(err, errMismatch) {
		return errMismatch
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		return fmt.Errorf("not JSON: %w at byte %d", syntactic.Err, syntactic.ByteOffset)
	}
	return fmt.Errorf("not JSON: %w", err)
}
