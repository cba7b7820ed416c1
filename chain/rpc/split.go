package rpc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// batchMemory is how long the client remembers how large a batch an endpoint accepts.
	batchMemory = time.Hour
	// singles is how many single calls run at once in place of a batch.
	singles = 8
)

// batchLimit is how many calls an endpoint accepts in one batch, as its refusals have shown.
type batchLimit struct {
	most   int // 0: not known
	reason string
	at     time.Time
	epoch  uint64
}

// batchRefusal is the refusal of a batch as a whole. It is not a fault: smaller batches or single calls may be
// accepted.
type batchRefusal struct {
	reason string
	never  bool // no batch is accepted, however small
	unsure bool // the node may have acted on the calls
}

func (r *batchRefusal) Error() string { return "the batch was refused: " + r.reason }

// splitting sends requests to one endpoint in batches as large as it accepts, and one by one if it accepts none.
func (c *Client) splitting(ctx context.Context, at place, part []*Request) error {
	for len(part) > 0 {
		if c.pool.epoch(at.endpoint) != at.epoch {
			return &fault{text: "the endpoint went into a cool-down during this batch"}
		}
		most := c.pool.mostBatch(at.endpoint)
		if most == 1 {
			return c.askEach(ctx, at, part)
		}
		some := part[:min(most, len(part))]
		err := c.askBatch(ctx, at, some)
		var refused *batchRefusal
		switch {
		case errors.As(err, &refused):
			at.unsure = at.unsure || refused.unsure
			c.pool.learnBatch(at, len(some), refused)
		case err != nil:
			return err
		default:
			part = part[len(some):]
		}
	}
	return nil
}

// askEach sends the requests of a batch to an endpoint as single calls.
func (c *Client) askEach(ctx context.Context, at place, part []*Request) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(min(singles, c.cfg.MaxConns))
	for _, r := range part {
		group.Go(func() error {
			err := Guarded(func() error {
				q, err := c.callQuestion(r.Method, r.Params, r.Out)
				if err == nil {
					err = c.attempt(ctx, at, q)
				}
				return err
			})
			var answer *Error
			if err == nil || errors.As(err, &answer) || errors.Is(err, ErrNull) {
				r.settle(err)
				return nil
			}
			return err
		})
	}
	return group.Wait()
}

// noBatches is in the messages of endpoints that accept no batch at all.
var noBatches = phrases{"not supported", "not allowed", "disabled"}

// refusedBatch distinguishes the refusal of a list from a fault of the endpoint.
func (c *Client) refusedBatch(r reply, refusal *answer, unsound error) error {
	reason := fmt.Sprintf("HTTP %d", r.status)
	switch r.status {
	case http.StatusRequestEntityTooLarge, http.StatusForbidden, http.StatusMethodNotAllowed,
		http.StatusUnsupportedMediaType,
		http.StatusUnprocessableEntity:
		return &batchRefusal{reason: reason}
	}
	var object []byte // the error
	switch {
	case refusal != nil:
		object = refusal.Error.of(r.body)
	case unsound != nil && r.status == http.StatusBadRequest:
		return &batchRefusal{reason: reason}
	case unsound != nil:
		// dRPC's free plan answers more than three calls with status 500 and {"message": …, "code": 31}.
		object = r.body
	default:
		return nil
	}
	code, message, _, err := decodeError(object)
	if err != nil {
		return nil // a fault, as settle finds
	}
	message = c.secret.text(message)
	aboutBatches := phrases{"batch"}.in(message)
	retryable := refusal == nil || c.cfg.Retryable(&Error{Code: code, HTTP: r.status, Message: message})
	if !aboutBatches && retryable {
		return nil
	}
	return refusedFor(code, message)
}

// refusedFor returns the refusal of a batch for an error.
func refusedFor(code int, message string) *batchRefusal {
	return &batchRefusal{
		reason: fmt.Sprintf("error %d: %s", code, quote(message)),
		// "Batch of more than 3 requests are not allowed" allows smaller ones.
		never:  phrases{"batch"}.in(message) && noBatches.in(message) && !strings.ContainsAny(message, "0123456789"),
		unsure: phrases{"response"}.in(message), // the calls were executed before their answers were found too large
	}
}

// refusedEach returns the refusal of a batch as a whole where each of its calls was answered with an error about
// batches; nil if it is none.
func (c *Client) refusedEach(r reply, answers []answer) *batchRefusal {
	var refused *batchRefusal
	for _, a := range answers {
		code, message, _, err := decodeError(a.Error.of(r.body))
		if err != nil || !(phrases{"batch"}).in(message) {
			return nil
		}
		refused = refusedFor(code, c.secret.text(message))
	}
	return refused
}

// mostBatch returns how many calls one batch to this endpoint may have.
func (p *pool) mostBatch(e *endpoint) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	most, _ := p.batchOf(e)
	return most
}

func (p *pool) batchOf(e *endpoint) (most int, why string) {
	most = p.cfg.MaxBatch
	if e.quota.Batch > 0 {
		most = min(most, e.quota.Batch)
	}
	if l := e.standing.batch; l.most > 0 && l.epoch == e.standing.epoch && p.cfg.Now().Sub(l.at) < batchMemory {
		return min(most, l.most), l.reason
	}
	return most, ""
}

// learnBatch records that a batch of a size was refused: one of half the size may be accepted.
func (p *pool) learnBatch(at place, size int, refused *batchRefusal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	most := max(1, size/2)
	if refused.never {
		most = 1
	}
	at.endpoint.standing.batch = batchLimit{most: most, reason: refused.reason, at: p.cfg.Now(), epoch: at.epoch}
}
