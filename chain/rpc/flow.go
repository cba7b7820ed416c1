package rpc

import (
	"math"
	"sync"
	"time"
)

const (
	// firstFetchers is how many items are requested at once while nothing is known about an endpoint.
	firstFetchers = 4
	// mostFetchers bounds Config.Fetchers if that is automatic: as many as hide a second of latency on any chain.
	mostFetchers = 32
	// mostWindow is Config.Window if that is automatic.
	mostWindow = 64
)

// flow adapts how many items are requested from one endpoint at a time. While the latency does not rise, more at a
// time are faster: the number doubles with every round, and later grows by its square root. Where the latency rises
// with the number, the endpoint – or this machine – is saturated, and the number shrinks in proportion.
type flow struct {
	mu       sync.Mutex
	limit    float64
	running  int
	steady   bool // the number was once too large: no more doubling
	used     bool // the limit was reached in this round
	round    int  // items done in this round
	sum      time.Duration
	latency  time.Duration // mean of the last round
	fastest  time.Duration // lowest mean of a round; grows slowly, so that old values fade
	measured bool
}

// enter counts an item that is requested.
func (f *flow) enter() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running++
	f.used = f.used || f.running >= f.most()
}

func (f *flow) most() int { return max(int(f.limit), 1) }

// leave counts an item that is done and adapts the limit at the end of a round.
func (f *flow) leave(took time.Duration, bound int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running--
	f.round++
	f.sum += took
	if f.round < f.most() {
		return
	}
	f.latency = max(f.sum/time.Duration(f.round), time.Microsecond)
	if f.fastest == 0 || f.latency < f.fastest {
		f.fastest = f.latency
	}
	f.adapt(bound)
	f.fastest += f.fastest / 64
	f.round, f.sum, f.used, f.measured = 0, 0, f.running >= f.most(), true
}

// abort counts an item that failed and halves the limit: the endpoint may be overloaded.
func (f *flow) abort() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running--
	f.limit, f.steady = max(1, f.limit/2), true
}

// withdraw counts an item that is not wanted any more.
func (f *flow) withdraw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running--
}

// adapt sets the limit by comparing the latency of the round with the best.
func (f *flow) adapt(bound int) {
	gradient := min(1, max(0.5, 1.25*float64(f.fastest)/float64(f.latency)))
	if gradient < 0.9 {
		f.steady = true
	}
	switch {
	case !f.used:
		return
	case !f.steady:
		f.limit *= 2
	default:
		f.limit = f.limit*gradient + math.Sqrt(f.limit)
	}
	f.limit = min(f.limit, float64(bound))
}

// hasCapacity reports whether one more item may be requested.
func (f *flow) hasCapacity(c *Client) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.limit == 0 {
		f.limit = firstFetchers
	}
	return f.running < min(f.most(), c.mostFetchers())
}

// now returns how many items may be requested at once.
func (f *flow) now() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.most()
}

// expected returns how long one more item takes.
func (f *flow) expected() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.latency
}

// backlog returns how long the running items and so many more take.
func (f *flow) backlog(items int) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	rounds := (f.running + items + f.most() - 1) / f.most()
	return f.latency*time.Duration(rounds) + 1 // 1 ns, so that an endpoint about which nothing is known is tried
}

// mostFetchers returns the bound of the items that are requested from one endpoint at once.
func (c *Client) mostFetchers() int {
	most := mostFetchers
	if c.cfg.Fetchers > 0 {
		most = c.cfg.Fetchers
	}
	return min(most, c.cfg.MaxConns)
}

// Window returns how many blocks one read should request now: limit, bounded by Config.Window and by how many answers
// of the size of the last ones fit into Config.MaxHeld. It is at least 1.
func (c *Client) Window(limit int) int {
	most := mostWindow
	if c.cfg.Window > 0 {
		most = c.cfg.Window
	}
	return max(1, min(limit, most, c.sizes.within(c.cfg.MaxHeld)))
}

// sizes tracks how large the answers to one item are: the largest of the last ones counts, and fades slowly.
type sizes struct {
	mu   sync.Mutex
	size int64
}

func (s *sizes) note(size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size = max(size, s.size-s.size/16)
}

// within returns how many items fit into so many bytes, at least one.
func (s *sizes) within(bytes int64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size == 0 {
		return math.MaxInt
	}
	return int(max(1, bytes/s.size))
}

// others returns the endpoints besides one that are up, in an epoch, and have reported at least a height.
func (p *pool) others(own *endpoint, height uint64) []place {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []place
	for _, e := range p.endpoints {
		if s := &e.standing; e != own && s.state == StateUp && s.reported && s.height >= height {
			list = append(list, place{endpoint: e, epoch: s.epoch})
		}
	}
	return list
}
