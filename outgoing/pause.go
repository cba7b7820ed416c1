package outgoing

import (
	"maps"
	"time"

	"github.com/bursar/bursar"
)

// How soon a transaction that a limit of the signer held back twice is built again, and how late at most. A window of
// the signer may be a week; each attempt asks the nodes for fees and balances.
const (
	firstPause   = 2 * time.Second
	longestPause = 5 * time.Minute
)

// pause is how long a transaction is not built again, and why.
type pause struct {
	until  time.Time
	length time.Duration
	cause  error
}

// pauseAfterRefusal lets a transaction wait twice as long as the last time, from its second refusal on: the first may
// be by a window that is about to pass.
func (s *Sender) pauseAfterRefusal(id bursar.ID, cause error) {
	now := s.DB.Now()
	length := time.Duration(0)
	if before, again := s.memory.pauses[id]; again {
		length = max(firstPause, min(2*before.length, longestPause))
	}
	// ended otherwise
	maps.DeleteFunc(s.memory.pauses, func(_ bursar.ID, p pause) bool { return now.Sub(p.until) > longestPause })
	s.memory.pauses[id] = pause{now.Add(length), length, cause}
}
