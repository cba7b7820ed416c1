package notice

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar/store"
)

// recorded reads a message of a receiver's row.
func recorded(receiver, text string) (m Message, err error) {
	if err = json.Unmarshal([]byte(text), &m); err != nil {
		return m, fmt.Errorf("the recorded message to %s: %w", receiver, err)
	}
	return m, nil
}

// isGrave reports whether a message may be sent in quiet hours.
func (m Message) isGrave() bool {
	return slices.ContainsFunc(m.Notices, func(l Line) bool { return l.Grave })
}

// holdsBack reports whether the message in flight waits for the end of quiet hours: it was composed before they began,
// was not accepted, and nothing in it is grave.
func (r Receiver) holdsBack(row store.NoticeReceiver, now time.Time) (bool, error) {
	if row.Message == "" || !r.isQuiet(now) {
		return false, nil
	}
	m, err := recorded(r.Name, row.Message)
	return !m.isGrave(), err
}

// next sets in the row the message that is to be sent now, if there is one: the one in flight, the one that was held in
// quiet hours, or a new one. A grave message is sent before a held one, which keeps its ID.
func (n *Notifier) next(
	ctx context.Context, tx *store.Tx, r Receiver, row *store.NoticeReceiver, id string, statement *Line,
) error {
	waits, err := r.holdsBack(*row, tx.Now())
	if err != nil || row.Message != "" && !waits {
		return err
	}
	if row.Held != "" && !r.isQuiet(tx.Now()) {
		return n.resume(r, row, tx.Now())
	}
	before := *row
	row.Message = ""
	if err := n.take(ctx, tx, r, row, id, statement); err != nil {
		return err
	}
	if waits && row.Message != "" { // quiet hours hold one message: what is composed in them is grave, and never held
		row.Held = before.Message
	}
	return nil
}

// resume sends the held message again, once the last message is old enough.
func (n *Notifier) resume(r Receiver, row *store.NoticeReceiver, now time.Time) error {
	if n.isSoon(*row, now) {
		return nil
	}
	m, err := recorded(r.Name, row.Held)
	if err != nil {
		return err
	}
	row.Message, row.Held, row.ComposedAt, row.Attempts = row.Held, "", m.At, 0
	return nil
}

// clocksDiffer is how far the clocks of two processes may differ. A time that is further ahead was written by a wrong
// clock and is not waited for.
const clocksDiffer = 2 * longPause

// withoutFutureTimes clears the timestamps of a receiver that a clock wrote which was ahead: it begins now, and what
// would be silent until such a time counts as not yet sent. changed says whether there was one.
func withoutFutureTimes(row store.NoticeReceiver, now time.Time) (_ store.NoticeReceiver, changed bool) {
	latest := now.Add(clocksDiffer)
	for _, t := range []struct {
		at    *time.Time
		right time.Time
	}{{&row.BegunAt, now}, {&row.ComposedAt, now}, {&row.SolvencyAt, time.Time{}}} {
		if t.at.After(latest) {
			*t.at, changed = t.right, true
		}
	}
	waiting := map[string]time.Time{}
	for queue, at := range row.Waiting {
		if at.After(latest) {
			changed = true
			continue
		}
		waiting[queue] = at
	}
	row.Waiting = waiting
	return row, changed
}
