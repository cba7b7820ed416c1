package webhook

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/bursar/bursar/netpolicy"
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

// result is an attempt to be recorded.
type result struct {
	store.Outcome
	gone store.Receiver // the URL that answered 410, if it did
	of   *job
}

// attempt sends one event and records the outcome. An attempt that was cut off by the end of Run, or could not be
// signed, is not recorded: its lease expires and the event is sent again.
func (d *Deliverer) attempt(ctx context.Context, j *job) {
	at, began := d.now(), d.clock()
	secrets := secretsAt(d.secrets, j.account, at)
	a := answer{reason: "not signed"}
	if len(secrets) > 0 {
		a = d.guarded(j, func() answer { return d.send(ctx, j, at, secrets) })
	}
	ended := d.clock()
	for _, turned := range d.queues.ended(j, ended, a.reason == "") {
		d.skip(ctx, turned)
	}
	d.pump(ctx)
	defer d.queues.recorded()
	switch {
	case len(secrets) == 0:
		d.log.Error("webhook could not be signed", "event", j.ID)
	case ctx.Err() == nil || a.reason == "":
		d.counters.made(a.outcome, ended.Sub(began))
		d.record(ctx, d.judge(j, a, at, ended.Sub(began)))
	}
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
	if err := netpolicy.CheckWebhookURL(j.URL, d.allowed); err != nil {
		return failed(err)
	}
	ctx, cancel := context.WithTimeout(ctx, d.times.attempt)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, j.URL, bytes.NewReader(j.Body))
	if err != nil {
		return failed(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "bursar")
	req.Header.Set("Webhook-Id", j.ID.String())
	req.Header.Set("Webhook-Timestamp", timestamp(at))
	req.Header.Set("Webhook-Signature", signature(secrets, j.ID.String(), at, j.Body))
	resp, err := d.client.Do(req)
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

// judge derives the event's new state from an answer.
func (d *Deliverer) judge(j *job, a answer, at time.Time, took time.Duration) result {
	r := result{of: j, Outcome: store.Outcome{
		Event:   j.Number,
		Lease:   j.Attempts,
		Status:  store.DeliveryPending,
		Tries:   j.Tries + 1,
		NextAt:  at,
		Attempt: store.Attempt{Number: j.Attempts, At: at, Duration: took, Code: int64(a.code), Error: a.reason},
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

// skip records an attempt of an event whose receiver hangs as failed, without sending it. The last attempt of the
// schedule is never skipped: it is left to its lease, and made when the destination queue opens again.
func (d *Deliverer) skip(ctx context.Context, j *job) {
	if j.Tries+1 >= attemptsOf(j.Kind) {
		return
	}
	d.counters.skipped()
	d.begin(func() {
		d.record(ctx, d.judge(j, answer{reason: "not sent: the receiver did not answer earlier attempts"}, d.now(), 0))
	})
}

// record writes a result, in one transaction with those of other attempts.
func (d *Deliverer) record(ctx context.Context, r result) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	if _, err := d.records.Do(ctx, r); err != nil {
		d.log.Error("webhook attempt could not be recorded", "number", r.Event, "error", err)
		return
	}
	d.logAttempt(r)
}

func writeResults(ctx context.Context, tx *store.Tx, results []result) ([]store.Result[struct{}], error) {
	outcomes := make([]store.Outcome, len(results))
	for i, r := range results {
		outcomes[i] = r.Outcome
	}
	if err := tx.Deliveries().RecordAttempts(ctx, outcomes); err != nil {
		return nil, err
	}
	for _, r := range results {
		if r.gone.URL == "" {
			continue
		}
		if err := tx.WebhookURLs().Disable(ctx, r.gone.Account, r.gone.URL); err != nil {
			return nil, err
		}
	}
	return make([]store.Result[struct{}], len(results)), nil
}
