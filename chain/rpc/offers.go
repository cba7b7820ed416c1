package rpc

import "time"

const (
	// offerMemory is how long the client remembers that an endpoint does not offer a method.
	offerMemory = 10 * time.Minute
	// mostStrikes is the number of faults in a row after which a method counts as not offered.
	mostStrikes = 3
)

// offer is what is known about one method of an endpoint.
type offer struct {
	offered bool
	reason  string // why not
	at      time.Time
	epoch   uint64 // of the endpoint: after a cool-down it may be another node
	strikes int    // faults in a row; kept across epochs, because the method may be what crashes the node
}

// current reports whether the knowledge is still valid.
func (o offer) current(s *endpointState, now time.Time) bool {
	switch {
	case o.at.IsZero():
		return false
	case o.strikes >= mostStrikes:
		return now.Sub(o.at) < offerMemory
	}
	return o.epoch == s.epoch && (o.offered || now.Sub(o.at) < offerMemory)
}

// offer returns what is known about a method of an endpoint.
func (p *pool) offer(e *endpoint, method string) (offer, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o, known := e.standing.offers[method]
	return o, known && o.current(&e.standing, p.cfg.Now())
}

// learn records what an answer said about a method. It resets the strikes.
func (p *pool) learn(at place, method string, o offer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &at.endpoint.standing
	if s.epoch != at.epoch {
		return
	}
	o.at, o.epoch = p.cfg.Now(), at.epoch
	if s.offers == nil {
		s.offers = map[string]offer{}
	}
	s.offers[method] = o
}

// strike counts a fault of a method. After the third in a row within offerMemory the method counts as not offered.
func (p *pool) strike(at place, method, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, now := &at.endpoint.standing, p.cfg.Now()
	o := s.offers[method]
	if o.strikes >= mostStrikes || now.Sub(o.at) >= offerMemory {
		o = offer{}
	}
	strikes := o.strikes + 1
	if s.offers == nil {
		s.offers = map[string]offer{}
	}
	o = offer{offered: strikes < mostStrikes, strikes: strikes, at: now, epoch: s.epoch}
	if !o.offered {
		o.reason = "failed three times in a row, the last time: " + reason
	}
	s.offers[method] = o
}
