package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/bursar/bursar/store"
)

// machine records the state of the clock and the disks.
func (e *healthCheck) machine(facts store.Facts, now time.Time) {
	e.clock(facts.Clock, now)
	places := []string{e.cfg.SeedFile}
	if facts.File != "" {
		places = append([]string{facts.File}, places...)
	}
	seen := map[string]bool{}
	for _, place := range places {
		folder, err := filepath.Abs(filepath.Dir(place))
		if err != nil || seen[folder] {
			continue
		}
		seen[folder] = true
		free, err := freeSpace(folder)
		e.disk(folder, free, err)
	}
}

// Allowed offset between the database's clock and this machine's. Replicas decide by the time which of them holds a
// chain's lease.
const (
	clockDrift = 2 * time.Second
	clockWrong = 30 * time.Second
)

// clock compares the time of the database's machine with the time here; checks of the nodes compare the chains' times.
func (e *healthCheck) clock(theirs, now time.Time) {
	const advice = "synchronise the clocks of this machine and of the database's machine by NTP"
	off := now.Sub(theirs).Abs().Round(10 * time.Millisecond)
	switch {
	case theirs.IsZero():
		e.note("clock", resultOK, "%s; the database is on this machine", moment(now))
	case off > clockWrong:
		e.advise("clock", resultFailed, advice, "%v off the database's clock", off)
	case off > clockDrift:
		e.advise("clock", resultWarning, advice, "%v off the database's clock", off)
	default:
		e.note("clock", resultOK, "%s, %v off the database's clock", moment(now), off)
	}
}

// How much room the service wants on a disk.
const (
	diskFull = 100 << 20
	diskLow  = 1 << 30
)

func (e *healthCheck) disk(folder string, free uint64, err error) {
	const advice = "make room: a database on a full disk takes no deposit, and blocks wait until there is some"
	check := "disk " + folder
	switch {
	case errors.Is(err, errNoFreeSpace):
		e.advise(check, resultWarning, "look at it yourself", "%v", err)
	case err != nil:
		e.advise(check, resultFailed, "see that the folder exists and may be read", "%v", err)
	case free < diskFull:
		e.advise(check, resultFailed, advice, "%s are free", size(free))
	case free < diskLow:
		e.advise(check, resultWarning, advice, "%s are free", size(free))
	default:
		e.note(check, resultOK, "%s are free", size(free))
	}
}

var errNoFreeSpace = errors.New("the free space cannot be read on this system")

// size writes a number of bytes for people.
func size(bytes uint64) string {
	for _, unit := range []struct {
		name  string
		bytes uint64
	}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if bytes >= unit.bytes {
			return fmt.Sprintf("%.1f %s", float64(bytes)/float64(unit.bytes), unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", bytes)
}
