package notice

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar/store"
)

// ready returns those of the events that are to be sent now, in one message: none while all may wait for others, and in
// quiet hours only what is grave.
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

// isSoon reports whether the last message to a receiver is too new for another one. A clock that went back holds up
// nothing.
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
		add(Alarms, "%d more: `bursar alarm list`", more)
	}
	if opened+closed > 0 {
		add(Alarms, "more than a day ago %d alarms opened that are open, and %d closed: `bursar alarm list`", opened, closed)
	}
	if lost > 0 {
		add(Alarms, "%d messages before this one were not taken for a day each, and given up: `bursar alarm list`", lost)
	}
	m.Text = textOf(m.Notices)
	return m
}

// rank puts what is grave first, then what opened, what waits, the verdict, and what closed.
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

// summary is the subject of events.
func summary(list []event) string {
	if len(list) == 1 {
		e := list[0].line
		switch {
		case e.Kind == Alarms && e.Chain != "":
			return fmt.Sprintf("alarm %s %s on %s", e.Alarm, e.State, e.Chain)
		case e.Kind == Alarms:
			return fmt.Sprintf("alarm %s %s", e.Alarm, e.State)
		}
		return e.State
	}
	counts := map[string]int{}
	for _, e := range list {
		counts[e.line.State]++
	}
	var parts []string
	for _, p := range []struct{ state, one, many string }{
		{"insolvent", "insolvent", ""},
		{"opened", "1 alarm opened", "%d alarms opened"},
		{"closed", "1 alarm closed", "%d alarms closed"},
		{"waiting", "payments wait", "payments wait"},
		{"solvent", "solvent", ""},
	} {
		switch c := counts[p.state]; {
		case c == 1:
			parts = append(parts, p.one)
		case c > 1:
			parts = append(parts, strings.ReplaceAll(p.many, "%d", fmt.Sprint(c)))
		}
	}
	return strings.Join(parts, ", ")
}

// note records that a receiver knows of events, in its row and in the list of alarms.
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

// backoff is how long a message that was not taken rests after so many attempts in a row.
func backoff(attempts int64) time.Duration {
	return min(firstPause<<min(max(attempts-1, 0), 10), longPause)
}
