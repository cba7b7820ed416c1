package rpc

import (
	"context"
	"errors"
	"time"
)

const (
	// probeEvery is how often an endpoint that could not be reached is probed while another one serves.
	probeEvery = time.Second
	// probeTime bounds a probe: a dial, and what a check asks.
	probeTime = dialTime + 2*time.Second
)

// probe checks endpoints that could not be reached, so that one that returns is used within a second or so, and no
// caller waits for one that does not. It is the only goroutine that outlives a call: one probe at a time for each
// endpoint, for at most probeTime, and only while there are calls.
func (c *Client) probe() {
	if c.cfg.Check == nil {
		return
	}
	for _, at := range c.pool.unreached() {
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), probeTime)
			defer cancel()
			defer func() { <-at.gate }()
			if err := Guarded(func() error { return c.check(ctx, at.endpoint, at.epoch) }); err == nil {
				c.pool.returned(at)
			} else {
				c.pool.reached(at, err)
			}
		}()
	}
}

// unreached returns the endpoints whose probe is due, with their gates taken.
func (p *pool) unreached() []place {
	p.mu.Lock()
	defer p.mu.Unlock()
	var due []place
	now := p.cfg.Now()
	for _, e := range p.endpoints {
		s := &e.standing
		if !p.probed(s) || p.nothingBut(e) || now.Before(s.probeAt) || now.Before(s.lastAt.Add(probeEvery)) {
			continue
		}
		select {
		case e.gate <- struct{}{}:
			s.probeAt = now.Add(probeEvery)
			due = append(due, place{endpoint: e, epoch: s.epoch})
		default: // another caller is checking it
		}
	}
	return due
}

// reached records that an endpoint was reached and does not pass its check: its cool-down is an ordinary one from now
// on.
func (p *pool) reached(at place, err error) {
	var ft *fault
	if errors.As(err, &ft) && !ft.unreached {
		p.blame(at.endpoint, at.epoch, ft)
	}
}

// returned ends the cool-down of an endpoint that passed its check.
func (p *pool) returned(at place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := &at.endpoint.standing; s.epoch == at.epoch && s.state == StateCoolingDown {
		now := p.cfg.Now()
		s.state, s.verified, s.upSince = StateUp, now, now
	}
}
