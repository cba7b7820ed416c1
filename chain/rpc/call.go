package rpc

import (
	"context"
	"fmt"
	"net/http"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

type envelope struct {
	Version Version `json:"jsonrpc"`
	ID      uint64  `json:"id"`
	Method  string  `json:"method"`
	Params  any     `json:"params"`
}

func (c *Client) envelope(method string, params any) envelope {
	return envelope{c.cfg.Version, c.nextID.Add(1), method, params}
}

func (c *Client) call(ctx context.Context, via asker, method string, params []any, out any) error {
	q, err := c.callQuestion(method, params, out)
	if err != nil {
		return err
	}
	return via.do(ctx, q.op, c.putting(q))
}

// callQuestion returns the question of one JSON-RPC call.
func (c *Client) callQuestion(method string, params []any, out any) (question, error) {
	op := "call " + method
	if err := checkOut(out); err != nil {
		return question{}, fmt.Errorf("%s: %w", op, err)
	}
	ask := c.envelope(method, params)
	body, err := json.Marshal(ask)
	if err != nil {
		return question{}, fmt.Errorf("%s: encode parameters: %w", op, err)
	}
	q := question{op: op, method: http.MethodPost, body: body, calls: 1}
	q.read = func(r reply) error { return c.readCall(r, ask.ID, out) }
	q.discard = func() { discard(out) }
	if _, kept := out.(*Hex); isStreamed(out) && !kept {
		q.limit = c.cfg.MaxStream
	}
	return q, nil
}

// readCall delivers the answer to the question with an id, or returns the fault or error that it is instead. A result
// is decoded while it arrives, unless it is wanted raw; only an answer that is not a plain result is kept and read as
// a whole.
func (c *Client) readCall(r reply, id uint64, out any) error {
	if r.status <= 299 && !isRaw(out) {
		return c.readStream(r, id, out)
	}
	if r.status > 299 {
		r.stream.limit = min(r.stream.limit, c.cfg.MaxBody) // an error object needs no more, whatever a result may need
	}
	if err := r.whole(); err != nil {
		return c.unsound(r, err.Error())
	}
	a, err := decodeAnswer(r.body, id)
	if why := noAnswer(r.status); why != "" && err != nil {
		return c.noAnswerFault(r, why)
	}
	if err != nil {
		return c.unsound(r, err.Error())
	}
	if err := c.settle(r, a); err != nil {
		return err
	}
	return c.deliver(r, a.Result.of(r.body), out)
}

func isRaw(out any) bool {
	switch out.(type) {
	case nil, *jsontext.Value, *[]byte:
		return true
	}
	return false
}

// discard clears what was delivered. A Streamed resets itself.
func discard(out any) {
	if _, streamed := out.(Streamed); out != nil && !streamed {
		empty(out)
	}
}

// settle returns the *Error that an answer carries, the fault that it shows, or nil for a result.
func (c *Client) settle(r reply, a answer) error {
	result, failure := a.Result.of(r.body), a.Error.of(r.body)
	switch {
	case failure != nil && !isNull(failure):
		if result != nil && !isNull(result) {
			return c.unsound(r, "both a result and an error")
		}
		return c.nodeError(r, failure)
	case result == nil:
		return c.unsound(r, "neither a result nor an error")
	case r.status > 299:
		return c.unsound(r, "a result with an error status")
	}
	return nil
}

// nodeError decodes an error object into an *Error, or into a fault when the error is about the node's health.
func (c *Client) nodeError(r reply, object []byte) error {
	code, message, data, err := decodeError(object)
	if err != nil {
		return c.unsound(r, err.Error())
	}
	e := &Error{Code: code, HTTP: r.status, Message: c.secret.answer(cut(message, 4<<10)), Unsure: r.unsure}
	if len(data) > 0 && len(data) <= 64<<10 {
		e.Data = jsontext.Value(c.secret.answer(string(data)))
	}
	text := fmt.Sprintf("node answered error %d: %s", code, quote(c.secret.text(message)))
	if kind := declinedBy(e); r.optional && kind != nil {
		return &declined{kind, text}
	}
	if aboutCaller(r.status) { // the error is a gateway's, about the method or the caller
		return c.noAnswerFault(r, noAnswer(r.status))
	}
	if quotaPhrases.in(e.Message) || c.cfg.Retryable(e) {
		// The node declined the call, so it has not acted on it.
		return &fault{text: text, retryAfter: r.retryAfter, unwell: true, limited: speaksOfLimits(e)}
	}
	return e
}

// deliver decodes a result into out. A result of the wrong shape is the endpoint's fault: out may then have a part of
// it, and is cleared before the next endpoint's answer.
func (c *Client) deliver(r reply, result []byte, out any) error {
	switch raw := out.(type) {
	case nil:
		return nil
	case *jsontext.Value:
		*raw = jsontext.Value(result[:len(result):len(result)])
		return nil
	case *[]byte:
		*raw = result[:len(result):len(result)]
		return nil
	}
	target := empty(out)
	if isNull(result) {
		if target.Kind() == reflect.Pointer || target.Kind() == reflect.Interface {
			return nil
		}
		return ErrNull
	}
	if err := json.Unmarshal(result, out); err != nil {
		return c.unsound(reply{status: r.status, retryAfter: r.retryAfter}, "result: "+err.Error())
	}
	return nil
}

// empty clears the variable that out points to, so that nothing of an earlier answer is left in the next.
func empty(out any) reflect.Value {
	target := reflect.ValueOf(out).Elem()
	target.SetZero()
	return target
}

// checkOut rejects an out that cannot be filled, before anything is sent.
func checkOut(out any) error {
	if out == nil {
		return nil
	}
	if v := reflect.ValueOf(out); v.Kind() != reflect.Pointer || v.IsNil() {
		return fmt.Errorf("out is a %T, want a pointer to a variable", out)
	}
	return nil
}
