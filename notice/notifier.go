package notice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/panics"
	"github.com/bursar/bursar/store"
)

// alarmFailing is the alarm about a receiver that takes no messages. Ref is its name.
const alarmFailing = "notices_failing"

// Times of sending.
const (
	pace        = 5 * time.Second
	sendWithin  = 30 * time.Second // one attempt
	claimedFor  = 2 * time.Minute  // by who attempts; a crash delays a message by as much
	firstPause  = 10 * time.Second // after an attempt that failed; it doubles each time
	longPause   = 15 * time.Minute
	manyFailed  = 3              // attempts in a row, and there is an alarm
	giveUpAfter = 24 * time.Hour // then what the message was about is old
	recordTime  = 5 * time.Second
)

// Notifier composes and sends messages. Several processes may run it at the same time.
type Notifier struct {
	DB               *store.DB
	IDs              *bursar.IDs
	Log              *slog.Logger
	Name             string        // of the service, in subjects
	Link             string        // scheme and host of the documentation; empty: links are paths
	Digest           time.Duration // within which notices become one message; also the least time between two
	ApprovalsAfter   time.Duration // how long approvals may wait; 0: for ever
	WithdrawalsAfter time.Duration
	Daily            int // the minute of the day of the line of solvency; below zero: none
	Receivers        []Receiver

	Solvency func(ctx context.Context, tx *store.Tx) (Statement, error)
	Spread   func(n int64) int64 // jitter: a number in [0, n); nil: at random
}

// Run notifies all receivers until ctx ends, each on its own.
func (n *Notifier) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return n.work(ctx, "", n.forget) })
	for _, r := range n.Receivers {
		group.Go(func() error {
			return n.work(ctx, r.Name, func(ctx context.Context) (bool, error) { return n.Step(ctx, r) })
		})
	}
	return group.Wait()
}

func (n *Notifier) work(ctx context.Context, receiver string, step func(context.Context) (bool, error)) error {
	careful := func(ctx context.Context) (more bool, err error) {
		err = panics.Catch("sending", func() (err error) {
			more, err = step(ctx)
			return err
		})
		return more, err
	}
	return store.Work{Pace: pace, Step: careful, Failed: func(failures int, err error) {
		n.Log.Warn("failed to compose or record notices", "receiver", receiver, "failures", failures, "error", err)
	}}.Run(ctx)
}

// forget closes the alarms about receivers that are not configured any more.
func (n *Notifier) forget(ctx context.Context) (bool, error) {
	var gone []string
	err := n.DB.View(ctx, func(tx *store.Tx) error {
		gone = nil
		open, err := tx.Alarms().OfKind(ctx, alarmFailing)
		for _, a := range open {
			if !slices.ContainsFunc(n.Receivers, func(r Receiver) bool { return r.Name == a.Ref }) {
				gone = append(gone, a.Ref)
			}
		}
		return err
	})
	if err != nil || len(gone) == 0 {
		return false, err
	}
	return false, n.DB.Do(ctx, func(tx *store.Tx) error { return tx.Alarms().ResolveAll(ctx, alarmFailing, gone) })
}

// claim is a lease of one attempt to send a message: no other process makes it until the lease ends.
type claim struct {
	message Message
	text    string // as it is recorded
	attempt int64
}

// Step sends one message to a receiver, if one is due. The error is one of the database; that the receiver did not take
// the message is recorded.
func (n *Notifier) Step(ctx context.Context, r Receiver) (more bool, err error) {
	due, statement, err := n.due(ctx, r)
	if err != nil || !due {
		return false, err
	}
	c, err := n.claim(ctx, r, statement)
	if err != nil || c == nil {
		return false, err
	}
	within, cancel := context.WithTimeout(ctx, sendWithin)
	failed := panics.Catch("sending", func() error { return r.Transport.Send(within, c.message) })
	cancel()
	// What became of the attempt is recorded even where this process ends.
	recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	if failed != nil && ctx.Err() != nil {
		return false, errors.Join(ctx.Err(), n.release(recording, r, c))
	}
	return false, n.record(recording, r, c, failed)
}

// due reports whether there is a message to send or to compose. It writes nothing, so it may be called often.
func (n *Notifier) due(ctx context.Context, r Receiver) (due bool, statement *Line, err error) {
	var solvency bool
	var row store.NoticeReceiver
	read := func(tx *store.Tx) (err error) {
		due = false
		row, err = tx.Notices().Get(ctx, r.Name)
		if errors.Is(err, store.ErrNotFound) {
			due = true // it begins
			return nil
		}
		if err != nil || n.rests(row, tx.Now()) {
			return err
		}
		var ahead bool
		row, ahead = withoutFutureTimes(row, tx.Now())
		waits, err := r.holdsBack(row, tx.Now())
		if err != nil || ahead || row.Message != "" && !waits {
			due = err == nil
			return err
		}
		if n.isSoon(row, tx.Now()) {
			return nil // so nothing is compared or computed for a message that is not sent yet
		}
		if due = row.Held != "" && !r.isQuiet(tx.Now()); due {
			return nil
		}
		if _, solvency = n.solvencyDue(r, row, tx.Now()); r.isQuiet(tx.Now()) {
			solvency = false // alarms say what is grave
		}
		list, err := n.collect(ctx, tx, r, row, statement)
		due = len(n.ready(r, row, list, tx.Now())) > 0
		return err
	}
	if err = n.DB.View(ctx, read); err != nil || !solvency {
		return due, nil, err
	}
	statement = n.statement(ctx)
	return due, statement, n.DB.View(ctx, read)
}

