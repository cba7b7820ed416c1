package rpc

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Request is one call of a batch. Out is as in Client.Call. Err is set by Batch: nil, *Error, ErrNull, or why the
// request was not answered.
type Request struct {
	Method string
	Params []any
	Out    any
	Err    error

	encoded jsontext.Value // Params
}

func (c *Client) batch(ctx context.Context, via asker, requests []*Request) error {
	if err := c.checkRequests(requests); err != nil {
		return unanswered(requests, err)
	}
	for start := 0; start < len(requests); start += c.cfg.MaxBatch {
		part := requests[start:min(start+c.cfg.MaxBatch, len(requests))]
		if err := c.batchPart(ctx, via, part); err != nil {
			return unanswered(requests[start:], err)
		}
	}
	return nil
}

// checkRequests rejects requests that cannot be sent, before anything is sent.
func (c *Client) checkRequests(requests []*Request) (err error) {
	for _, r := range requests {
		if err := checkOut(r.Out); err != nil {
			return fmt.Errorf("batch: call %s: %w", r.Method, err)
		}
		if r.encoded, err = json.Marshal(r.Params); err != nil {
			return fmt.Errorf("batch: call %s: encode parameters: %w", r.Method, err)
		}
	}
	return nil
}

// unanswered marks requests, so that none counts as answered because it has no error.
func unanswered(requests []*Request, err error) error {
	for _, r := range requests {
		r.Err = err
	}
	return err
}

// batchPart sends some requests to one endpoint after another, in batches as large as each accepts.
func (c *Client) batchPart(ctx context.Context, via asker, part []*Request) error {
	op := fmt.Sprintf("batch of %d from %s", len(part), part[0].Method)
	return via.do(ctx, op, func(ctx context.Context, at place) error { return c.splitting(ctx, at, part) })
}

// askBatch sends requests to one endpoint as one list.
func (c *Client) askBatch(ctx context.Context, at place, part []*Request) error {
	asks := make([]envelope, len(part))
	places := make(map[uint64]int, len(part))
	for i, r := range part {
		asks[i] = c.envelope(r.Method, r.encoded)
		places[asks[i].ID] = i
	}
	body, err := json.Marshal(asks)
	if err != nil {
		return fmt.Errorf("encode parameters: %w", err)
	}
	q := question{op: "batch", method: http.MethodPost, body: body, calls: len(part), batch: true}
	q.read = func(r reply) error { return c.readBatch(r, part, places) }
	q.discard = func() {
		for _, r := range part {
			discard(r.Out)
		}
	}
	return c.attempt(ctx, at, q)
}

// readBatch delivers every answer, or none is kept: a part with one invalid answer is asked again as a whole.
func (c *Client) readBatch(r reply, part []*Request, places map[uint64]int) error {
	if err := r.whole(); err != nil {
		return c.unsound(r, err.Error())
	}
	answers, refusal, err := decodeAnswers(r.body, places)
	if refused := c.refusedBatch(r, refusal, err); refused != nil {
		return refused
	}
	if err != nil {
		return c.unsound(r, err.Error())
	}
	if refused := c.refusedEach(r, answers); refused != nil && len(part) > 1 {
		return refused
	}
	errs := make([]error, len(part))
	for i := range part {
		if refusal != nil {
			errs[i] = c.settle(r, *refusal)
		} else if errs[i] = c.settle(r, answers[i]); errs[i] == nil {
			errs[i] = c.deliver(r, answers[i].Result.of(r.body), part[i].Out)
		}
		var ft *fault
		if errors.As(errs[i], &ft) {
			whole := *ft
			// This call was declined, but the node may have acted on others of the list.
			whole.sent = whole.sent || refusal == nil
			return &whole
		}
	}
	for i, err := range errs {
		part[i].settle(err)
	}
	return nil
}

// settle records the outcome of one request that was answered.
func (r *Request) settle(err error) {
	r.Err = nil
	if err != nil {
		r.Err = fmt.Errorf("call %s: %w", r.Method, err)
	}
}
