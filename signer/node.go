package signer

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
	"fmt"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"

	"github.com/bursar/bursar/chain"
)

// node is an extended public key of BIP 32. It keeps the decompressed point, which makes its children cheaper to derive
// than hdkeychain's: no square root, no fingerprint of the parent. It is immutable.
type node struct {
	point btcec.JacobianPoint // affine: Z is 1
	bytes [btcec.PubKeyBytesLenCompressed]byte
	code  [32]byte
}

func newNode(key *hdkeychain.ExtendedKey) (*node, error) {
	public, err := key.ECPubKey()
	if err != nil {
		return nil, err
	}
	n := &node{bytes: [33]byte(public.SerializeCompressed()), code: [32]byte(key.ChainCode())}
	public.AsJacobian(&n.point)
	return n, nil
}

// tweak returns the difference between a child's private key and its parent's, and the child's chain code (BIP 32,
// CKDpub: the halves of HMAC-SHA512 over the parent's public key and the index).
func (n *node) tweak(index uint32) (btcec.ModNScalar, [32]byte, error) {
	mac := hmac.New(sha512.New, n.code[:])
	mac.Write(n.bytes[:])
	mac.Write(binary.BigEndian.AppendUint32(nil, index))
	sum := mac.Sum(make([]byte, 0, sha512.Size))
	var add btcec.ModNScalar
	if overflow := add.SetByteSlice(sum[:32]); overflow {
		return add, [32]byte{}, fmt.Errorf("%w: BIP 32 has no key at index %d", ErrBadKeyRef, index)
	}
	return add, [32]byte(sum[32:]), nil
}

// child returns the public key at a non-hardened index. The probability that there is none is 2^-127.
func (n *node) child(index uint32) (*node, error) {
	add, code, err := n.tweak(index)
	if err != nil {
		return nil, err
	}
	c := &node{code: code}
	var product btcec.JacobianPoint
	btcec.ScalarBaseMultNonConst(&add, &product)
	btcec.AddNonConst(&product, &n.point, &c.point)
	if c.point.Z.IsZero() || c.point.X.IsZero() && c.point.Y.IsZero() {
		return nil, fmt.Errorf("%w: BIP 32 has no key at index %d", ErrBadKeyRef, index)
	}
	c.point.ToAffine()
	c.bytes = [33]byte(btcec.NewPublicKey(&c.point.X, &c.point.Y).SerializeCompressed())
	return c, nil
}

func (n *node) public() chain.PublicKey { return append(chain.PublicKey(nil), n.bytes[:]...) }

// childScalar returns the private key of a child: the parent's and the tweak (BIP 32, CKDpriv for plain indexes).
func (n *node) childScalar(parent *btcec.ModNScalar, index uint32) (btcec.ModNScalar, error) {
	private, _, err := n.tweak(index)
	if err != nil {
		return private, err
	}
	if private.Add(parent).IsZero() {
		return private, fmt.Errorf("%w: BIP 32 has no key at index %d", ErrBadKeyRef, index)
	}
	return private, nil
}
