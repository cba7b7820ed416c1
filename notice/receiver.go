package notice

import (
	"slices"
	"time"
)

// Receiver is a configured receiver of notices.
type Receiver struct {
	Name      string // unique, and never changed: what the receiver was notified of is recorded under it
	Transport Transport
	Kinds     []Kind         // what it wants
	Alarms    []string       // the kinds of alarm that it wants, if it wants alarms; nil: all
	Quiet     *Quiet         // nil: no quiet hours
	Location  *time.Location // of its hours
}

// wants reports whether a receiver wants a kind.
func (r Receiver) wants(k Kind) bool { return slices.Contains(r.Kinds, k) }

// Quiet are hours of each day, as minutes since midnight; the end may be on the next day. Only what is grave is sent
// in them.
type Quiet struct{ From, To int }

// has reports whether a time of day is within the hours. The minute at the end is not.
func (q *Quiet) has(t time.Time) bool {
	if q == nil {
		return false
	}
	minute := t.Hour()*60 + t.Minute()
	if q.From <= q.To {
		return q.From <= minute && minute < q.To
	}
	return minute >= q.From || minute < q.To
}

// isQuiet reports whether it is a quiet hour for a receiver.
func (r Receiver) isQuiet(now time.Time) bool { return r.Quiet.has(now.In(r.location())) }

func (r Receiver) location() *time.Location {
	if r.Location == nil {
		return time.UTC
	}
	return r.Location
}

// last returns the newest moment at a minute of the day that is not after now. If the clock skips that minute, as at
// the start of summer time, it is the moment at which the minute would have been.
func (r Receiver) last(now time.Time, minute int) time.Time {
	local := now.In(r.location())
	at := func(day int) time.Time {
		return time.Date(local.Year(), local.Month(), day, minute/60, minute%60, 0, 0, local.Location())
	}
	if today := at(local.Day()); !today.After(now) {
		return today
	}
	return at(local.Day() - 1)
}
