package push

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The wire format of ZMTP 3.0 (rfc.zeromq.org/spec/23): a greeting of 64 bytes, then frames.
const (
	sizeGreeting = 64

	flagMore    = 1
	flagLong    = 2
	flagCommand = 4

	maxParts   = 64
	maxFrame   = 64 << 20 // of a message; it is skipped, never kept in memory
	maxCommand = 4 << 10
	heldOfBody = 64 // bytes of a frame that are kept: enough for a topic's name
)

// Commands.
const (
	commandReady = "READY"
	commandError = "ERROR"
	commandPing  = "PING"
	commandPong  = "PONG"
)

// greeting returns the bytes that open a connection: signature, version 3.0, no security, not a server.
func greeting() []byte {
	g := make([]byte, sizeGreeting)
	g[0], g[9], g[10] = 0xff, 0x7f, 3
	copy(g[12:32], "NULL")
	return g
}

// greet exchanges greetings and properties.
func (s *subscriber) greet() error {
	if err := s.write(greeting()); err != nil {
		return err
	}
	var peer [sizeGreeting]byte
	if _, err := io.ReadFull(s.in, peer[:]); err != nil {
		return err
	}
	switch mechanism := bytes.TrimRight(peer[12:32], "\x00"); {
	case peer[0] != 0xff || peer[9]&1 != 1 || peer[10] < 3:
		return errors.New("the peer does not use ZMTP 3")
	case string(mechanism) != "NULL":
		return fmt.Errorf("the peer requires the security mechanism %q, want NULL", mechanism)
	}
	if err := s.write(command(commandReady, property("Socket-Type", "SUB"))); err != nil {
		return err
	}
	head, err := s.head()
	if err != nil {
		return err
	}
	if !head.command {
		return errors.New("the peer sends a message before READY")
	}
	name, data, err := s.readCommand(head)
	switch {
	case err != nil:
		return err
	case name != commandReady:
		return fmt.Errorf("the peer sends %.20q, want READY", name)
	}
	return publishes(data)
}

// publishes checks that the peer's socket has a kind that can be subscribed to.
func publishes(properties []byte) error {
	const name = "Socket-Type"
	for len(properties) > 0 {
		size := int(properties[0])
		if len(properties) < 1+size+4 {
			break
		}
		key, rest := properties[1:1+size], properties[1+size:]
		length := binary.BigEndian.Uint32(rest)
		if uint64(length) > uint64(len(rest)-4) {
			break
		}
		value := rest[4 : 4+length]
		if bytes.EqualFold(key, []byte(name)) {
			if kind := string(value); kind != "PUB" && kind != "XPUB" {
				return fmt.Errorf("the peer's socket is a %.20q, want PUB or XPUB", kind)
			}
			return nil
		}
		properties = rest[4+length:]
	}
	return errors.New("the peer does not name its kind of socket")
}

// frameHead is what precedes a frame's body.
type frameHead struct {
	more, command bool
	size          uint64
}

func (s *subscriber) head() (frameHead, error) {
	flags, err := s.in.ReadByte()
	if err != nil {
		return frameHead{}, err
	}
	if flags&^(flagMore|flagLong|flagCommand) != 0 || flags&flagCommand != 0 && flags&flagMore != 0 {
		return frameHead{}, fmt.Errorf("a frame has the flags %#x", flags)
	}
	var size [8]byte
	width := size[7:]
	if flags&flagLong != 0 {
		width = size[:]
	}
	if _, err := io.ReadFull(s.in, width); err != nil {
		return frameHead{}, err
	}
	head := frameHead{more: flags&flagMore != 0, command: flags&flagCommand != 0, size: binary.BigEndian.Uint64(size[:])}
	if head.size > maxFrame || head.command && head.size > maxCommand {
		return frameHead{}, fmt.Errorf("a frame has %d bytes", head.size)
	}
	return head, nil
}

// body reads a frame's body, returns its beginning and skips the rest.
func (s *subscriber) body(head frameHead) ([]byte, error) {
	kept := make([]byte, min(head.size, heldOfBody+1)) // one more, so that a longer name does not match as its prefix
	if _, err := io.ReadFull(s.in, kept); err != nil {
		return nil, err
	}
	_, err := io.CopyN(io.Discard, s.in, int64(head.size)-int64(len(kept)))
	return kept, err
}

// readCommand reads the body of a command: its name and its data.
func (s *subscriber) readCommand(head frameHead) (name string, data []byte, err error) {
	body := make([]byte, head.size)
	if _, err := io.ReadFull(s.in, body); err != nil {
		return "", nil, err
	}
	if len(body) == 0 || int(body[0]) > len(body)-1 {
		return "", nil, errors.New("a command has no name")
	}
	end := 1 + int(body[0])
	return string(body[1:end]), body[end:], nil
}

// frame returns a frame that is not followed by another part.
func frame(flags byte, body []byte) []byte {
	if len(body) < 256 {
		return append([]byte{flags, byte(len(body))}, body...)
	}
	return append(binary.BigEndian.AppendUint64([]byte{flags | flagLong}, uint64(len(body))), body...)
}

func command(name string, data []byte) []byte {
	return frame(flagCommand, append(append([]byte{byte(len(name))}, name...), data...))
}

// property returns the encoding of one of READY's properties.
func property(name, value string) []byte {
	p := append([]byte{byte(len(name))}, name...)
	return append(binary.BigEndian.AppendUint32(p, uint32(len(value))), value...)
}

// ping sends a PING. A time to live of 0 leaves the publisher's own timeout unchanged.
func ping() []byte { return command(commandPing, []byte{0, 0}) }
