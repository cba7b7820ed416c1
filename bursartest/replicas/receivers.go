package replicas

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Received is an event that a receiver accepted.
type Received struct {
	ID, URL, Body string
	Times         int
}

// Receivers are all the servers that webhooks go to. The first label of a server's host decides what it does with an
// event: "good" accepts it, "flaky" accepts every third attempt, "gone" answers 410, "slow" accepts it after the
// sender has given up, and "dead" cannot be reached.
type Receivers struct {
	harness *Harness
	taken   map[string]*Received
	order   []string
	asked   int
	// Well makes all of them good.
	Well bool
	// Changed is the first event that came twice with two bodies, or to two receivers.
	Changed error
}

// Do answers a request of the deliverer's client.
func (r *Receivers) Do(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	id, kind, url := req.Header.Get("Webhook-Id"), strings.SplitN(req.URL.Hostname(), ".", 2)[0], req.URL.String()
	r.asked++
	status := http.StatusOK
	switch {
	case kind == "gone":
		status = http.StatusGone
	case r.Well:
	case kind == "flaky" && r.asked%3 != 0:
		status = http.StatusInternalServerError
	case kind == "dead":
		r.harness.Log("  webhook %s to %s: unreachable", id, url)
		return nil, errors.New("connection refused")
	}
	if status == http.StatusOK {
		r.take(id, url, string(body))
	}
	r.harness.Log("  webhook %s to %s: %d", id, url, status)
	if kind == "slow" && !r.Well {
		r.harness.Clock.Advance(15 * time.Second)
		return nil, errors.New("the receiver did not answer in time")
	}
	return &http.Response{
		StatusCode: status,
		Header:     http.Header{},
		Body:       io.NopCloser(bytes.NewReader(nil)),
		Request:    req,
	}, nil
}

func (r *Receivers) take(id, url, body string) {
	known := r.taken[id]
	if known == nil {
		r.taken[id] = &Received{ID: id, URL: url, Body: body, Times: 1}
		r.order = append(r.order, id)
		return
	}
	known.Times++
	if r.Changed == nil && (known.Body != body || known.URL != url) {
		r.Changed = fmt.Errorf("event %s came twice and was not the same: %s and %s", id, known.Body, body)
	}
}

// CloseIdleConnections does nothing.
func (r *Receivers) CloseIdleConnections() {}

// Taken returns the accepted events, in the order of their first arrival.
func (r *Receivers) Taken() []Received {
	list := make([]Received, len(r.order))
	for i, id := range r.order {
		list[i] = *r.taken[id]
	}
	return list
}
