package tron

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// permissionKey is a key of a permission.
type permissionKey struct {
	address address
	weight  uint64
}

// permission is what a node says of a permission of an account. It decides how many signatures are collected, and
// nothing else: the chain has its own.
type permission struct {
	threshold uint64
	keys      []permissionKey // in ascending order of their addresses
}

const (
	permissionFormat = 1
	permissionHead   = 1 + 8 + 1 // format, threshold, how many
	permissionEntry  = 20 + 8
	// maxKeys bounds the keys of a permission; the network's getTotalSignNum is 5.
	maxKeys = 32
	// severalFee is what a transaction with more than one signature costs at most, in sun (getMultiSignFee).
	severalFee = 1_000_000
)

// encode returns the permission as it comes before a transaction; nothing for none.
func (p *permission) encode() []byte {
	if p == nil {
		return nil
	}
	b := append(binary.BigEndian.AppendUint64([]byte{permissionFormat}, p.threshold), byte(len(p.keys)))
	for _, k := range p.keys {
		b = binary.BigEndian.AppendUint64(append(b, k.address[:]...), k.weight)
	}
	return b
}

// parsePermission reads the output of encode, and returns what comes behind it.
func parsePermission(data []byte) (p *permission, rest []byte, err error) {
	if len(data) < permissionHead || data[0] != permissionFormat ||
		len(data) < permissionHead+int(data[permissionHead-1])*permissionEntry {
		return nil, nil, fmt.Errorf("%w: its permission is malformed", errCold)
	}
	p = &permission{threshold: binary.BigEndian.Uint64(data[1:])}
	rest = data[permissionHead:]
	for range data[permissionHead-1] {
		p.keys = append(p.keys, permissionKey{address(rest[:20]), binary.BigEndian.Uint64(rest[20:])})
		rest = rest[permissionEntry:]
	}
	return p, rest, p.check()
}

// check refuses what no account has.
func (p *permission) check() error {
	var sum bursar.Amount
	for i, k := range p.keys {
		var err error
		if sum, err = sum.Add(bursar.Units(k.weight)); err != nil {
			return err
		}
		if k.weight == 0 || i > 0 && compare(p.keys[i-1].address, k.address) >= 0 {
			return fmt.Errorf("%w: %s has no weight, or its keys are not in ascending order", errCold, k.address)
		}
	}
	if len(p.keys) > maxKeys || p.threshold == 0 || sum.Less(bursar.Units(p.threshold)) || !fits(sum) {
		return fmt.Errorf("%w: %d keys of a weight of %s, the threshold is %d", errCold, len(p.keys), sum, p.threshold)
	}
	return nil
}

func fits(sum bursar.Amount) bool {
	_, small := sum.Uint64()
	return small
}

func compare(a, b address) int { return bytes.Compare(a[:], b[:]) }

// most returns how many signatures reach the threshold in the worst case, where those of the least weight sign first.
func (p *permission) most() (n int) {
	if p == nil {
		return 1
	}
	weights := make([]uint64, len(p.keys))
	for i, k := range p.keys {
		weights[i] = k.weight
	}
	slices.Sort(weights)
	for sum := uint64(0); sum < p.threshold && n < len(weights); n++ {
		sum += weights[n]
	}
	return n
}

// of returns the weight of a key, 0 if it is none of the permission's.
func (p *permission) of(by address) uint64 {
	at, found := slices.BinarySearchFunc(p.keys, by, func(k permissionKey, by address) int {
		return compare(k.address, by)
	})
	if !found {
		return 0
	}
	return p.keys[at].weight
}

// weight returns what signatures weigh: at most the sum of all keys, which check has computed.
func (p *permission) weight(signatures []signature) (sum uint64) {
	for _, s := range signatures {
		sum += p.of(s.by)
	}
	return sum
}

// several returns what the signatures of a permission cost above one: the network's price of them, and their bytes.
func (r *Rules) several(p *permission) (bursar.Amount, error) {
	if p == nil {
		return bursar.Amount{}, nil
	}
	const entry = 2 + signatureSize // with the field's number and length
	more, err := bursar.Units(uint64(p.most()-1) * entry).Mul(r.cfg.BytePrice)
	if err != nil {
		return more, err
	}
	return more.Add(bursar.Units(severalFee))
}

// signersOf lists who may sign: nobody else once the threshold is reached. It counts signatures, and so says how many
// are needed if those of the most weight sign next.
func (r *Rules) signersOf(t *coldTx, digest []byte) chain.ColdInput {
	key := func(of address, signed bool) chain.ColdKey {
		return chain.ColdKey{Account: of.String(), Key: chain.Hot(chain.FamilyTron), Signed: signed}
	}
	if t.permission == nil {
		return chain.ColdInput{Digest: digest, Need: 1, Keys: []chain.ColdKey{key(t.payload.Owner, t.whole())}}
	}
	in := chain.ColdInput{Digest: digest, Need: len(t.signatures)}
	var left []uint64
	for _, k := range t.permission.keys {
		signed := slices.ContainsFunc(t.signatures, func(s signature) bool { return s.by == k.address })
		if !signed {
			left = append(left, k.weight)
		}
		if signed || !t.whole() {
			in.Keys = append(in.Keys, key(k.address, signed))
		}
	}
	slices.Sort(left)
	for sum := t.permission.weight(t.signatures); sum < t.permission.threshold && len(left) > 0; in.Need++ {
		sum += left[len(left)-1]
		left = left[:len(left)-1]
	}
	return in
}

// allows reports whether a permission may sign a kind of contract; the owner's may sign all.
func (p permissionOf) allows(kind uint64) bool {
	operations, err := hex.DecodeString(p.Operations)
	return p.ID == 0 || err == nil && int(kind/8) < len(operations) && operations[kind/8]&(1<<(kind%8)) != 0
}
