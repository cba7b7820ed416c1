package rpc

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
)

// Request is one call of a batch. Out is as in Client.Call. Err is set by Batch: nil, *Error, ErrNull, or why the request
// was not answered.
type Request struct {
	Method string
	Params []any
	Out    any
	Err    error
}

func (c *Client) batch(ctx context.Context, via asker, requests []*Request) error {
	if err := checkOuts(requests); err != nil {
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

func checkOuts(requests []*Request) error {
	for _, r := range requests {
		if err := checkOut(r.Out); err != nil {
			return fmt.Errorf("batch: call %s: %w", r.Method, err)
		}
	}
	return nil
}

// unanswered marks requests, so that none is taken for answered because it has no error.
func unanswered(requests []*Request, err error) error {
	for _, r := range requests {
		r.Err = err
	}
	return err
}

func (c *Client) batchPart(ctx context.Context, via asker, part []*Request) error {
	asks := make([]envelope, len(part))
	places := make(map[uint64]int, len(part))
	for i, r := range part {
		asks[i] = c.envelope(r.Method, r.Params)
		places[asks[i].ID] = i
	}
	op := fmt.Sprintf("batch of %d from %s", len(part), part[0].Method)
	body, err := json.Marshal(asks)
	if err != nil {
		return fmt.Errorf("%s: encode parameters: %w", op, err)
	}
	return via.do(ctx, question{op: op, method: http.MethodPost, body: body, read: func(r reply) error {
		return c.readBatch(r, part, places)
	}})
}

// readBatch delivers every answer, or none is kept: a part in which one answer is unsound is asked anew as a whole.
func (c *Client) readBatch(r reply, part []*Request, places map[uint64]int) error {
	answers, refusal, err := decodeAnswers(r.body, places)
	if err != nil {
		return c.unsound(r, err.Error())
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
			whole.sent = whole.sent || refusal == nil // this call was declined, but others of the list may have been acted on
			return &whole
		}
	}
	for i, err := range errs {
		part[i].Err = nil
		if err != nil {
			part[i].Err = fmt.Errorf("call %s: %w", part[i].Method, err)
		}
	}
	return nil
}
