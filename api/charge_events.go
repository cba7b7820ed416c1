package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/wire"
)

// seenForm is the form of what names a state of a charge: a version, or a hash of a charge that has none.
var seenForm = regexp.MustCompile(`^[0-9a-f]{1,20}$`)

// chargeWatch says which charge a client wants to see change.
type chargeWatch struct {
	charge bursar.ID
	seen   string // the state that the client has; empty: none
	wait   time.Duration
}

type chargeEvent struct {
	Charge any    `json:"charge"`
	Seen   string `json:"seen"` // names this state
}

func chargeWatchOf(c *call) (w chargeWatch) {
	w.charge = c.in.requiredID("chargeID")
	if seen, sent := c.in.optional("seen"); sent {
		if w.seen = seen; !seenForm.MatchString(seen) {
			c.in.refuse("seen", "seen must be the seen of an earlier answer")
		}
	}
	if seconds, sent := c.in.whole("wait", 0, longestWait); sent {
		w.wait = time.Duration(seconds) * time.Second
	}
	return w
}

// watchCharge is GET charge/events for who does not ask for a stream: the charge as soon as it is not as it was seen.
func (a *api) watchCharge(ctx context.Context, c *call) (any, error) {
	w := chargeWatchOf(c)
	if c.in.err != nil {
		return nil, c.in.err
	}
	event, err := a.chargeEvent(ctx, c, w.charge)
	if err != nil || event.Seen != w.seen || w.wait == 0 {
		return event, err
	}
	leave, err := a.feeds.enter(c.identity.Account)
	if err != nil {
		return nil, err
	}
	defer leave()
	waiting, cancel := context.WithTimeout(ctx, w.wait)
	defer cancel()
	for event.Seen == w.seen {
		more := false
		if event, more, err = a.nextChargeEvent(ctx, waiting, c, event); err != nil || !more {
			return event, err
		}
	}
	return event, nil
}

// nextChargeEvent returns a charge once it may be another than it was, and false where waiting ended before.
func (a *api) nextChargeEvent(ctx, waiting context.Context, c *call, last chargeEvent) (chargeEvent, bool, error) {
	id := idOfCharge(last.Charge)
	one, err := a.watches.watch(ctx, id)
	if err != nil {
		return last, false, err
	}
	defer a.watches.leave(one)
	now, err := a.chargeEvent(ctx, c, id) // what changed before it was watched
	if err != nil || now.Seen != last.Seen {
		return now, err == nil, err
	}
	if !a.awaitChange(waiting, one) {
		return last, false, nil
	}
	now, err = a.chargeEvent(ctx, c, id)
	return now, err == nil, err
}

// awaitChange reports whether a charge may have changed before waiting and the server end.
func (a *api) awaitChange(waiting context.Context, one *watcher) bool {
	until, cancel := context.WithCancel(waiting)
	defer cancel()
	defer context.AfterFunc(a.watches.ctx, cancel)()
	return a.DB.Wait(until, one.changed) == nil
}

// chargeEvent reads an account's charge with the name of its state.
func (a *api) chargeEvent(ctx context.Context, c *call, id bursar.ID) (e chargeEvent, err error) {
	found, err := a.Charges.Find(ctx, c.identity.Account, id)
	if err != nil {
		return e, err
	}
	if e.Charge, err = a.viewFound(found, a.DB.Now()); err != nil {
		return e, err
	}
	e.Seen, err = seenOf(found, e.Charge)
	return e, err
}

// seenOf names the state of a charge: rates and the seconds that are left do not belong to it.
func seenOf(f charge.Found, view any) (string, error) {
	if sum, is := view.(wire.Invoice); is && f.Sum != nil {
		return strconv.FormatInt(sum.Version, 10), nil
	}
	single, is := view.(wire.Charge)
	if !is {
		return "", errors.New("a charge has neither rule")
	}
	single.Expires = 0
	text, err := json.Marshal(single)
	if err != nil {
		return "", fmt.Errorf("write a charge: %w", err)
	}
	sum := sha256.Sum256(text)
	return fmt.Sprintf("%x", sum[:8]), nil
}

