package main

import (
	"bytes"
	"crypto/sha256"
	"math/big"
	"slices"
	"strings"
)

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// from58 decodes a constant of these tests.
func from58(text string) []byte {
	n := new(big.Int)
	for _, letter := range text {
		n.Add(n.Mul(n, big.NewInt(58)), big.NewInt(int64(strings.IndexRune(alphabet, letter))))
	}
	zeros := len(text) - len(strings.TrimLeft(text, "1"))
	return append(make([]byte, zeros), n.Bytes()...)
}

func to58(raw []byte) string {
	var text []byte
	for n, rest := new(big.Int).SetBytes(raw), new(big.Int); n.Sign() > 0; {
		n.DivMod(n, big.NewInt(58), rest)
		text = append(text, alphabet[rest.Int64()])
	}
	for range len(raw) - len(bytes.TrimLeft(raw, "\x00")) {
		text = append(text, '1')
	}
	slices.Reverse(text)
	return string(text)
}

// checked58 is base 58 with a version byte and a checksum.
func checked58(version byte, raw []byte) string {
	raw = append([]byte{version}, raw...)
	first := sha256.Sum256(raw)
	second := sha256.Sum256(first[:])
	return to58(append(raw, second[:4]...))
}
