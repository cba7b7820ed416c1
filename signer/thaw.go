package signer

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/bursar/bursar/signer/memory"
)

// thaw is what this process knows of a thaw that waits.
type thaw struct {
	mu    sync.Mutex
	waits memory.WaitingThaw
	seen  time.Time // when this process saw it first
	fresh bool      // this process had looked before, when it did not wait yet

	looked bool // this process looked at all
}

// ThawWaits returns the thaw that waits, as ThawDue saw it last; its At is zero: none does.
func (s *Signer) ThawWaits() memory.WaitingThaw {
	s.thaw.mu.Lock()
	defer s.thaw.mu.Unlock()
	return s.thaw.waits
}

// ThawsAt returns when the thaw begins that waits; zero: none does.
func (s *Signer) ThawsAt() time.Time { return s.ThawWaits().At }

// ThawDue carries out the thaw that people signed, once its time has come, and returns how many freezes that ended.
// Call it every few seconds. It uses the state only while the signer is frozen or a thaw was seen to wait.
//
// The attack: the clock of the machine is set forward, as by a time server in other hands, and an hour is over at once.
// A process that has seen the thaw counts the hour by itself. One that was there before people signed it counts all of
// the hour, so that nothing is gained by a clock that is set back while the thaw is applied, and right at the next
// look.
func (s *Signer) ThawDue(ctx context.Context, now time.Time) (ended int, err error) {
	file, is := s.judge.keeper.(*memory.File)
	if !is {
		return 0, nil
	}
	_, frozen, err := file.Gate().Frozen()
	if err != nil {
		return 0, err
	}
	var done memory.Thawed
	if frozen || !s.ThawsAt().IsZero() { // that its marker is gone ends a thaw too
		w, _, err := memory.Waiting(ctx, file)
		if err == nil {
			s.thaw.see(w, now)
			done, err = memory.ThawDue(ctx, file, s.bySteady(now))
		}
		if err != nil {
			return 0, fmt.Errorf("look at the thaw that waits: %w", err)
		}
	}
	s.thaw.see(done.Waits, now)
	return done.Ended, nil
}

// see notes which thaw waits; its At is zero: none does.
func (t *thaw) see(w memory.WaitingThaw, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waits != w {
		t.waits, t.seen, t.fresh = w, now, t.looked
	}
	t.looked = true
}

// bySteady returns the time, as steady does once a thaw that waits was seen.
func (s *Signer) bySteady(now time.Time) time.Time {
	s.thaw.mu.Lock()
	defer s.thaw.mu.Unlock()
	if s.thaw.waits.At.IsZero() {
		return now
	}
	since := s.thaw.seen
	if s.thaw.fresh {
		since = s.thaw.waits.Since // it was taken since the look before
	}
	return steady(since, now, now.Sub(s.thaw.seen)) // by what the process counts, where now has it
}

// steady returns the time, but no more after another time than was counted since.
func steady(since, now time.Time, counted time.Duration) time.Time {
	now = now.Round(0)
	if latest := since.Round(0).Add(counted); latest.Before(now) {
		return latest
	}
	return now
}

// staysFrozen reports whether the signer is frozen and no thaw waits: then it need not freeze itself for what it sees.
// While a thaw waits, each new reason to freeze ends it.
func (s *Signer) staysFrozen(ctx context.Context) (bool, error) {
	_, frozen, err := s.judge.keeper.Gate().Frozen()
	if !frozen || err != nil {
		return false, err
	}
	_, waits, err := memory.Waiting(ctx, s.judge.keeper)
	return !waits, err
}