func idOfCharge(view any) bursar.ID {
	if sum, is := view.(wire.Invoice); is {
		return sum.ChargeID
	}
	single, _ := view.(wire.Charge)
	return single.ChargeID
}

// Streams of events.
const (
	streamType      = "text/event-stream"
	streamWriteTime = 10 * time.Second // of one event: a client that takes none is not waited for
)

// wantsStream reports whether a client asks for server-sent events, as EventSource does.
func wantsStream(r *http.Request) bool {
	for _, accepts := range r.Header.Values("Accept") {
		for kind := range strings.SplitSeq(accepts, ",") {
			kind, _, _ = strings.Cut(kind, ";")
			if strings.EqualFold(strings.TrimSpace(kind), streamType) {
				return true
			}
		}
	}
	return false
}

// stream is the answer of a route to who asks for server-sent events. It writes nothing before its first event, so a
// refusal before that is answered as any other.
type stream func(w http.ResponseWriter, r *http.Request, c *call) error

// streamCharge is GET charge/events as a stream: the charge as it is, and again at each change until the client goes,
// the server ends or the key may not read any more, which is evaluated again before anything is sent.
func (a *api) streamCharge(w http.ResponseWriter, r *http.Request, c *call) error {
	asked := chargeWatchOf(c)
	if c.in.err != nil {
		return c.in.err
	}
	if last := r.Header.Get("Last-Event-ID"); seenForm.MatchString(last) {
		asked.seen = last
	}
	event, err := a.chargeEvent(r.Context(), c, asked.charge)
	if err != nil {
		return err
	}
	leave, err := a.feeds.enter(c.identity.Account)
	if err != nil {
		return err
	}
	defer leave()
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(time.Time{}) // the request is read; its limit would end the stream
	w.Header().Set("Content-Type", streamType)
	w.Header().Set("X-Accel-Buffering", "no")
	text := "retry: 3000\n\n"
	for {
		if event.Seen != asked.seen {
			asked.seen = event.Seen
			shown, err := eventText(event)
			if err != nil {
				return nil // logged by nobody: the same charge fails as an answer too, and is logged there
			}
			text += shown
		}
		if !sendPart(w, out, text) {
			return nil
		}
		beat, end := context.WithTimeout(r.Context(), a.Beat)
		next, more, err := a.nextChargeEvent(r.Context(), beat, c, event)
		end()
		switch {
		case err != nil || r.Context().Err() != nil || a.watches.ctx.Err() != nil:
			return nil // the client connects again, and gets it then
		case a.mayStillRead(r, c) != nil:
			return nil
		case more:
			event, text = next, ""
		default:
			text = ":\n\n"
		}
	}
}

// mayStillRead evaluates the key of a stream again: one that was revoked or has expired reads no more.
func (a *api) mayStillRead(r *http.Request, c *call) error {
	ctx, cancel := context.WithTimeout(r.Context(), workTime)
	defer cancel()
	identity, err := a.Accounts.Authenticate(ctx, credentialsOf(r, c.from))
	if err == nil && !identity.Key.Allows(bursar.ScopeRead) {
		err = forbidden(bursar.ScopeRead)
	}
	return err
}

// eventText writes a charge as one event.
func eventText(e chargeEvent) (string, error) {
	body, err := render(struct {
		Charge any `json:"charge"`
	}{e.Charge})
	return "event: charge\nid: " + e.Seen + "\ndata: " + string(bytes.TrimSpace(body)) + "\n\n", err
}

func sendPart(w http.ResponseWriter, out *http.ResponseController, text string) bool {
	if text == "" {
		return true
	}
	_ = out.SetWriteDeadline(time.Now().Add(streamWriteTime)) // of the network, which knows no other clock
	if _, err := w.Write([]byte(text)); err != nil {
		return false
	}
	return out.Flush() == nil
}
