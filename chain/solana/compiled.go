package solana

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// format is an encoding of a transaction. The formats differ in their bytes, but not in what they can do here.
type format string

// The formats. Legacy and v0: docs, Solana transactions; Agave's sdk, short_vec. V1: SIMD-0385, live since epoch 1035;
// solana-message 4.6, versions/v1. SIMD-0646 proposes to remove the first two.
const (
	legacy format = "legacy"
	v0     format = "v0"
	v1     format = "v1"
)

const (
	prefixV0 = 0x80
	prefixV1 = 0x81

	// packetSize is PACKET_DATA_SIZE: the maximum size of a legacy or v0 transaction, signatures included.
	packetSize = 1232
	// packetSizeV1 is the maximum size of a v1 transaction (SIMD-0296).
	packetSizeV1 = 4096
)

// The bits of the mask of a v1 message, each for 4 bytes of values, in this order.
const (
	maskFee    = 0b11
	maskUnits  = 0b100
	maskLoaded = 0b1000
	maskHeap   = 0b10000
)

// compiled is a message in the structure of its bytes: indexes of keys instead of keys. All numbers are little endian.
type compiled struct {
	format       format
	signers      byte
	readSigned   byte
	readUnsigned byte
	reserve      reserve // v1 only
	keys         []key
	blockhash    key
	steps        []step
}

// reserve holds the resources that a v1 message requests; the mask says which values are present.
type reserve struct {
	mask   uint32
	fee    uint64 // lamports above the base fee
	units  uint32
	loaded uint32 // bytes of all loaded accounts
	heap   uint32
}

// step is one instruction.
type step struct {
	program  byte
	accounts []byte
	data     []byte
}

func (c *compiled) encode() []byte {
	switch c.format {
	case v1:
		return c.encodeV1()
	case v0:
		return append(c.encodeOld([]byte{prefixV0}), 0) // no addresses from tables
	}
	return c.encodeOld(nil)
}

// encodeOld writes the common part of legacy and v0. A compact-u16 of a number below 128 is that byte.
func (c *compiled) encodeOld(out []byte) []byte {
	out = append(out, c.signers, c.readSigned, c.readUnsigned, byte(len(c.keys)))
	for _, k := range c.keys {
		out = append(out, k[:]...)
	}
	out = append(out, c.blockhash[:]...)
	out = append(out, byte(len(c.steps)))
	for _, s := range c.steps {
		out = append(append(out, s.program, byte(len(s.accounts))), s.accounts...)
		out = append(append(out, byte(len(s.data))), s.data...)
	}
	return out
}

func (c *compiled) encodeV1() []byte {
	out := []byte{prefixV1, c.signers, c.readSigned, c.readUnsigned}
	out = binary.LittleEndian.AppendUint32(out, c.reserve.mask)
	out = append(out, c.blockhash[:]...)
	out = append(out, byte(len(c.steps)), byte(len(c.keys)))
	for _, k := range c.keys {
		out = append(out, k[:]...)
	}
	out = c.reserve.append(out)
	for _, s := range c.steps {
		out = append(out, s.program, byte(len(s.accounts)))
		out = binary.LittleEndian.AppendUint16(out, uint16(len(s.data)))
	}
	for _, s := range c.steps {
		out = append(append(out, s.accounts...), s.data...)
	}
	return out
}

func (r *reserve) append(out []byte) []byte {
	if r.mask&maskFee != 0 {
		out = binary.LittleEndian.AppendUint64(out, r.fee)
	}
	for _, v := range r.small() {
		if r.mask&v.bit != 0 {
			out = binary.LittleEndian.AppendUint32(out, *v.value)
		}
	}
	return out
}

type small struct {
	bit   uint32
	value *uint32
}

// small returns the values of 4 bytes in their order.
func (r *reserve) small() []small {
	return []small{{maskUnits, &r.units}, {maskLoaded, &r.loaded}, {maskHeap, &r.heap}}
}

var errMessage = errors.New("not a message in a known format")

// compiledFrom reads the output of encode, in any format, and refuses anything else: it encodes the result again and
// compares.
func compiledFrom(raw []byte) (*compiled, error) {
	c := &compiled{format: legacy}
	r := reader{rest: raw}
	most := packetSize
	switch {
	case len(raw) > 0 && raw[0] == prefixV1:
		c.format, most = v1, packetSizeV1
	case len(raw) > 0 && raw[0] == prefixV0:
		c.format = v0
	}
	if len(raw) > most {
		return nil, fmt.Errorf("%w: %d bytes", errMessage, len(raw))
	}
	if c.format == v1 {
		c.readV1(&r)
	} else {
		c.readOld(&r)
	}
	if r.short || len(r.rest) > 0 || len(c.keys) == 0 || !slices.Equal(c.encode(), raw) {
		return nil, errMessage
	}
	return c, nil
}

func (c *compiled) readOld(r *reader) {
	if c.format == v0 {
		r.take(1)
	}
	c.signers, c.readSigned, c.readUnsigned = r.byte(), r.byte(), r.byte()
	c.keys = r.keys(r.count())
	copy(c.blockhash[:], r.take(len(key{})))
	for range r.count() {
		s := step{program: r.byte()}
		s.accounts = r.take(r.count())
		s.data = r.take(r.count())
		c.steps = append(c.steps, s)
	}
	if c.format == v0 {
		r.short = r.byte() != 0 || r.short
	}
}

func (c *compiled) readV1(r *reader) {
	r.take(1)
	c.signers, c.readSigned, c.readUnsigned = r.byte(), r.byte(), r.byte()
	c.reserve.mask = r.number(4)
	copy(c.blockhash[:], r.take(len(key{})))
	steps, keys := int(r.byte()), int(r.byte())
	c.keys = r.keys(keys)
	if c.reserve.mask&maskFee != 0 {
		c.reserve.fee = uint64(r.number(4)) | uint64(r.number(4))<<32
	}
	for _, v := range c.reserve.small() {
		if c.reserve.mask&v.bit != 0 {
			*v.value = r.number(4)
		}
	}
	heads := r.take(4 * steps)
	for head := range slices.Chunk(heads, 4) {
		s := step{program: head[0], accounts: r.take(int(head[1]))}
		s.data = r.take(int(binary.LittleEndian.Uint16(head[2:])))
		c.steps = append(c.steps, s)
	}
}

// reader takes bytes from the front. Once it lacks some, everything it returns is empty.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if n > len(r.rest) {
		r.short, r.rest = true, nil
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) byte() byte { return byte(r.number(1)) }

// number reads up to 4 bytes.
func (r *reader) number(size int) (n uint32) {
	for i, b := range r.take(size) {
		n |= uint32(b) << (8 * i)
	}
	return n
}

// count reads a compact-u16 below 128; nothing in our messages is longer.
func (r *reader) count() int {
	n := int(r.byte())
	if n > 127 || n > len(r.rest) {
		r.short = true
		return 0
	}
	return n
}

func (r *reader) keys(n int) []key {
	keys := make([]key, n)
	for i := range keys {
		copy(keys[i][:], r.take(len(key{})))
	}
	return keys
}
