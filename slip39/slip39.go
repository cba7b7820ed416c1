// Package slip39 splits a secret into shares of words, of which a chosen number gives it back: SLIP-0039, "Shamir's
// Secret-Sharing for Mnemonic Codes".
//
// It owns that standard. Its invariants: fewer shares than needed say nothing of the secret; a share with a wrong word,
// of another set, or too few of them give an error and never a wrong secret; no table is indexed by a secret.
package slip39

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Bounds of the standard.
const (
	MaxShares   = 16
	minSecret   = 16 // bytes
	maxSecret   = 64 // bytes; the standard sets no bound
	secretAt    = 255
	digestAt    = 254
	digestBytes = 4
	// exponent of our own shares: 20,000 rounds of PBKDF2, as the standard's reference implementation chooses.
	exponent = 1
)

// Errors of splitting and combining. Each is wrapped with what it is about.
var (
	ErrSplit    = errors.New("a secret is split into 2 to 16 shares, of which at least 2 and at most all are needed")
	ErrSecret   = errors.New("a secret has 16 to 64 bytes, an even number")
	ErrWord     = errors.New("the word is not in the list")
	ErrLength   = errors.New("the number of words is wrong")
	ErrChecksum = errors.New("the checksum is wrong: a word is wrong, or out of order")
	ErrPadding  = errors.New("the share is damaged")
	ErrMixed    = errors.New("the shares are not all of one set")
	ErrTwice    = errors.New("a share is there twice")
	ErrTooFew   = errors.New("there are too few shares")
	ErrDigest   = errors.New("the shares do not belong together: one of them is not of the set that it names")
)

// Split splits a secret of 16 to 64 bytes into shares, of which need give it back. The error is ErrSplit, ErrSecret or
// one of reading random.
func Split(random io.Reader, secret []byte, need, shares int) ([]string, error) {
	if need < 2 || need > shares || shares > MaxShares {
		return nil, fmt.Errorf("split into %d shares with %d needed: %w", shares, need, ErrSplit)
	}
	if len(secret) < minSecret || len(secret) > maxSecret || len(secret)%2 != 0 {
		return nil, fmt.Errorf("split %d bytes: %w", len(secret), ErrSecret)
	}
	var id [2]byte
	if _, err := io.ReadFull(random, id[:]); err != nil {
		return nil, fmt.Errorf("split the secret: %w", err)
	}
	set := set{
		id:         (int(id[0])<<8 | int(id[1])) & (1<<15 - 1),
		extendable: true,
		exponent:   exponent,
		groupNeed:  1,
		groups:     1,
	}
	master := set.encrypt(secret, "")
	defer clear(master)
	values, err := split(random, master, need, shares)
	if err != nil {
		return nil, fmt.Errorf("split the secret: %w", err)
	}
	list := make([]string, shares)
	for i, value := range values {
		list[i] = Share{set: set, member: i, need: need, value: value}.words()
		clear(value)
	}
	return list, nil
}

// split returns points of a random polynomial that has the secret at 255 and a digest of it at 254.
func split(random io.Reader, secret []byte, need, shares int) ([][]byte, error) {
	var known []point
	for x := range need - 2 {
		y := make([]byte, len(secret))
		if _, err := io.ReadFull(random, y); err != nil {
			return nil, err
		}
		known = append(known, point{byte(x), y})
	}
	key := make([]byte, len(secret)-digestBytes)
	if _, err := io.ReadFull(random, key); err != nil {
		return nil, err
	}
	known = append(known, point{digestAt, append(digest(key, secret), key...)}, point{secretAt, secret})
	values := make([][]byte, shares)
	for x := range values {
		values[x] = interpolate(known, byte(x))
	}
	return values, nil
}

func digest(key, secret []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(secret)
	return h.Sum(nil)[:digestBytes]
}

