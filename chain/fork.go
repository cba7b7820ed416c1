package chain

import (
	"fmt"
	"time"
)

// Fork is a change of a mainnet's rules that a node must know: an older node follows an abandoned branch, stops, or
// cannot show what is in blocks.
type Fork struct {
	Name   string
	Height uint64             // the first block under the new rules; 0: the fork is by Time
	Time   time.Time          // when it happens, or by when it certainly has; zero: not known
	Needs  map[string]Version // the oldest version that knows the fork, by Software.Name
	Source string
}

// active reports whether a fork has happened by a time or at a height, which may be 0 where it is not known. A node
// that has not reached the height long after the time is not at the tip of the chain that knows the fork.
func (f Fork) active(now time.Time, height uint64) bool {
	return f.Height > 0 && height >= f.Height || !f.Time.IsZero() && !now.Before(f.Time)
}

// when returns the fork's time or height as text.
func (f Fork) when() string {
	if f.Height > 0 {
		return fmt.Sprintf("at block %d, by %s", f.Height, f.Time.Format(time.DateOnly))
	}
	return "on " + f.Time.Format("2006-01-02 15:04 UTC")
}

// evaluate records that a program is too old for the fork.
func (f Fork) evaluate(r *Report, software Software, now time.Time, height uint64) {
	needs, known := f.Needs[software.Name]
	if !known || software.Version.Compare(needs) >= 0 {
		return
	}
	advice := fmt.Sprintf("run version %s or later", needs)
	if f.active(now, height) {
		r.Bad(CheckFork, advice, "%s %s is too old for %s: it may follow an abandoned branch or miss what is in blocks",
			software.Name, software.Version, f.Name)
		return
	}
	r.Warn(CheckFork, advice+" before then", "%s %s is too old for %s, which comes %s",
		software.Name, software.Version, f.Name, f.when())
}
