package patroni

import (
	"io"
	"net"
	"sync"
)

// proxy forwards connections, and can stop forwarding while they stay open, like a network that drops every packet.
type proxy struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	held  chan struct{} // closed while nothing is forwarded
	conns map[net.Conn]bool
}

func newProxy(to string) (*proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: listener, to: to, held: make(chan struct{}), conns: map[net.Conn]bool{}}
	go p.accept()
	return p, nil
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		from, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.serve(from)
	}
}

func (p *proxy) serve(from net.Conn) {
	to, err := net.DialTimeout("tcp", p.to, grace)
	if err != nil {
		_ = from.Close()
		return
	}
	p.mu.Lock()
	p.conns[from], p.conns[to] = true, true
	p.mu.Unlock()
	var group sync.WaitGroup
	group.Go(func() { p.pass(from, to) })
	group.Go(func() { p.pass(to, from) })
	group.Wait()
	p.mu.Lock()
	delete(p.conns, from)
	delete(p.conns, to)
	p.mu.Unlock()
}

// pass copies until either side closes; bytes that arrive while it is held are never forwarded.
func (p *proxy) pass(from, to net.Conn) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		held := p.held
		p.mu.Unlock()
		select {
		case <-held:
			_, _ = io.Copy(io.Discard, from) // until the connection is dropped
			return
		default:
		}
		if _, failed := to.Write(buffer[:n]); err != nil || failed != nil {
			return
		}
	}
}

// hold stops forwarding from now on.
func (p *proxy) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.held:
	default:
		close(p.held)
	}
}

// resume forwards new connections again.
func (p *proxy) resume() {
	p.drop()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = make(chan struct{})
}

// drop closes all connections.
func (p *proxy) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		_ = conn.Close()
	}
}

func (p *proxy) close() {
	_ = p.listener.Close()
	p.drop()
}
