// Package pushtest announces blocks as nodes do, for tests and the sandbox: a ZeroMQ publisher, and WebSockets that
// send what a test sets.
//
// It owns the connections of its subscribers and knows nothing about a chain. A subscriber that does not read misses
// messages: a publisher never waits for one.
package pushtest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

const (
	maxWaiting = 1000 // messages for a slow subscriber, as libzmq's high-water mark
	maxTopics  = 100  // of one subscriber
	maxFrame   = 64 << 10
	writeTime  = 10 * time.Second
)

// Publisher is a ZeroMQ PUB socket: ZMTP 3.0 without security (rfc.zeromq.org/spec/23), as bitcoind and java-tron have
// one.
type Publisher struct {
	listener net.Listener
	ended    sync.WaitGroup

	mu          sync.Mutex
	subscribers map[*subscriber]bool
	closed      bool
}

// Publish opens a publisher at a loopback address, such as 127.0.0.1:0. ctx bounds only the opening.
func Publish(ctx context.Context, address string) (*Publisher, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	p := &Publisher{listener: listener, subscribers: map[*subscriber]bool{}}
	p.ended.Go(p.accept)
	return p, nil
}

// URL returns the address to subscribe at, tcp://127.0.0.1:port.
func (p *Publisher) URL() string { return "tcp://" + p.listener.Addr().String() }

// Send publishes a message to every subscriber of a prefix of its first part.
func (p *Publisher) Send(parts ...[]byte) {
	var wire []byte
	for i, part := range parts {
		wire = appendFrame(wire, i < len(parts)-1, part)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.subscribers {
		if !s.wants(parts[0]) {
			continue
		}
		select {
		case s.out <- wire:
		default:
		}
	}
}

// Subscribed returns how many subscribers a topic has.
func (p *Publisher) Subscribed(topic string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.subscribers {
		if s.wants([]byte(topic)) {
			n++
		}
	}
	return n
}

// Close ends every subscription and the publisher.
func (p *Publisher) Close() error {
	p.mu.Lock()
	p.closed = true
	err := p.listener.Close()
	for s := range p.subscribers {
		_ = s.conn.Close() // the connection is over either way
	}
	p.mu.Unlock()
	p.ended.Wait()
	return err
}

func (p *Publisher) accept() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.ended.Go(func() { p.serve(conn) })
	}
}

// serve serves one subscriber until it disconnects or violates the protocol.
func (p *Publisher) serve(conn net.Conn) {
	defer conn.Close()
	s := &subscriber{conn: conn, out: make(chan []byte, maxWaiting), owner: p}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.subscribers[s] = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.subscribers, s)
		close(s.out)
	}()
	if s.greet() != nil {
		return
	}
	p.ended.Go(s.write)
	for s.handle() == nil {
	}
}

// subscriber is one connection.
type subscriber struct {
	conn   net.Conn
	out    chan []byte
	owner  *Publisher
	topics [][]byte // guarded by the publisher's lock
}

// wants reports whether the subscriber has a topic that matches. The publisher must be locked.
func (s *subscriber) wants(topic []byte) bool {
	for _, prefix := range s.topics {
		if bytes.HasPrefix(topic, prefix) {
			return true
		}
	}
	return false
}

func (s *subscriber) write() {
	for wire := range s.out {
		_ = s.conn.SetWriteDeadline(time.Now().Add(writeTime))
		if _, err := s.conn.Write(wire); err != nil {
			_ = s.conn.Close()
			return
		}
	}
}

// greet exchanges greetings and READY.
func (s *subscriber) greet() error {
	greeting := make([]byte, 64)
	greeting[0], greeting[9], greeting[10] = 0xff, 0x7f, 3
	copy(greeting[12:], "NULL")
	ready := []byte("\x05READY\x0bSocket-Type\x00\x00\x00\x03PUB")
	_ = s.conn.SetDeadline(time.Now().Add(writeTime))
	if _, err := s.conn.Write(append(greeting, append([]byte{4, byte(len(ready))}, ready...)...)); err != nil {
		return err
	}
	var peer [64]byte
	if _, err := io.ReadFull(s.conn, peer[:]); err != nil {
		return err
	}
	if peer[0] != 0xff || peer[10] < 3 || string(bytes.TrimRight(peer[12:32], "\x00")) != "NULL" {
		return errors.New("the greeting is not of ZMTP 3 without security")
	}
	flags, body, err := s.read()
	if err == nil && (flags&4 == 0 || !bytes.HasPrefix(body, []byte("\x05READY"))) {
		err = errors.New("the subscriber did not send READY")
	}
	_ = s.conn.SetDeadline(time.Time{})
	return err
}

// handle handles one frame: a subscription or its end, as a message (ZMTP 3.0) or as a command (3.1), or a ping.
func (s *subscriber) handle() error {
	flags, body, err := s.read()
	if err != nil {
		return err
	}
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	subscribe, isCommand := bytes.CutPrefix(body, []byte("\x09SUBSCRIBE"))
	ping, isPing := bytes.CutPrefix(body, []byte("\x04PING"))
	switch {
	case flags&4 != 0 && isPing:
		pong := append([]byte("\x04PONG"), ping[min(2, len(ping)):]...)
		select {
		case s.out <- append([]byte{4, byte(len(pong))}, pong...):
		default:
		}
	case flags&4 != 0 && isCommand:
		return s.subscribe(subscribe)
	case flags&4 == 0 && len(body) > 0 && body[0] == 1:
		return s.subscribe(body[1:])
	case flags&4 == 0 && len(body) > 0 && body[0] == 0:
		s.topics = nil // a subscriber here has one topic, so the end of any is the end of all
	}
	return nil
}

func (s *subscriber) subscribe(topic []byte) error {
	if len(s.topics) >= maxTopics {
		return errors.New("too many topics")
	}
	s.topics = append(s.topics, bytes.Clone(topic))
	return nil
}

func (s *subscriber) read() (flags byte, body []byte, err error) {
	var head [9]byte
	if _, err := io.ReadFull(s.conn, head[:2]); err != nil {
		return 0, nil, err
	}
	size := uint64(head[1])
	if head[0]&2 != 0 {
		if _, err := io.ReadFull(s.conn, head[2:]); err != nil {
			return 0, nil, err
		}
		size = binary.BigEndian.Uint64(head[1:])
	}
	if size > maxFrame {
		return 0, nil, errors.New("a frame is too large")
	}
	body = make([]byte, size)
	_, err = io.ReadFull(s.conn, body)
	return head[0], body, err
}

func appendFrame(wire []byte, more bool, body []byte) []byte {
	var flags byte
	if more {
		flags = 1
	}
	if len(body) < 256 {
		return append(append(wire, flags, byte(len(body))), body...)
	}
	return append(binary.BigEndian.AppendUint64(append(wire, flags|2), uint64(len(body))), body...)
}