// rests reports whether no message may be sent to a receiver now: another process is sending one, or the last attempt
// failed recently. A time too far ahead was written by a wrong clock and is ignored.
func (n *Notifier) rests(row store.NoticeReceiver, now time.Time) bool {
	return row.NextAt.After(now) && row.NextAt.Before(now.Add(2*longPause))
}

// claim leases the message in flight, or composes one, and records that it is about to be sent; nil if there is none,
// or another process has the lease.
func (n *Notifier) claim(ctx context.Context, r Receiver, statement *Line) (c *claim, err error) {
	id := n.IDs.Next().String()
	err = n.DB.Do(ctx, func(tx *store.Tx) error {
		c = nil
		row, err := tx.Notices().Lock(ctx, r.Name)
		if err != nil || n.rests(row, tx.Now()) {
			return err
		}
		row, ahead := withoutFutureTimes(row, tx.Now())
		if err := n.next(ctx, tx, r, &row, id, statement); err != nil || row.Message == "" {
			if err == nil && ahead {
				err = tx.Notices().Put(ctx, row)
			}
			return err
		}
		m, err := recorded(r.Name, row.Message)
		if err != nil {
			return err
		}
		row.Attempts++
		row.NextAt = tx.Now().Add(claimedFor)
		c = &claim{m, row.Message, row.Attempts}
		return tx.Notices().Put(ctx, row)
	})
	return c, err
}

// take composes a message of what a receiver has not been notified of, and records that it has.
func (n *Notifier) take(
	ctx context.Context, tx *store.Tx, r Receiver, row *store.NoticeReceiver, id string, statement *Line,
) error {
	list, err := n.collect(ctx, tx, r, *row, statement)
	if err != nil {
		return err
	}
	if list = n.ready(r, *row, list, tx.Now()); len(list) == 0 {
		return nil
	}
	text, err := json.Marshal(n.compose(id, list, row.Lost, tx.Now()))
	if err != nil {
		return err
	}
	row.Message, row.ComposedAt, row.Attempts = string(text), tx.Now(), 0
	return tx.Notices().Note(ctx, r.Name, note(row, list))
}

// change records the outcome of an attempt, unless another process has made a later one.
func (n *Notifier) change(
	ctx context.Context, r Receiver, c *claim, f func(tx *store.Tx, row *store.NoticeReceiver) error,
) error {
	return n.DB.Do(ctx, func(tx *store.Tx) error {
		row, err := tx.Notices().Lock(ctx, r.Name)
		if err != nil || row.Message != c.text || row.Attempts != c.attempt {
			return err
		}
		if err := f(tx, &row); err != nil {
			return err
		}
		return tx.Notices().Put(ctx, row)
	})
}

// release ends the lease of a message that this process cannot send because it ends, so that others can send it at
// once.
func (n *Notifier) release(ctx context.Context, r Receiver, c *claim) error {
	return n.change(ctx, r, c, func(tx *store.Tx, row *store.NoticeReceiver) error {
		row.NextAt = tx.Now()
		return nil
	})
}

// record records the outcome of an attempt.
func (n *Notifier) record(ctx context.Context, r Receiver, c *claim, failed error) error {
	if failed == nil {
		n.Log.Info("notice sent", "receiver", r.Name, "id", c.message.ID, "attempt", c.attempt)
	} else {
		n.Log.Warn("notice not accepted", "receiver", r.Name, "id", c.message.ID, "attempt", c.attempt, "error", failed)
	}
	return n.change(ctx, r, c, func(tx *store.Tx, row *store.NoticeReceiver) error {
		if failed == nil {
			row.Message, row.Attempts, row.NextAt, row.Error = "", 0, time.Time{}, ""
			row.FailingSince, row.Lost, row.SentAt = time.Time{}, 0, tx.Now()
			row.Sent++
			return tx.Alarms().Resolve(ctx, alarmFailing, r.Name)
		}
		return n.fail(ctx, tx, row, failed)
	})
}

// fail records that a receiver did not accept a message. It is sent again later, and given up after a day.
func (n *Notifier) fail(ctx context.Context, tx *store.Tx, row *store.NoticeReceiver, failed error) error {
	row.Error = line("%v", failed)
	if row.FailingSince.IsZero() {
		row.FailingSince = tx.Now()
	}
	pause := backoff(row.Attempts)
	row.NextAt = tx.Now().Add(pause + time.Duration(n.spread(int64(pause/4))))
	many := row.Attempts >= manyFailed
	if tx.Now().Sub(row.ComposedAt) > giveUpAfter {
		row.Message, row.Attempts = "", 0
		row.Lost++
		many = true
	}
	if !many {
		return nil
	}
	return tx.Alarms().Raise(ctx, store.Alarm{Kind: alarmFailing, Ref: row.Name, Message: fmt.Sprintf(
		"no notice reaches %s since %s: %s. Check `notices.receivers.%s`, then run `bursar notice test %s`", row.Name,
		row.FailingSince.Format(time.RFC3339), row.Error, row.Name, row.Name)})
}

func (n *Notifier) spread(most int64) int64 {
	spread := n.Spread
	if spread == nil {
		spread = rand.Int64N
	}
	return spread(most)
}

// NewTest returns the message with which a receiver is tested.
func NewTest(name, id string, now time.Time) Message {
	l := Line{Kind: Test, Text: "This is a test of `bursar notice test`. Nothing has happened."}
	return Message{ID: id, At: now, Subject: line("%s: test", name), Text: textOf([]Line{l}), Notices: []Line{l}}
}
