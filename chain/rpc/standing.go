package rpc

import (
	"fmt"
	"time"
)

// State is the standing of an endpoint.
type State string

// The states. An endpoint that is not up is checked before it is used again.
const (
	StateUntried    State = "untried"
	StateUp         State = "up"
	StateAside      State = "aside"       // failed; comes back when its pause is over
	StateLagging    State = "lagging"     // as aside, but used when nothing better is left
	StateWrongChain State = "wrong chain" // as aside, with the longest pause
)

// standing is what the pool knows of an endpoint.
type standing struct {
	state    State
	epoch    uint64 // raised each time it is put aside: what began before must not change what came after
	verified time.Time
	until    time.Time // end of the pause
	pause    time.Duration
	strikes  int  // pauses in a row
	missed   bool // put aside, and has answered nothing since
	upSince  time.Time
	height   uint64
	reported bool // height was reported
	last     *fault
	lastAt   time.Time
	batch    batchLimit
	offers   map[string]offer // by method, for those that not every endpoint offers
	calls    uint64
	faults   uint64
}

func (s *standing) paused(now time.Time) bool {
	return s.state != StateUp && s.state != StateUntried && now.Before(s.until)
}

// parkedFault is the last fault told as a thing of the past: nothing was sent this time.
func (s *standing) parkedFault(now time.Time) *fault {
	wait := max(s.until.Sub(now).Round(time.Millisecond), time.Millisecond)
	return &fault{text: fmt.Sprintf("put aside for %v more: %s", wait, s.last.text), wrong: s.last.wrong}
}

// EndpointStats tells how one endpoint does, for metrics and for the operator. It holds no credential.
type EndpointStats struct {
	Name        string // scheme and host
	State       State
	Calls       uint64 // questions put to it, a batch being one
	Faults      uint64 // answers missing or unsound, failed checks, lags
	LastFault   string // why it was last put aside; empty: never
	LastFaultAt time.Time
	Height      uint64    // as last reported; 0: never
	PausedTill  time.Time // zero unless put aside
}

func (p *pool) stats() []EndpointStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]EndpointStats, len(p.endpoints))
	for i, e := range p.endpoints {
		s := &e.standing
		all[i] = EndpointStats{Name: e.name, State: s.state, Calls: s.calls, Faults: s.faults, LastFaultAt: s.lastAt, Height: s.height}
		if s.last != nil {
			all[i].LastFault = s.last.text
		}
		if s.state != StateUp && s.state != StateUntried {
			all[i].PausedTill = s.until
		}
	}
	return all
}

// note records the height that an endpoint reported. Going backwards is fine: only hashes tell a reorganisation.
func (p *pool) note(e *endpoint, height uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.standing.height, e.standing.reported = height, true
}

// lag is the fault of an endpoint that is further than Config.MaxLag behind the best endpoint that is up, or nil. Only
// what is up counts: whoever reports a height that it cannot serve fails, and then measures nobody any more.
func (p *pool) lag(e *endpoint) *fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	own, best := e.standing.height, uint64(0)
	if p.cfg.MaxLag == 0 || !e.standing.reported {
		return nil
	}
	for _, other := range p.endpoints {
		if s := &other.standing; s.state == StateUp && s.reported {
			best = max(best, s.height)
		}
	}
	if best <= own || best-own <= p.cfg.MaxLag {
		return nil
	}
	return &fault{text: fmt.Sprintf("lags: at block %d, another endpoint is at %d", own, best), lag: true}
}
