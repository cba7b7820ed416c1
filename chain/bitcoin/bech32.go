package bitcoin

import (
	"encoding/binary"
	"strings"
)

const (
	bech32Alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
	keyHashWords   = sizeKeyHash * 8 / 5 // characters of a key hash
	checksumWords  = 6
)

// baseEncoder encodes P2WPKH addresses, and only those, many times faster than a general encoder: a block has thousands
// of key hashes to look up.
type baseEncoder struct {
	zero string // an address of this length, with the right beginning
	sum  uint32 // the checksum of the address of a key hash of zeros
}

func newBaseEncoder(hrp string) *baseEncoder {
	e := &baseEncoder{zero: hrp + "1" + strings.Repeat(bech32Alphabet[:1], 1+keyHashWords+checksumWords), sum: 1}
	for _, c := range []byte(hrp) {
		e.sum = bech32Step(e.sum, uint32(c>>5))
	}
	e.sum = bech32Step(e.sum, 0)
	for _, c := range []byte(hrp) {
		e.sum = bech32Step(e.sum, uint32(c&31))
	}
	for range 1 + keyHashWords + checksumWords { // the witness version, the key hash, and the checksum's own place
		e.sum = bech32Step(e.sum, 0)
	}
	e.sum ^= 1 // the constant of BIP 173; version 0 is not bech32m
	return e
}

// size returns the length of an address.
func (e *baseEncoder) size() int { return len(e.zero) }

// encode returns the address of a key hash.
func (e *baseEncoder) encode(hash [sizeKeyHash]byte) string {
	var buffer [maxAddress]byte
	return string(e.append(buffer[:0], &hash))
}

// append appends the address of a key hash. The checksum is linear (a BCH code): it is that of a hash of zeros, and
// what each byte of the hash adds to it.
func (e *baseEncoder) append(to []byte, hash *[sizeKeyHash]byte) []byte {
	to = append(to, e.zero...)
	text := (*[keyHashWords + checksumWords]byte)(to[len(to)-keyHashWords-checksumWords:])
	sum := e.sum
	for i, value := range hash {
		sum ^= bech32Sums[i][value]
	}
	for i := range sizeKeyHash / 5 {
		part := hash[5*i : 5*i+5 : 5*i+5]
		bits := uint64(part[0])<<32 | uint64(binary.BigEndian.Uint32(part[1:]))
		binary.LittleEndian.PutUint64(text[8*i:], uint64(bech32Pairs[bits>>30])|uint64(bech32Pairs[bits>>20&1023])<<16|
			uint64(bech32Pairs[bits>>10&1023])<<32|uint64(bech32Pairs[bits&1023])<<48)
	}
	for i := range checksumWords / 2 {
		binary.LittleEndian.PutUint16(text[keyHashWords+2*i:], bech32Pairs[sum>>(20-10*i)&1023])
	}
	return to
}

var (
	bech32Sums  = newBech32Sums()  // by place and value of a byte of the hash: what it adds to the checksum
	bech32Pairs = newBech32Pairs() // by ten bits: their two characters, the first one in the low byte
)

func newBech32Sums() *[sizeKeyHash][256]uint32 {
	var sums [sizeKeyHash][256]uint32
	for i := range sums {
		for value := range sums[i] {
			var hash [sizeKeyHash]byte
			hash[i] = byte(value)
			var sum uint32
			for word := range keyHashWords {
				at := 5 * word // in bits
				two := uint32(hash[at/8]) << 8
				if at/8+1 < sizeKeyHash {
					two |= uint32(hash[at/8+1])
				}
				sum = bech32Step(sum, two>>(11-at%8)&31)
			}
			for range checksumWords {
				sum = bech32Step(sum, 0)
			}
			sums[i][value] = sum
		}
	}
	return &sums
}

func newBech32Pairs() *[1024]uint16 {
	var pairs [1024]uint16
	for i := range pairs {
		pairs[i] = uint16(bech32Alphabet[i>>5]) | uint16(bech32Alphabet[i&31])<<8
	}
	return &pairs
}

// bech32Step is one step of the BIP 173 checksum, with its five conditions made branchless.
func bech32Step(sum, value uint32) uint32 {
	top := sum >> 25
	sum = (sum&0x1ffffff)<<5 ^ value
	sum ^= -(top & 1) & 0x3b6a57b2
	sum ^= -(top >> 1 & 1) & 0x26508e6d
	sum ^= -(top >> 2 & 1) & 0x1ea119fa
	sum ^= -(top >> 3 & 1) & 0x3d4233dd
	sum ^= -(top >> 4 & 1) & 0x2a1462b3
	return sum
}
