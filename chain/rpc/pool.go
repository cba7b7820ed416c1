package rpc

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// pool manages the standing of all endpoints of a client.
type pool struct {
	cfg       Config
	endpoints []*endpoint

	mu sync.Mutex // guards every endpoint's standing
}

func newPool(cfg Config, endpoints []*endpoint) *pool { return &pool{cfg: cfg, endpoints: endpoints} }

// candidates lists the endpoints to try: in configured order those that are up or whose cool-down is over, then those
// that are being checked by another caller, then the lagging ones as a last resort. coolingDown are the faults of the
// others.
func (p *pool) candidates() (usable []*endpoint, coolingDown []endpointFault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.cfg.Now()
	var busy, lagging []*endpoint
	for _, e := range p.endpoints {
		switch s := &e.standing; {
		case !p.paused(e, now) && s.state != StateUp && len(e.gate) > 0:
			busy = append(busy, e)
		case !p.paused(e, now):
			usable = append(usable, e)
		case s.state == StateLagging:
			lagging = append(lagging, e)
		default:
			coolingDown = append(coolingDown, endpointFault{e.name, p.coolDownFault(e, now)})
		}
	}
	return append(append(usable, busy...), lagging...), coolingDown
}

// checkedSince reports whether the endpoint may be used because it passed its check since a time, and its epoch.
func (p *pool) checkedSince(e *endpoint, since time.Time) (uint64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &e.standing
	if s.state != StateUp && !p.paused(e, p.cfg.Now()) {
		return s.epoch, false // untried, or its cool-down is over
	}
	return s.epoch, !s.verified.IsZero() && !s.verified.Before(since)
}

func (p *pool) epoch(e *endpoint) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return e.standing.epoch
}

// coolingDown returns the fault of an endpoint that may not be used now, even as a last resort.
func (p *pool) coolingDown(e *endpoint) *fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := p.cfg.Now(); p.paused(e, now) && e.standing.state != StateLagging {
		return p.coolDownFault(e, now)
	}
	return nil
}

// count counts a question to the endpoint. The first answer after a cool-down is logged.
func (p *pool) count(e *endpoint, answered bool) {
	p.mu.Lock()
	s := &e.standing
	s.calls++
	back := answered && s.missed && s.state == StateUp
	if back {
		s.missed = false
	}
	p.mu.Unlock()
	if back {
		p.cfg.Log.Info("node endpoint is back", slog.String("endpoint", e.name))
	}
}

// passed records that the endpoint passed its check in an epoch, and brings it back if its cool-down is over.
func (p *pool) passed(e *endpoint, epoch uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, now := &e.standing, p.cfg.Now()
	if s.epoch == epoch {
		s.verified = now
		if s.state != StateUp && !p.paused(e, now) {
			s.state, s.upSince = StateUp, now
		}
	}
}

// blame puts the endpoint into a cool-down, unless that has already happened since the epoch: many calls that fail
// together are one failure.
func (p *pool) blame(e *endpoint, epoch uint64, f *fault) {
	p.mu.Lock()
	s, now := &e.standing, p.cfg.Now()
	s.faults++
	stale := s.epoch != epoch
	if !stale {
		p.coolDown(s, f, now)
	}
	state, pause, strikes := s.state, p.end(e, now).Sub(now), s.strikes
	p.mu.Unlock()
	if f.limited || f.status == http.StatusServiceUnavailable {
		e.limiter.pace(now)
	}
	if !stale {
		level := slog.LevelWarn
		switch {
		case strikes&(strikes-1) != 0:
			level = slog.LevelDebug // logged as a warning the 1st, 2nd, 4th, 8th time in a row
		case state == StateWrongChain:
			level = slog.LevelError
		}
		p.cfg.Log.Log(context.Background(), level, "node endpoint enters a cool-down", slog.String("endpoint", e.name),
			slog.String("state", string(state)), slog.Duration("pause", pause), slog.String("error", f.text))
	}
}

func (p *pool) coolDown(s *endpointState, f *fault, now time.Time) {
	if s.state == StateUp && now.Sub(s.upSince) >= s.pause {
		s.strikes = 0 // it has been up for longer than its last cool-down
	}
	s.epoch++
	s.strikes++
	s.missed = true
	s.last, s.lastAt = f, now
	s.verified = time.Time{}
	s.pause = p.pauseFor(f, s.strikes)
	s.until = now.Add(s.pause)
	s.soon = now.Add(p.soonFor(f, s.pause))
	switch {
	case f.wrong != nil:
		s.state = StateWrongChain
	case f.lag:
		s.state = StateLagging
	default:
		s.state = StateCoolingDown
	}
}

// pauseFor returns the cool-down after a fault. It doubles with every strike; the result is random between half of
// that and all of it, so that many clients do not come back at once. A Retry-After lengthens it.
func (p *pool) pauseFor(f *fault, strikes int) time.Duration {
	full := min(p.cfg.MinPause<<min(strikes-1, 20), p.cfg.MaxPause)
	if f.wrong != nil {
		full = p.cfg.MaxPause
	}
	pause := full/2 + p.jitter(full/2)
	if f.retryAfter > 0 {
		pause = max(pause, f.retryAfter+p.jitter(f.retryAfter/8))
	}
	return pause
}

const (
	// patience and patienceUnreached bound the cool-down while no other endpoint is up: a try costs one call, or a dial.
	patience          = 2 * time.Second
	patienceUnreached = 500 * time.Millisecond
)

// soonFor returns the cool-down while no other endpoint is up. A Retry-After is obeyed in any case.
func (p *pool) soonFor(f *fault, pause time.Duration) time.Duration {
	bound := patience
	if f.unreached {
		bound = patienceUnreached
	}
	return max(min(pause, bound), min(pause, f.retryAfter+f.retryAfter/8))
}

func (p *pool) jitter(limit time.Duration) time.Duration {
	return time.Duration(p.cfg.Rand(int64(limit) + 1))
}
