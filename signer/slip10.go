package signer

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
)

// slip10 is an extended private key of SLIP-10 on ed25519, where only hardened children exist.
type slip10 struct {
	key  [32]byte // the seed of an ed25519 key
	code [32]byte
}

func slip10Master(seed []byte) *slip10 { return slip10From([]byte("ed25519 seed"), seed) }

func slip10From(key, data []byte) *slip10 {
	sum := keyedSum(key, data)
	defer clear(sum)
	return &slip10{key: [32]byte(sum[:32]), code: [32]byte(sum[32:])}
}

// keyedSum returns HMAC-SHA512, and leaves no copy of data in the hash, which keeps its last block.
func keyedSum(key, data []byte) []byte {
	mac := hmac.New(sha512.New, key)
	mac.Write(data)
	sum := mac.Sum(make([]byte, 0, sha512.Size))
	mac.Reset()
	mac.Write(make([]byte, sha512.BlockSize-1))
	return sum
}

// child returns the hardened child; the index is given without the hardening bit.
func (s *slip10) child(index uint32) *slip10 {
	data := make([]byte, 1, 1+32+4)
	defer func() { clear(data[:cap(data)]) }()
	data = append(data, s.key[:]...)
	data = binary.BigEndian.AppendUint32(data, index|hardened)
	return slip10From(s.code[:], data)
}

// slip10Tree returns the key at purpose'/coin' and clears the ones above it.
func slip10Tree(seed []byte, purpose, slip44 uint32) *slip10 {
	master := slip10Master(seed)
	defer master.wipe()
	parent := master.child(purpose)
	defer parent.wipe()
	return parent.child(slip44)
}

// private returns the ed25519 key; the caller clears it.
func (s *slip10) private() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(s.key[:]) }

func (s *slip10) wipe() { *s = slip10{} }
