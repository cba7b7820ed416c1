package notice

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar/store"
)

// ready returns the events to be sent now, in one message: none while all of them may wait to be combined with others,
// and in quiet hours only grave ones.
func (n *Notifier) ready(r Receiver, row store.NoticeReceiver, list []event, now time.Time) []event {
	if r.isQuiet(now) {
		list = slices.DeleteFunc(slices.Clone(list), func(e event) bool { return !e.line.Grave })
	}
	if n.isSoon(row, now) {
		return nil
	}
	for _, e := range list {
		if e.line.Grave || !e.solvency.IsZero() || !e.at.Add(n.Digest).After(now) || e.at.After(now) {
			return list
		}
	}
	return nil
}

// isSoon reports whether the last message to a receiver is too new for another one. A clock that moved backwards does
// not delay messages.
func (n *Notifier) isSoon(row store.NoticeReceiver, now time.Time) bool {
	since := now.Sub(row.ComposedAt)
	return since >= 0 && since < n.Digest
}

// compose makes one message of events.
func (n *Notifier) compose(id string, list []event, lost int64, now time.Time) Message {
	var shown []event
	var opened, closed int
	for _, e := range list {
		switch {
		case e.line.Kind != Alarms || now.Sub(e.at) < old:
			shown = append(shown, e)
		case e.line.State == "closed":
			closed++
		default:
			opened++
		}
	}
	slices.SortStableFunc(shown, func(a, b event) int { return rank(a) - rank(b) })
	m := Message{ID: id, At: now, Subject: line("%s: %s", n.Name, summary(list))}
	for _, e := range shown[:min(maxLines, len(shown))] {
		m.Notices = append(m.Notices, e.line)
	}
	add := func(kind Kind, format string, args ...any) {
		m.Notices = append(m.Notices, Line{Kind: kind, Text: line(format, args...)})
	}
	if more := len(shown) - maxLines; more > 0 {
		add(Alarms, "%d more are not shown: `bursar alarm list`", more)
	}
	if opened+closed > 0 {
		add(Alarms, "Older than a day: %s still open, %d closed: `bursar alarm list`", number(opened, "alarm"), closed)
	}
	if lost > 0 {
		add(Alarms, "Before this, %s could not be delivered within a day and will not come: `bursar alarm list`",
			number(int(lost), "message"))
	}
	m.Text = textOf(m.Notices)
	return m
}

// rank sorts grave events first, then opened ones, waiting ones, the verdict, and closed ones.
func rank(e event) int {
	switch {
	case e.line.Grave:
		return 0
	case e.line.Kind == Alarms && e.line.State == "opened":
		return 1
	case e.line.State == "waiting":
		return 2
	case e.line.Kind == Solvency:
		return 3
	}
	return 4
}

// number counts things in words.
func number(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// summary is the subject of events: often all that is read of them at night.
func summary(list []event) string {
	urgent := ""
	if slices.ContainsFunc(list, func(e event) bool { return e.line.Grave }) {
		urgent = "URGENT: "
	}
	if len(list) == 1 && list[0].line.Kind == Alarms {
		e := list[0].line
		onChain := ""
		if e.Chain != "" {
			onChain = " on " + e.Chain
		}
		return fmt.Sprintf("%salarm %s %s%s", urgent, e.Alarm, e.State, onChain)
	}
	var parts []string
	for _, p := range []struct {
		state, says string
		counted     bool
	}{
		{"insolvent", "NOT SOLVENT", false},
		{"opened", "alarm", true},
		{"closed", "alarm", true},
		{"waiting", "", false},
		{"solvent", "solvent", false},
	} {
		matching := slices.DeleteFunc(slices.Clone(list), func(e event) bool { return e.line.State != p.state })
		switch {
		case len(matching) == 0:
		case p.counted:
			parts = append(parts, fmt.Sprintf("%s %s (%s)", number(len(matching), p.says), p.state, kindsOf(matching)))
		case p.state == "waiting":
			parts = append(parts, waits(matching)...)
		default:
			parts = append(parts, p.says)
		}
	}
	return urgent + strings.Join(parts, ", ")
}

// waits names what waits, once.
func waits(list []event) (parts []string) {
	for _, p := range []struct {
		kind Kind
		says string
	}{{Approvals, "approvals wait"}, {Withdrawals, "payments wait"}} {
		if slices.ContainsFunc(list, func(e event) bool { return e.line.Kind == p.kind }) {
			parts = append(parts, p.says)
		}
	}
	return parts
}

// maxKinds is how many kinds of alarm a subject names.
const maxKinds = 3

// kindsOf names the kinds of alarms, the grave ones first.
func kindsOf(list []event) string {
	slices.SortStableFunc(list, func(a, b event) int { return rank(a) - rank(b) })
	var kinds []string
	for _, e := range list {
		if !slices.Contains(kinds, e.line.Alarm) {
			kinds = append(kinds, e.line.Alarm)
		}
	}
	if len(kinds) > maxKinds {
		kinds = append(kinds[:maxKinds], "…")
	}
	return strings.Join(kinds, ", ")
}

// note records that a receiver was notified of events, in its row and in the list of alarms.
func note(row *store.NoticeReceiver, list []event) (alarms []store.UnnoticedAlarm) {
	for _, e := range list {
		switch {
		case e.queue != "":
			row.Waiting[e.queue] = e.newest
		case !e.solvency.IsZero():
			row.SolvencyAt = e.solvency
		default:
			alarms = append(alarms, e.alarm)
		}
	}
	return alarms
}

// backoff is the pause before a message is sent again after so many failed attempts in a row.
func backoff(attempts int64) time.Duration {
	return min(firstPause<<min(max(attempts-1, 0), 10), longPause)
}
