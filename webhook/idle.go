package webhook

import (
	"time"
)

func (p *conns) newest(key string) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.remove(key, len(p.idle[key])-1)
}

// remove takes a connection out of those that are idle; nil where there is none. The caller holds the lock.
func (p *conns) remove(key string, i int) *conn {
	list := p.idle[key]
	if i < 0 || i >= len(list) {
		return nil
	}
	c := list[i]
	copy(list[i:], list[i+1:])
	list[len(list)-1] = nil
	if p.idle[key] = list[:len(list)-1]; len(list) == 1 {
		delete(p.idle, key)
	}
	p.count--
	return c
}

// put keeps a connection for the next request. Where as many are kept as may be, another one is closed.
func (p *conns) put(c *conn) {
	surplus := p.keep(c)
	if surplus != nil {
		_ = surplus.Close()
	}
}

// keep is put, and returns what is to be closed.
func (p *conns) keep(c *conn) (surplus *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.raw == nil || len(p.idle[c.key]) >= p.limits.destination {
		return c
	}
	if p.count >= p.limits.sending {
		surplus = p.remove(p.longestIdle(), 0)
	}
	c.since = time.Now()
	p.idle[c.key], p.count = append(p.idle[c.key], c), p.count+1
	p.reapLater()
	return surplus
}

// longestIdle is the key of the connection that has been idle longest. The caller holds the lock.
func (p *conns) longestIdle() (longest string) {
	var since time.Time
	for key, list := range p.idle {
		if at := list[0].since; longest == "" || at.Before(since) {
			longest, since = key, at
		}
	}
	return longest
}

// reapLater has reap called while there are idle connections. The caller holds the lock.
func (p *conns) reapLater() {
	if p.timer == nil && p.count > 0 {
		p.timer = time.AfterFunc(keepIdle, p.reap)
	}
}

// reap closes the connections that have been idle for too long, and comes again while there are any.
func (p *conns) reap() {
	p.closeBefore(time.Now().Add(-keepIdle))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = nil
	p.reapLater()
}

func (p *conns) closeIdle() { p.closeBefore(time.Now()) }

// closeBefore closes what is idle since a time or longer. Nothing is closed under the lock: to close TLS sends a
// message.
func (p *conns) closeBefore(at time.Time) {
	for _, c := range p.takeBefore(at) {
		_ = c.Close()
	}
}

func (p *conns) takeBefore(at time.Time) (taken []*conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key := range p.idle {
		for len(p.idle[key]) > 0 && !p.idle[key][0].since.After(at) {
			taken = append(taken, p.remove(key, 0))
		}
	}
	return taken
}
