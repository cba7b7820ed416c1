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
	soon     time.Time // its end while no other endpoint is up
	probeAt  time.Time // not before
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

// probed reports whether an endpoint that is not up is for probes to bring back.
func (p *pool) probed(s *standing) bool {
	return s.state == StateAside && s.last.unreached && p.cfg.Check != nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// parkedFault is the last fault told as a thing of the past: nothing was sent this time.
func (p *pool) parkedFault(e *endpoint, now time.Time) *fault {
	wait := max(p.end(e, now).Sub(now).Round(time.Millisecond), time.Millisecond)
	last := e.standing.last
	return &fault{text: fmt.Sprintf("put aside for %v more: %s", wait, last.text), wrong: last.wrong}
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

	Provider  string        // the name of its Profile, if it has one
	Quota     Quota         // what always counts, by settings and profile; 0 is no limit
	QuotaUsed int           // percent of the day's quota that is used up and has not refilled
	MaxBatch  int           // calls that it takes in one batch, as far as is known; 1: none
	BatchWhy  string        // why no more, if it refused a batch
	Methods   []MethodStats // what is known of the methods that not every endpoint offers, by name
	Fetching  int           // items that Fetch asks for at once
}

// MethodStats is what is known of one method of CallOptional.
type MethodStats struct {
	Method  string
	Offered bool
	Reason  string // why not, in the endpoint's words
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

// note records the height that an endpoint reported. Going backwards is fine: only hashes tell a reorganisation.
func (p *pool) note(e *endpoint, height uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.standing.height, e.standing.reported = height, true
}

// lag is the fault of an endpoint that is further than Config.MaxLag behind the best endpoint that is up, or nil. Only
// what is up counts: anyone who reports a height that it cannot serve fails, and then measures nobody any more.
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
