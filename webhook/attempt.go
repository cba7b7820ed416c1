package webhook

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/bursar/bursar/store"
)

// maxAnswer is how many bytes of a response's body are read. Its content does not matter: it is read so that the
// connection can be used again.
const maxAnswer = 64 << 10

// answer is the outcome of a request.
type answer struct {
	outcome Outcome
	code    int           // 0: there was no response
	after   time.Duration // the receiver's Retry-After, 0: none
	reason  string        // why it failed, empty for a success
}

func failed(err error) answer {
	outcome, reason := explain(err)
	return answer{outcome: outcome, reason: reason}
}

// attempt sends one event and records the outcome. An attempt that was cut off by the end of Run, or could not be
// signed, is not recorded: its lease expires and the event is sent again.
func (d *Deliverer) attempt(ctx context.Context, j *job) {
	at, began := d.now(), d.clock()
	secrets := secretsAt(d.secrets, j.account, at)
	a := answer{reason: "not signed"}
	if len(secrets) > 0 {
		a = d.guarded(j, func() answer { return d.send(ctx, j, at.Add(-d.ahead()), secrets) })
	}
	ended := d.clock()
	for _, turned := range d.queues.ended(j, ended, end{a.reason == "", missed(a), at}) {
		d.skip(turned)
	}
	switch {
	case len(secrets) == 0:
		d.log.Error("webhook could not be signed", "event", j.ID)
		d.queues.recorded(result{of: j}, false)
	case ctx.Err() == nil || a.reason == "":
		d.counters.made(a.outcome, ended.Sub(began))
		d.record(d.evaluate(j, a, at, ended.Sub(began)))
	default:
		d.queues.recorded(result{of: j}, false)
	}
}

// missed reports whether an attempt did not reach the receiver. An attempt to an address that may not be dialled does
// not count: it shows nothing about the receiver.
func missed(a answer) bool {
	switch a.outcome {
	case OutcomeConnection, OutcomeDNS, OutcomeTLS, OutcomeTimeout:
		return true
	}
	return false
}

// guarded turns a panic into a failed attempt, so that one receiver's response ends neither the process nor the
// deliveries to others.
func (d *Deliverer) guarded(j *job, send func() answer) (a answer) {
	defer func() {
		if cause := recover(); cause != nil {
			d.log.Error("webhook attempt panicked", "event", j.ID, "cause", cause, "stack", string(debug.Stack()))
			a = failed(errPanicked)
		}
	}()
	return send()
}

var errPanicked = errors.New("the attempt panicked")

// send posts the event and reads the response, all within the time limit of one attempt.
func (d *Deliverer) send(ctx context.Context, j *job, at time.Time, secrets [][]byte) answer {
	if j.refused != nil {
		return failed(j.refused)
	}
	ctx, cancel := context.WithTimeout(ctx, d.times.attempt)
	defer cancel()
	resp, err := d.client.Do(j.request(ctx, at, secrets))
	if err != nil {
		return failed(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 200 { // the body of a protocol switch (1xx) never ends
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body,
			maxAnswer)) // only the status counts, so a read error does not matter
	}
	a := answer{outcome: outcomeOf(resp.StatusCode), code: resp.StatusCode,
		after: retryAfter(resp.StatusCode, resp.Header, d.now())}
	if !delivered(a.code) {
		a.reason = statusReason(a.code)
	}
	return a
}

// request returns the request that sends an event.
func (j *job) request(ctx context.Context, at time.Time, secrets [][]byte) *http.Request {
	id := j.ID.String()
	req := &http.Request{
		Method:     http.MethodPost,
		URL:        j.to,
		Host:       j.to.Host,
		Proto:      "HTTP/1.1",
		ProtoMajor: 1,
		ProtoMinor: 1,
		Header: http.Header{
			"Content-Type":      jsonType,
			"User-Agent":        userAgent,
			"Webhook-Id":        {id},
			"Webhook-Timestamp": {timestamp(at)},
			"Webhook-Signature": {signature(secrets, id, at, j.Body)},
		},
		Body:          io.NopCloser(bytes.NewReader(j.Body)),
		GetBody:       func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(j.Body)), nil },
		ContentLength: int64(len(j.Body)),
	}
	return req.WithContext(ctx)
}

// Headers that are the same in every request.
var jsonType, userAgent = []string{"application/json"}, []string{"bursar"}

// evaluate derives the event's new state from an answer.
func (d *Deliverer) evaluate(j *job, a answer, at time.Time, took time.Duration) result {
	r := result{of: j, Outcome: store.Outcome{
		Event:   j.Number,
		Due:     j.NextAt,
		Status:  store.DeliveryPending,
		Tries:   j.Tries + 1,
		NextAt:  at,
		Attempt: store.Attempt{Number: j.Attempts + 1, At: at, Duration: took, Code: int64(a.code), Error: a.reason},
	}}
	if a.reason == "" {
		r.Status = store.DeliveryDelivered
		return r
	}
	if a.code == http.StatusGone {
		r.Status, r.gone = store.DeliveryDisabled, store.ReceiverOf(j.Event)
		return r
	}
	delay, more := d.delay(int(r.Tries))
	if !more || r.Tries >= attemptsOf(j.Kind) {
		r.Status = store.DeliveryFailed
		return r
	}
	r.NextAt = at.Add(took + max(delay, a.after))
	return r
}

// skip records an attempt of an event whose receiver hangs or is not to be reached as failed, without sending it. The
// last attempt of the schedule is never skipped: the event is due until it can be sent.
func (d *Deliverer) skip(j *job) {
	if j.last() {
		d.queues.forgetLease(j)
		return
	}
	d.counters.skipped()
	r := d.evaluate(j, answer{reason: "not sent: the receiver did not answer earlier attempts"}, d.now(), 0)
	r.skipped = true
	d.record(r)
}
