package signer

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/bursar/bursar/signer/memory"
)

// thaw is what this process knows of the thaw that waits.
type thaw struct {
	mu    sync.Mutex
	waits memory.WaitingThaw // as of the last look; its At is zero if none waits
	// firstSeen is when a look of this process first found the thaw. It has a monotonic clock reading, where the caller's
	// time has one: what has passed since then does not depend on the clock of the machine.
	firstSeen time.Time
	// whileRunning says that an earlier look of this process did not find the thaw: people's thaw was applied while the
	// process ran, not before it started.
	whileRunning bool

	looked bool // this process has looked at least once
}

// ThawWaits returns the thaw that waits, as ThawDue saw it last; its At is zero if none waits.
func (s *Signer) ThawWaits() memory.WaitingThaw {
	s.thaw.mu.Lock()
	defer s.thaw.mu.Unlock()
	return s.thaw.waits
}

// ThawsAt returns when the thaw that waits begins; zero if none waits.
func (s *Signer) ThawsAt() time.Time { return s.ThawWaits().At }

// ThawDue carries out the thaw that people signed, once its time has come, and returns how many freezes that ended.
// Call it every few seconds. It uses the state only while the signer is frozen or a thaw was seen to wait.
//
// The attack: the clock of the machine is set forward, for example by a time server that somebody else controls, and
// the hour of the wait seems to be over at once. A process that has seen the thaw therefore measures the wait itself.
// One that ran before people's thaw was applied measures all of the hour: nothing is gained by a clock that is set back
// while the thaw is applied, and is right again at the next look.
func (s *Signer) ThawDue(ctx context.Context, now time.Time) (ended int, err error) {
	file, is := s.evaluator.keeper.(*memory.File)
	if !is {
		return 0, nil
	}
	_, frozen, err := file.Gate().Frozen()
	if err != nil {
		return 0, err
	}
	var done memory.Thawed
	if frozen || !s.ThawsAt().IsZero() { // a thaw whose marker file is gone has ended, too
		w, _, err := memory.Waiting(ctx, file)
		if err == nil {
			s.thaw.see(w, now)
			done, err = memory.ThawDue(ctx, file, s.monotonicTime(now))
		}
		if err != nil {
			return 0, fmt.Errorf("look at the thaw that waits: %w", err)
		}
	}
	s.thaw.see(done.Waits, now)
	return done.Ended, nil
}

// see notes which thaw waits; its At is zero if none waits.
func (t *thaw) see(w memory.WaitingThaw, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waits != w {
		t.waits, t.firstSeen, t.whileRunning = w, now, t.looked
	}
	t.looked = true
}

// monotonicTime returns the time by which the thaw that waits is evaluated: that of the clock, but never later than
// what this process has measured since the thaw was applied, or, if it started later, since it first saw the thaw.
func (s *Signer) monotonicTime(now time.Time) time.Time {
	s.thaw.mu.Lock()
	defer s.thaw.mu.Unlock()
	if s.thaw.waits.At.IsZero() {
		return now
	}
	start := s.thaw.firstSeen
	if s.thaw.whileRunning {
		start = s.thaw.waits.Since // between the look before and the one that saw it first
	}
	return atMost(start, now, now.Sub(s.thaw.firstSeen)) // Sub is monotonic where both times have such a reading
}

// atMost returns the time of the clock, but at most what was measured after a start.
func atMost(start, now time.Time, measured time.Duration) time.Time {
	now = now.Round(0) // the time of the clock alone
	if latest := start.Round(0).Add(measured); latest.Before(now) {
		return latest
	}
	return now
}

// staysFrozen reports whether the signer is frozen and no thaw waits: then it does not have to freeze itself for what
// it sees. While a thaw waits, each new reason to freeze ends the thaw.
func (s *Signer) staysFrozen(ctx context.Context) (bool, error) {
	_, frozen, err := s.evaluator.keeper.Gate().Frozen()
	if !frozen || err != nil {
		return false, err
	}
	_, waits, err := memory.Waiting(ctx, s.evaluator.keeper)
	return !waits, err
}
