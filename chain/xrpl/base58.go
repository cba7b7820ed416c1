package xrpl

import (
	"bytes"
	"crypto/sha256"
	"math/big"
)

// alphabet is the ledger's own order of base 58 digits: an account's first byte, zero, appears as r.
const alphabet = "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz"

// maxBase58 limits the length of decoded texts: an X-address has 47 digits.
const maxBase58 = 64

// encodeCheck encodes bytes, followed by four bytes of their double SHA-256, in base 58.
func encodeCheck(payload []byte) string {
	sum := checksum(payload)
	data := append(append([]byte{}, payload...), sum[:]...)
	var out []byte
	radix, digit := big.NewInt(58), new(big.Int)
	for n := new(big.Int).SetBytes(data); n.Sign() > 0; {
		n.DivMod(n, radix, digit)
		out = append(out, alphabet[digit.Int64()])
	}
	for _, b := range data {
		if b != 0 {
			break
		}
		out = append(out, alphabet[0])
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return string(out)
}

// decodeCheck reads the output of encodeCheck and refuses any other spelling.
func decodeCheck(text string) (payload []byte, ok bool) {
	if len(text) > maxBase58 {
		return nil, false
	}
	n, radix := new(big.Int), big.NewInt(58)
	zeros := 0
	for i := range len(text) {
		digit := bytes.IndexByte([]byte(alphabet), text[i])
		if digit < 0 {
			return nil, false
		}
		if digit == 0 && n.Sign() == 0 {
			zeros++
		}
		n.Mul(n, radix).Add(n, big.NewInt(int64(digit)))
	}
	data := append(make([]byte, zeros), n.Bytes()...)
	if len(data) < 4 {
		return nil, false
	}
	payload = data[:len(data)-4]
	sum := checksum(payload)
	return payload, bytes.Equal(sum[:], data[len(data)-4:])
}

func checksum(payload []byte) [4]byte {
	first := sha256.Sum256(payload)
	second := sha256.Sum256(first[:])
	return [4]byte(second[:4])
}