// Combine gives the secret back. It takes more shares than are needed, and then checks that they agree. The error is
// ErrTooFew, ErrMixed, ErrTwice or ErrDigest.
//
// A wrong passphrase gives another secret and no error: that is the standard's. Split uses the empty passphrase.
func Combine(shares []Share, passphrase string) ([]byte, error) {
	if len(shares) == 0 {
		return nil, fmt.Errorf("combine shares: %w: none is given", ErrTooFew)
	}
	groups := map[int][]Share{}
	first := shares[0]
	for i, s := range shares {
		others := groups[s.group]
		switch {
		case s.set != first.set || len(s.value) != len(first.value):
			return nil, fmt.Errorf("combine shares: %w: share %d is of set %s, share 1 of set %s", ErrMixed, i+1, s.Set(),
				first.Set())
		case len(others) > 0 && others[0].need != s.need:
			return nil, fmt.Errorf("combine shares: %w: share %d says that %d are needed, an earlier one %d", ErrMixed, i+1,
				s.need, others[0].need)
		case slices.ContainsFunc(others, func(o Share) bool { return o.member == s.member }):
			return nil, fmt.Errorf("combine shares: %w: share %d is number %d of the set", ErrTwice, i+1, s.member+1)
		}
		groups[s.group] = append(others, s)
	}
	var points []point
	for number, members := range groups {
		if len(members) < members[0].need {
			if first.groups == 1 {
				return nil, fmt.Errorf("combine shares: %w: %d of %d", ErrTooFew, len(members), members[0].need)
			}
			continue
		}
		value, err := restored(pointsOf(members), members[0].need)
		if err != nil {
			return nil, err
		}
		points = append(points, point{byte(number), value})
	}
	if len(points) < first.groupNeed {
		return nil, fmt.Errorf("combine shares: %w: %d of %d groups are complete", ErrTooFew, len(points), first.groupNeed)
	}
	master, err := restored(points, first.groupNeed)
	if err != nil {
		return nil, err
	}
	defer clear(master)
	return first.decrypt(master, passphrase), nil
}

func pointsOf(shares []Share) (points []point) {
	for _, s := range shares {
		points = append(points, point{byte(s.member), s.value})
	}
	return points
}

// restored returns the secret of points, of which need give it. What is there besides must lie on the same polynomial.
func restored(points []point, need int) ([]byte, error) {
	known := points[:need]
	for _, p := range points[need:] {
		want := p.y
		if need == 1 {
			want = known[0].y
		} else if got := interpolate(known, p.x); !hmac.Equal(got, want) {
			return nil, fmt.Errorf("combine shares: %w", ErrDigest)
		}
		if !hmac.Equal(p.y, want) {
			return nil, fmt.Errorf("combine shares: %w", ErrDigest)
		}
	}
	if need == 1 {
		return slices.Clone(known[0].y), nil
	}
	secret, proof := interpolate(known, secretAt), interpolate(known, digestAt)
	if !hmac.Equal(proof[:digestBytes], digest(proof[digestBytes:], secret)) {
		return nil, fmt.Errorf("combine shares: %w", ErrDigest)
	}
	return secret, nil
}

// point is a point of one polynomial for each byte.
type point struct {
	x byte
	y []byte
}

// interpolate returns the values at x of the polynomials through points, over GF(256).
func interpolate(points []point, x byte) []byte {
	value := make([]byte, len(points[0].y))
	for i, p := range points {
		if p.x == x {
			return slices.Clone(p.y)
		}
		base := byte(1)
		for j, q := range points {
			if i != j {
				base = times(base, times(x^q.x, inverse(p.x^q.x)))
			}
		}
		for n := range value {
			value[n] ^= times(base, p.y[n])
		}
	}
	return value
}

// times multiplies in GF(256) with Rijndael's polynomial, in the same time whatever the factors are.
func times(a, b byte) (product byte) {
	for range 8 {
		product ^= a & -(b & 1)
		a = a<<1 ^ 0x1b&-(a>>7)
		b >>= 1
	}
	return product
}

// inverse is a^254, of a that is not 0.
func inverse(a byte) byte {
	power := byte(1)
	for range 254 {
		power = times(power, a)
	}
	return power
}

// ParseAll reads shares, one a line; empty lines are passed over. The error names the line.
func ParseAll(text string) ([]Share, error) {
	var list []Share
	number := 0
	for line := range strings.Lines(text) {
		number++
		if strings.TrimSpace(line) == "" {
			continue
		}
		s, err := Parse(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		list = append(list, s)
	}
	return list, nil
}
