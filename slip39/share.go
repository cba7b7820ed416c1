package slip39

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

//go:embed english.txt
var english string

// Words before and behind the share's value, and bits of a word.
const (
	headWords = 4
	tailWords = 3
	bits      = 10
)

// set is what all shares of a secret have in common.
type set struct {
	id         int
	extendable bool // whether the secret does not depend on the ID
	exponent   int
	groupNeed  int
	groups     int
}

// Share is one share.
type Share struct {
	set
	group, member int
	need          int // members of the group
	value         []byte
}

// Set is the ID of the set of which the share is, in the form of the standard's reference implementation.
func (s Share) Set() string { return fmt.Sprintf("%04x", s.id) }

// Number is the share's number within its group, from 1.
func (s Share) Number() int { return s.member + 1 }

// Need is how many shares of its group give the secret.
func (s Share) Need() int { return s.need }

// String hides the share.
func (Share) String() string { return "[secret]" }

// GoString hides the share.
func (Share) GoString() string { return "[secret]" }

// Parse reads the words of a share, in any case and with any space between them. The error is ErrWord with the
// position, ErrLength, ErrChecksum or ErrPadding; it does not quote the words.
func Parse(text string) (Share, error) {
	list := strings.Fields(english)
	fields := strings.Fields(strings.ToLower(text))
	if len(fields) < headWords+tailWords || len(fields) > 200 {
		return Share{}, fmt.Errorf("read a share: %w: %d", ErrLength, len(fields))
	}
	values := make([]int, len(fields))
	for i, word := range fields {
		n, found := slices.BinarySearch(list, word)
		if !found {
			return Share{}, fmt.Errorf("read a share: %w: word %d", ErrWord, i+1)
		}
		values[i] = n
	}
	s := Share{set: set{
		id:         values[0]<<5 | values[1]>>5,
		extendable: values[1]>>4&1 == 1,
		exponent:   values[1] & 15,
	}}
	if checksum(s.customization(), values) != 1 {
		return Share{}, fmt.Errorf("read a share: %w", ErrChecksum)
	}
	rest := values[2]<<bits | values[3]
	s.group, s.groupNeed, s.groups = rest>>16, rest>>12&15+1, rest>>8&15+1
	s.member, s.need = rest>>4&15, rest&15+1
	if s.groupNeed > s.groups || s.group >= s.groups {
		return Share{}, fmt.Errorf("read a share: %w: %d of %d groups", ErrPadding, s.groupNeed, s.groups)
	}
	var err error
	s.value, err = unpack(values[headWords : len(values)-tailWords])
	return s, err
}

// unpack returns the bytes of a value, whose padding comes first, is zero, and has at most 8 bits.
func unpack(words []int) ([]byte, error) {
	padding := len(words) * bits % 16
	size := (len(words)*bits - padding) / 8
	if padding > 8 || size < minSecret || size > maxSecret {
		return nil, fmt.Errorf("read a share: %w: %d", ErrLength, len(words)+headWords+tailWords)
	}
	value := make([]byte, size)
	for i := range len(words) * bits {
		bit := byte(words[i/bits] >> (bits - 1 - i%bits) & 1)
		at := i - padding
		if at < 0 && bit != 0 {
			return nil, fmt.Errorf("read a share: %w: its padding is not zero", ErrPadding)
		}
		if at >= 0 {
			value[at/8] |= bit << (7 - at%8)
		}
	}
	return value, nil
}

// words writes the share.
func (s Share) words() string {
	extendable := 0
	if s.extendable {
		extendable = 1
	}
	first := s.id<<5 | extendable<<4 | s.exponent
	second := s.group<<16 | (s.groupNeed-1)<<12 | (s.groups-1)<<8 | s.member<<4 | (s.need - 1)
	values := []int{first >> bits, first & (1<<bits - 1), second >> bits, second & (1<<bits - 1)}
	values = append(values, pack(s.value)...)
	sum := checksum(s.customization(), append(slices.Clone(values), 0, 0, 0)) ^ 1
	for i := range tailWords {
		values = append(values, int(sum>>(bits*(tailWords-1-i)))&(1<<bits-1))
	}
	list, text := strings.Fields(english), make([]string, len(values))
	for i, n := range values {
		text[i] = list[n]
	}
	return strings.Join(text, " ")
}

func pack(value []byte) []int {
	count := (len(value)*8 + bits - 1) / bits
	padding := count*bits - len(value)*8
	words := make([]int, count)
	for i := range len(value) * 8 {
		at := i + padding
		words[at/bits] |= int(value[i/8]>>(7-i%8)&1) << (bits - 1 - at%bits)
	}
	return words
}

func (s set) customization() string {
	if s.extendable {
		return "shamir_extendable"
	}
	return "shamir"
}

// generator is that of RS1024, the Reed-Solomon code of the standard.
var generator = [bits]uint32{0xe0e040, 0x1c1c080, 0x3838100, 0x7070200, 0xe0e0009, 0x1c0c2412, 0x38086c24, 0x3090fc48,
	0x21b1f890, 0x3f3f120}

// checksum returns 1 for words that end with their checksum.
func checksum(customization string, words []int) uint32 {
	sum := uint32(1)
	add := func(word int) {
		top := sum >> 20
		sum = sum&0xfffff<<bits ^ uint32(word)
		for i, g := range generator {
			if top>>i&1 == 1 {
				sum ^= g
			}
		}
	}
	for _, c := range []byte(customization) {
		add(int(c))
	}
	for _, w := range words {
		add(w)
	}
	return sum
}

// rounds of the Feistel network that encrypts the secret with the passphrase.
const rounds = 4

func (s set) encrypt(secret []byte, passphrase string) []byte {
	return s.feistel(secret, passphrase, [rounds]byte{0, 1, 2, 3})
}

func (s set) decrypt(master []byte, passphrase string) []byte {
	return s.feistel(master, passphrase, [rounds]byte{3, 2, 1, 0})
}

func (s set) feistel(text []byte, passphrase string, order [rounds]byte) []byte {
	half := len(text) / 2
	left, right := slices.Clone(text[:half]), slices.Clone(text[half:])
	var salt []byte
	if !s.extendable {
		salt = binary.BigEndian.AppendUint16([]byte("shamir"), uint16(s.id))
	}
	for _, round := range order {
		mask, err := pbkdf2.Key(sha256.New, string(round)+passphrase, slices.Concat(salt, right), 10000<<s.exponent/rounds,
			half)
		if err != nil { // the length is sound, and no random bytes are read
			panic(err)
		}
		for i := range left {
			left[i] ^= mask[i]
		}
		left, right = right, left
	}
	return slices.Concat(right, left)
}
