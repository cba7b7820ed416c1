// Package notice announces to operators what needs them: alarms that open and close, approvals and withdrawals that
// wait for too long, and whether everything that is owed is held.
//
// It owns the messages and the record of which receiver has been notified of what. It changes nothing else, and decides
// nothing about money. Its invariants: an alarm that opened, and its end, are in a message to each receiver that wants
// its kind, once; what is to be sent is in the database before it is sent, and is sent again under the same ID until
// the receiver has taken it, so that a crash repeats at most that message; one process at a time sends to a receiver;
// each receiver has at most one message in flight, so a failing receiver neither delays others nor builds a backlog; no
// message has metadata of customers or a secret.
package notice

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/bursar/bursar/panics"
)

// Bounds of a message.
const (
	maxLines = 30  // of a message; what is beyond is counted
	maxText  = 600 // characters of a line
)

// Message is one message to a receiver. It is kept as JSON until it was accepted, and sent as such if the format is
// Plain, so its names are documented.
type Message struct {
	ID      string    `json:"id"` // unique for ever; the same where it is sent again
	At      time.Time `json:"at"`
	Subject string    `json:"subject"`
	Text    string    `json:"text"`    // all lines, as people read them
	Notices []Line    `json:"notices"` // the same for programs; empty in a test
}

// Line is one notice of a message.
type Line struct {
	Kind    Kind      `json:"kind"`
	State   string    `json:"state"`           // opened, closed, waiting, solvent or insolvent; empty: a summary
	Alarm   string    `json:"alarm,omitempty"` // the kind of the alarm
	Grave   bool      `json:"grave"`
	Chain   string    `json:"chain,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Text    string    `json:"text"`
	Runbook string    `json:"runbook,omitempty"` // a URL, or a path of the service's API address
}

// Kind is what a notice is about.
type Kind string

// The kinds.
const (
	Alarms      Kind = "alarms"
	Approvals   Kind = "approvals"   // withdrawals and proposals that wait for persons
	Withdrawals Kind = "withdrawals" // that customers wait for
	Solvency    Kind = "solvency"    // one line a day
	Test        Kind = "test"        // sent by `bursar notice test`
)

// Transport sends messages to one receiver. It returns nil once the receiver has taken a message, and otherwise why
// not, without a secret. It may be called again with a message that was taken.
type Transport interface {
	Send(ctx context.Context, m Message) error
	// Check finds out what can be found out without sending anything, and describes it.
	Check(ctx context.Context) (string, error)
}

// leave runs what looks at the deadline of ctx alone, and leaves it to that deadline when ctx ends before.
func leave(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- panics.Catch("sending", f) }() // a mistake in a library must not end the process
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// line returns a text on one line of bounded length: what it is made from may come from a node.
func line(format string, args ...any) string {
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, fmt.Sprintf(format, args...))
	if all := []rune(text); len(all) > maxText {
		return string(all[:maxText-1]) + "…"
	}
	return text
}

// moment is how a time is written for people.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// span is how long something took, for people: in the unit that matters, and the next smaller one.
func span(d time.Duration) string {
	d = max(d, 0).Round(time.Second)
	switch {
	case d < 2*time.Minute:
		return number(int(d/time.Second), "second")
	case d < 2*time.Hour:
		return number(int(d/time.Minute), "minute")
	case d < 48*time.Hour:
		text := number(int(d/time.Hour), "hour")
		if rest := d % time.Hour / time.Minute; rest > 0 {
			text += " " + number(int(rest), "minute")
		}
		return text
	}
	return number(int(d/(24*time.Hour)), "day")
}

// textOf returns lines as people read them, each with the link to its runbook below.
func textOf(lines []Line) string {
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.Text)
		b.WriteByte('\n')
		if l.Runbook != "" {
			b.WriteString("  " + l.Runbook + "\n")
		}
	}
	return b.String()
}
