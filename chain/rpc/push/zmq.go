package push

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"time"
)

// The schemes of ZeroMQ addresses.
const (
	schemeTCP = "tcp"
	schemeIPC = "ipc"
)

// ZMQ subscribes to topics of a ZeroMQ publisher at a tcp:// or ipc:// URL and calls announced once it has subscribed,
// and for each message whose whole first part is one of the topics. It uses ZMTP 3.0 (rfc.zeromq.org/spec/23) without
// security, as the publishers of bitcoind, litecoind (both libzmq) and java-tron (jeromq 0.5.3) do. It returns when
// the subscription ends, with the reason or the context's error.
func (c Config) ZMQ(ctx context.Context, raw string, topics []string, announced func()) error {
	c = c.withDefaults()
	u, err := parse(raw, schemeTCP, schemeIPC)
	if err != nil {
		return err
	}
	err = c.zmq(ctx, u, topics, announced)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("subscription at %s: %w", Name(raw), c.cleaned(u, err))
}

func (c Config) zmq(ctx context.Context, u *url.URL, topics []string, announced func()) error {
	network, address := "tcp", u.Host
	if u.Scheme == schemeIPC {
		network, address = "unix", u.Host+u.Path
	}
	dialling, cancel := context.WithTimeout(ctx, dialTime)
	conn, err := c.Dial(dialling, network, address)
	cancel()
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // ends a running read
	s := &subscriber{conn: conn, in: bufio.NewReaderSize(conn, 4<<10), topics: topics, silence: c.Silence}
	if err := s.open(); err != nil {
		return err
	}
	announced()
	return s.follow(announced)
}

// subscriber is one connection to a publisher.
type subscriber struct {
	conn    net.Conn
	in      *bufio.Reader
	topics  []string
	silence time.Duration
	answers bool // the publisher has answered a ping: one that stops answering is gone
}

// open makes the handshake and subscribes.
func (s *subscriber) open() error {
	if err := s.conn.SetDeadline(time.Now().Add(dialTime)); err != nil {
		return err
	}
	if err := s.greet(); err != nil {
		return fmt.Errorf("handshake: %w", err)
	}
	for _, topic := range s.topics {
		if err := s.write(frame(0, append([]byte{1}, topic...))); err != nil {
			return fmt.Errorf("subscribe: %w", err)
		}
	}
	return nil
}

// follow reads until the subscription ends. The publisher is pinged when nothing arrives for a while: a Bitcoin block
// may take an hour, and a broken connection looks the same.
func (s *subscriber) follow(announced func()) error {
	heard, pinged := time.Now(), false
	for time.Since(heard) < s.silence {
		arrived, err := s.await()
		switch {
		case err != nil:
			return err
		case arrived:
			pinged = false
			about, err := s.receive()
			if err != nil {
				return err
			}
			if about {
				heard = time.Now()
				announced()
			}
		case pinged && s.answers:
			return ErrSilent
		default:
			pinged = true
			if err := s.write(ping()); err != nil {
				return err
			}
		}
	}
	return ErrSilent
}

// await reports whether a frame starts before it is time for a ping.
func (s *subscriber) await() (bool, error) {
	if err := s.conn.SetReadDeadline(time.Now().Add(min(pingEvery, s.silence))); err != nil {
		return false, err
	}
	_, err := s.in.Peek(1)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return false, nil
	}
	return err == nil, err
}

// receive reads a command or all parts of a message, and reports whether it is an announcement.
func (s *subscriber) receive() (about bool, err error) {
	if err := s.conn.SetReadDeadline(time.Now().Add(replyTime)); err != nil {
		return false, err
	}
	for part := range maxParts {
		head, err := s.head()
		if err != nil {
			return false, err
		}
		if head.command {
			return false, s.command(head)
		}
		name, err := s.body(head)
		if err != nil {
			return false, err
		}
		if part == 0 {
			about = slices.Contains(s.topics, string(name))
		}
		if !head.more {
			return about, nil
		}
	}
	return false, errors.New("a message has too many parts")
}

// command handles frames that are not messages: it answers pings, returns errors and ignores everything else.
func (s *subscriber) command(head frameHead) error {
	name, data, err := s.readCommand(head)
	if err != nil {
		return err
	}
	switch name {
	case commandPing:
		// The first two bytes are a time to live; the rest, the context, is sent back (ZMTP 3.1, rfc.zeromq.org/spec/37).
		return s.write(command(commandPong, data[min(2, len(data)):]))
	case commandPong:
		s.answers = true
	case commandError:
		return errors.New("the publisher ended the subscription with an error")
	}
	return nil
}

func (s *subscriber) write(frame []byte) error {
	if err := s.conn.SetWriteDeadline(time.Now().Add(replyTime)); err != nil {
		return err
	}
	_, err := s.conn.Write(frame)
	return err
}
