package bursartest

import (
	"time"

	"github.com/bursar/bursar/bursartest/clocktest"
)

// Clock is the clock of a harness.
type Clock = clocktest.Clock

// NewClock returns a clock whose time is after every block of a new chain of package sim.
func NewClock() *Clock { return clocktest.New() }

// NewClockAt returns a clock that shows a time.
func NewClockAt(at time.Time) *Clock { return clocktest.At(at) }
