package rpc

import (
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Streamed is an out of Call and CallOptional that reads its result from the connection while it arrives; the body is
// never kept. JSON strings over 4 KiB reach it cut to their first 4 KiB (a few bytes more where a character would be
// split), so memory is bounded whatever the node sends. The answer may be Config.MaxStream bytes long and take
// Config.Timeout.
//
// ReadResult reads exactly one value, which is not null. It may run several times – another endpoint, a retry – and
// resets itself first. Its contents are valid only once the call has returned nil.
type Streamed interface {
	ReadResult(dec *jsontext.Decoder) error
}

// arriving is a JSON-RPC answer that is decoded while it arrives. Its members may come in any order.
type arriving struct {
	id      []byte
	failure []byte
	came    bool // there was a result, which may be null
	null    bool
}

// shapeError says that a result is JSON but not of the requested form.
type shapeError struct{ error }

// longestMember is how many bytes of an id or an error object are read; a longer one is invalid.
const longestMember = 1 << 20

// readStream decodes the answer to the question with that id into out while it arrives.
func (c *Client) readStream(r reply, id uint64, out any) error {
	discard(out)
	a, err := decodeStream(r, out)
	if cut := r.stream.failed; cut != nil {
		err = cut
	}
	if err == nil && !fits(a.id, id, a.failure) {
		err = errMismatch
	}
	if err != nil {
		discard(out)
		return c.unsound(r, err.Error())
	}
	if err := c.settleStream(r, a); err != nil {
		discard(out)
		return err
	}
	if !a.null {
		return nil
	}
	if kind := reflect.TypeOf(out).Elem().Kind(); !isStreamed(out) &&
		(kind == reflect.Pointer || kind == reflect.Interface) {
		return nil
	}
	return ErrNull
}

// settleStream is settle for an answer whose result has been delivered.
func (c *Client) settleStream(r reply, a arriving) error {
	switch {
	case a.failure != nil && a.came && !a.null:
		return c.unsound(r, "both a result and an error")
	case a.failure != nil:
		return c.nodeError(r, a.failure)
	case !a.came:
		return c.unsound(r, "neither a result nor an error")
	}
	return nil
}

func isStreamed(out any) bool {
	_, is := out.(Streamed)
	return is
}

// partKept is the assumed part of its input that a Streamed keeps in memory: it skips most of it.
const partKept = 4

// decodeStream reads one answer, and nothing after it. The meter counts roughly how much memory it takes.
func decodeStream(r reply, out any) (a arriving, err error) {
	b := r.stream
	head, err := b.begins()
	if err != nil {
		return a, err
	}
	if err := expect(head, '{'); err != nil {
		return a, err
	}
	var src io.Reader = &rejoined{head, b}
	if isStreamed(out) {
		filtered := newFilter(src)
		if text, is := out.(*Hex); is {
			text.arrives(filtered, b.promise)
			defer func() { r.meter.add(int64(cap(text.Bytes))) }()
		} else {
			defer func() { r.meter.add(filtered.out / partKept) }()
		}
		src = filtered
	} else {
		defer func() { r.meter.add(b.length) }()
	}
	dec := jsontext.NewDecoder(src)
	if _, err := dec.ReadToken(); err != nil {
		return a, plainError(err)
	}
	for dec.PeekKind() == jsontext.KindString {
		if err := a.member(dec, b, out); err != nil {
			return a, err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return a, plainError(err)
	}
	return a, ends(dec)
}

// member reads one member of the answer.
func (a *arriving) member(dec *jsontext.Decoder, b *body, out any) error {
	name, err := dec.ReadToken()
	if err != nil {
		return plainError(err)
	}
	switch name.String() {
	case "id":
		a.id, err = b.short(dec)
	case "error":
		a.failure, err = b.short(dec)
		if string(a.failure) == "null" {
			a.failure = nil
		}
	case "result":
		err = a.result(dec, out)
	default:
		err = dec.SkipValue()
	}
	var shape shapeError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &shape):
		return plainError(err)
	}
	if malformed := skipRest(dec); malformed != nil {
		return malformed // that it is not JSON at all is the more useful error
	}
	return shape
}

// skipRest reads to the end of the answer, from the position where decoding stopped.
func skipRest(dec *jsontext.Decoder) error {
	for dec.StackDepth() > 0 {
		if _, err := dec.ReadToken(); err != nil {
			return plainError(err)
		}
	}
	return ends(dec)
}

// short reads a value into memory. A longer one exceeds the bound of the body.
func (b *body) short(dec *jsontext.Decoder) ([]byte, error) {
	limit := b.limit
	b.limit = min(limit, b.length+longestMember)
	value, err := dec.ReadValue()
	b.limit = limit
	return value.Clone(), err
}

// result reads the result straight into out.
func (a *arriving) result(dec *jsontext.Decoder, out any) error {
	a.came = true
	if dec.PeekKind() == jsontext.KindNull {
		a.null = true
		return dec.SkipValue()
	}
	if streamed, is := out.(Streamed); is {
		return readResult(dec, streamed)
	}
	err := json.UnmarshalDecode(dec, out)
	var semantic *json.SemanticError
	if errors.As(err, &semantic) && !isSyntactic(err) {
		return shapeError{fmt.Errorf("result: %w", err)}
	}
	return err
}

// readResult lets out read its value, and checks that it read exactly one.
func readResult(dec *jsontext.Decoder, out Streamed) error {
	depth := dec.StackDepth()
	_, before := dec.StackIndex(depth)
	if err := out.ReadResult(dec); err != nil {
		if isSyntactic(err) {
			return err
		}
		return shapeError{fmt.Errorf("result: %w", err)}
	}
	if _, after := dec.StackIndex(depth); dec.StackDepth() != depth || after != before+1 {
		return shapeError{errors.New("result: the stream was not read to the end")}
	}
	return nil
}

func isSyntactic(err error) bool {
	var syntactic *jsontext.SyntacticError
	return errors.As(err, &syntactic)
}

// ends checks that nothing but space is left.
func ends(dec *jsontext.Decoder) error {
	token, err := dec.ReadToken()
	switch {
	case err == io.EOF:
		return nil
	case err != nil:
		return plainError(err)
	}
	return fmt.Errorf("not JSON: invalid character %q after top-level value", byte(token.Kind()))
}

// rejoined returns the bytes that were read in advance before it reads on.
type rejoined struct {
	head []byte
	rest *body
}

func (r *rejoined) Read(p []byte) (int, error) {
	if len(r.head) > 0 {
		n := copy(p, r.head)
		r.head = r.head[n:]
		return n, nil
	}
	return r.rest.Read(p)
}
