package descriptor

import (
	"errors"
	"strings"
)

// The characters of descriptors in the order of BIP 380, in groups of 32, and those of checksums.
const (
	inputChars = "0123456789()[],'/*abcdefgh@:$%{}" + "IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~" +
		"ijklmnopqrstuvwxyzABCDEFGH`#\"\\ "
	sumChars = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
	sumSize  = 8
)

// Checksum returns the checksum of a descriptor without one (BIP 380), an error if it has a character that descriptors
// do not have.
func Checksum(body string) (string, error) {
	var symbols, groups []uint64
	for _, c := range body {
		at := strings.IndexRune(inputChars, c)
		if at < 0 {
			return "", errors.New("a character that is not allowed in descriptors")
		}
		symbols = append(symbols, uint64(at&31))
		if groups = append(groups, uint64(at>>5)); len(groups) == 3 {
			symbols = append(symbols, groups[0]*9+groups[1]*3+groups[2])
			groups = nil
		}
	}
	switch len(groups) {
	case 1:
		symbols = append(symbols, groups[0])
	case 2:
		symbols = append(symbols, groups[0]*3+groups[1])
	}
	state := remainder(append(symbols, make([]uint64, sumSize)...)) ^ 1
	sum := make([]byte, sumSize)
	for i := range sum {
		sum[i] = sumChars[state>>(5*(sumSize-1-i))&31]
	}
	return string(sum), nil
}

// remainder divides a polynomial over the field of 32 elements by the generator of the checksum.
func remainder(symbols []uint64) uint64 {
	generator := [5]uint64{0xf5dee51989, 0xa9fdca3312, 0x1bab10e32d, 0x3706b1677a, 0x644d626ffd}
	state := uint64(1)
	for _, symbol := range symbols {
		top := state >> 35
		state = state&0x7ffffffff<<5 ^ symbol
		for i, g := range generator {
			if top>>i&1 == 1 {
				state ^= g
			}
		}
	}
	return state
}
