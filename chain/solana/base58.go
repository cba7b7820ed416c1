package solana

import (
	"errors"
	"slices"
)

// alphabet is Bitcoin's base 58, which Solana uses too.
const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// key is an account's address, a blockhash or any other 32 bytes that nodes write in base 58.
type key [32]byte

// signature is an ed25519 signature; a transaction's first one is its id.
type signature [64]byte

var errBase58 = errors.New("not base 58 of the expected length")

func (k key) String() string       { return encode58(k[:]) }
func (s signature) String() string { return encode58(s[:]) }

// parseKey accepts only the canonical spelling of 32 bytes.
func parseKey(s string) (k key, err error) {
	err = decode58(s, k[:])
	return k, err
}

// parseSignature accepts only the canonical spelling of 64 bytes.
func parseSignature(s string) (sig signature, err error) {
	err = decode58(s, sig[:])
	return sig, err
}

// encode58 writes each leading zero byte as a 1 and the rest as a number. Its time is quadratic in the length, which is
// 64 at most here.
func encode58(data []byte) string {
	zeros := 0
	for zeros < len(data) && data[zeros] == 0 {
		zeros++
	}
	digits := make([]byte, 0, len(data)*138/100+1) // log 256 / log 58, least significant first
	for _, b := range data[zeros:] {
		carry := int(b)
		for i := range digits {
			carry += int(digits[i]) << 8
			digits[i] = byte(carry % 58)
			carry /= 58
		}
		for ; carry > 0; carry /= 58 {
			digits = append(digits, byte(carry%58))
		}
	}
	for range zeros {
		digits = append(digits, 0)
	}
	slices.Reverse(digits)
	for i, d := range digits {
		digits[i] = alphabet[d]
	}
	return string(digits)
}

// decode58 fills out, and accepts only the output of encode58 for exactly that many bytes.
func decode58(s string, out []byte) error {
	if len(s) < len(out) || len(s) > len(out)*138/100+1 {
		return errBase58
	}
	clear(out)
	for i := range len(s) {
		carry := digit58(s[i])
		if carry < 0 {
			return errBase58
		}
		for j := len(out) - 1; j >= 0; j-- {
			carry += int(out[j]) * 58
			out[j] = byte(carry)
			carry >>= 8
		}
		if carry != 0 {
			return errBase58
		}
	}
	ones, zeros := 0, 0
	for ones < len(s) && s[ones] == alphabet[0] {
		ones++
	}
	for zeros < len(out) && out[zeros] == 0 {
		zeros++
	}
	if ones != zeros {
		return errBase58
	}
	return nil
}

// digit58 returns a character's value, or -1.
func digit58(c byte) int {
	switch {
	case c >= '1' && c <= '9':
		return int(c - '1')
	case c >= 'A' && c <= 'H':
		return int(c-'A') + 9
	case c >= 'J' && c <= 'N':
		return int(c-'J') + 17
	case c >= 'P' && c <= 'Z':
		return int(c-'P') + 22
	case c >= 'a' && c <= 'k':
		return int(c-'a') + 33
	case c >= 'm' && c <= 'z':
		return int(c-'m') + 44
	}
	return -1
}
