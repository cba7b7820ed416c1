package rpc

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

func (c *Client) rest(ctx context.Context, via asker, method, path string, in, out any) error {
	shown, _, _ := strings.Cut(path, "?") // a query may be long, and is not shown
	op := method + " " + plain(shown)
	if err := checkOut(out); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	var body []byte
	if method == http.MethodPost {
		encoded, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("%s: encode body: %w", op, err)
		}
		body = encoded
	}
	q := question{op: op, method: method, path: path, body: body, calls: 1}
	q.read = func(r reply) error { return c.readRest(r, out) }
	q.discard = func() { discard(out) }
	return via.do(ctx, op, c.putting(q))
}

func (c *Client) readRest(r reply, out any) error {
	if err := r.whole(); err != nil {
		return c.unsound(r, err.Error())
	}
	value, err := decodeValue(r.body)
	if err != nil {
		return c.unsound(r, err.Error())
	}
	switch {
	case r.status >= 500:
		return c.unsound(r, "failing")
	case r.status >= 400:
		e := &Error{Code: r.status, HTTP: r.status, Message: http.StatusText(r.status), Unsure: r.unsure}
		if len(value) <= 64<<10 {
			e.Data = jsontext.Value(c.secret.answer(string(value)))
		}
		return e
	}
	return c.deliver(r, value, out)
}
