package rpc

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// State is the standing of an endpoint.
type State string

// The states. An endpoint that is not up is checked before it is used again.
const (
	StateUntried     State = "untried"
	StateUp          State = "up"
	StateCoolingDown State = "aside"       // failed; comes back when its cool-down is over
	StateLagging     State = "lagging"     // as StateCoolingDown, but used as a last resort
	StateWrongChain  State = "wrong chain" // as StateCoolingDown, with the longest cool-down
)

// endpointState is what the pool knows about an endpoint.
type endpointState struct {
	state    State
	epoch    uint64 // raised by each cool-down: a call that started before one must not change the standing after it
	verified time.Time
	until    time.Time // end of the cool-down
	soon     time.Time // its end while no other endpoint is up
	probeAt  time.Time // not before
	pause    time.Duration
	strikes  int  // cool-downs in a row
	missed   bool // went into a cool-down, and has not answered since
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

// alone reports whether no other endpoint is in use.
func (p *pool) alone(e *endpoint) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.nothingBut(e)
}

func (p *pool) nothingBut(e *endpoint) bool {
	for _, other := range p.endpoints {
		if other != e && (other.standing.state == StateUp || other.standing.state == StateUntried) {
			return false
		}
	}
	return true
}

// paused reports whether an endpoint is in its cool-down. The only one that could serve is tried again sooner; one that
// could not be reached stays in it, while others serve, until a probe has reached it.
func (p *pool) paused(e *endpoint, now time.Time) bool {
	s := &e.standing
	return s.state != StateUp && s.state != StateUntried && now.Before(p.end(e, now))
}

// end is the end of an endpoint's cool-down.
func (p *pool) end(e *endpoint, now time.Time) time.Time {
	s := &e.standing
	switch {
	case p.nothingBut(e):
		return s.soon
	case p.probed(s):
		return later(s.until, now.Add(probeEvery))
	}
	return s.until
}

// probed reports whether an endpoint that is not up must be brought back by probes.
func (p *pool) probed(s *endpointState) bool {
	return s.state == StateCoolingDown && s.last.unreached && p.cfg.Check != nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// coolDownFault returns the last fault as the reason of the cool-down: nothing was sent this time.
func (p *pool) coolDownFault(e *endpoint, now time.Time) *fault {
	wait := max(p.end(e, now).Sub(now).Round(time.Millisecond), time.Millisecond)
	last := e.standing.last
	return &fault{text: fmt.Sprintf("in a cool-down for %v more: %s", wait, last.text), wrong: last.wrong}
}

// EndpointStats is the state of one endpoint, for metrics and for the operator. It contains no credential.
type EndpointStats struct {
	Name        string // scheme and host
	State       State
	Calls       uint64 // questions sent to it; a batch is one
	Faults      uint64 // missing or invalid answers, failed checks, lags
	LastFault   string // the reason of its last cool-down; empty: never
	LastFaultAt time.Time
	Height      uint64    // as last reported; 0: never
	PausedTill  time.Time // end of the cool-down; zero: none

	Provider  string        // the name of its Profile, if it has one
	Quota     Quota         // what always applies, by settings and profile; 0: no limit
	QuotaUsed int           // percent of the day's quota that is used up and has not refilled
	MaxBatch  int           // calls that it accepts in one batch, as far as is known; 1: no batches
	BatchWhy  string        // why not more, if it refused a batch
	Methods   []MethodStats // what is known about the methods that not every endpoint offers, by name
	Fetching  int           // items that Fetch requests at once
}

// MethodStats is what is known about one method of CallOptional.
type MethodStats struct {
	Method  string
	Offered bool
	Reason  string // why not, as the endpoint says
	Learnt  time.Time
}

func (p *pool) stats() []EndpointStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]EndpointStats, len(p.endpoints))
	for i, e := range p.endpoints {
		all[i] = p.statsOf(e)
	}
	return all
}

func (p *pool) statsOf(e *endpoint) EndpointStats {
	s, now := &e.standing, p.cfg.Now()
	stats := EndpointStats{
		Name:        e.name,
		State:       s.state,
		Calls:       s.calls,
		Faults:      s.faults,
		LastFaultAt: s.lastAt,
		Height:      s.height,
		Provider:    e.provider,
		Quota:       e.quota,
		QuotaUsed:   e.limiter.used(now),
		Fetching:    e.flow.now(),
	}
	if s.last != nil {
		stats.LastFault = s.last.text
	}
	if s.state != StateUp && s.state != StateUntried {
		stats.PausedTill = p.end(e, now)
	}
	stats.MaxBatch, stats.BatchWhy = p.batchOf(e)
	for _, method := range slices.Sorted(maps.Keys(s.offers)) {
		if o := s.offers[method]; o.current(s, now) {
			stats.Methods = append(stats.Methods, MethodStats{method, o.offered, o.reason, o.at})
		}
	}
	return stats
}

// note records the height that an endpoint reported. A lower height than before is accepted: only hashes prove a
// reorg.
func (p *pool) note(e *endpoint, height uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.standing.height, e.standing.reported = height, true
}

// lag returns the fault of an endpoint that is further than Config.MaxLag behind the best endpoint that is up, or nil.
// Only endpoints that are up count: one that reports a height that it cannot serve fails, and is then no measure for
// others.
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
