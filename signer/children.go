package signer

import (
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/bursar/bursar/chain"
)

// Publics returns the public keys at n indexes from first on, in the long form of chain.PublicKey, which is what Public
// returns of each. Many together take about a third of the time. An error means that one of them could not be derived:
// ask for each by Public then. The errors are those of Public.
func (d *Deriver) Publics(first chain.KeyRef, n int) ([]chain.PublicKey, error) {
	if n <= 0 {
		return nil, nil
	}
	last := first
	last.Index += uint32(n - 1)
	for _, ref := range []chain.KeyRef{first, last} {
		if _, err := checkRef(ref); err != nil || n > int(hardened) {
			return nil, fmt.Errorf("derive %d public keys: %w", n, errors.Join(err, ErrBadKeyRef))
		}
	}
	if first.Epoch() != last.Epoch() {
		return nil, fmt.Errorf("derive %d public keys: %w: they are of two epochs", n, ErrBadKeyRef)
	}
	d, first, err := d.of(first)
	if err != nil {
		return nil, fmt.Errorf("derive %d public keys: %w", n, err)
	}
	nodes := d.nodes[first.Family]
	if nodes == nil {
		return nil, fmt.Errorf("derive public keys of family %q: %w", first.Family, ErrNeedsSeed)
	}
	d.onceBase.Do(func() { d.base = newMultiples() })
	points, err := nodes[first.Branch].children(d.base, first.Index, n)
	if err != nil {
		return nil, fmt.Errorf("derive public keys: %w", err)
	}
	publics := make([]chain.PublicKey, n)
	for i := range points {
		publics[i] = btcec.NewPublicKey(&points[i].x, &points[i].y).SerializeUncompressed()
	}
	return publics, nil
}

// errWrongSum is the error of children whose sum is not what it has to be: an error of arithmetic, or of the machine.
var errWrongSum = errors.New("the derived points do not add up")

// children returns the points of n children from an index on. All are computed at the same time, one byte of their
// tweaks after another, so that they share the inversions of an affine addition.
func (n *node) children(base *multiples, from uint32, count int) ([]affine, error) {
	points, tweaks := make([]affine, count), make([]btcec.ModNScalar, count)
	digits := make([][32]byte, count) // of the tweaks, the highest byte first
	for i := range points {
		var err error
		if tweaks[i], _, err = n.tweak(from + uint32(i)); err != nil {
			return nil, err
		}
		points[i], digits[i] = affine{n.point.X, n.point.Y}, tweaks[i].Bytes()
	}
	sums := newAdditions(count)
	for place := range base.of {
		for i := range points {
			if digit := digits[i][len(digits[i])-1-place]; digit > 0 {
				sums.add(&points[i], &base.of[place][digit-1])
			}
		}
		if !sums.finish() {
			return nil, fmt.Errorf("%w: no sum of children from index %d", ErrBadKeyRef, from)
		}
	}
	if !n.addUp(points, tweaks) {
		return nil, errWrongSum
	}
	return points, nil
}

// addUp reports whether the sum of all children is so many times their parent and the sum of their tweaks times the
// base point, which other code multiplies. It takes a fraction of what the children took, and a customer's money goes
// where the children say.
func (n *node) addUp(children []affine, tweaks []btcec.ModNScalar) bool {
	var sum, next, want, parents btcec.JacobianPoint
	var all, count btcec.ModNScalar
	for i := range children {
		point := children[i].jacobian()
		btcec.AddNonConst(&sum, &point, &next)
		sum = next
		all.Add(&tweaks[i])
	}
	count.SetInt(uint32(len(children)))
	btcec.ScalarMultNonConst(&count, &n.point, &parents)
	btcec.ScalarBaseMultNonConst(&all, &next)
	btcec.AddNonConst(&parents, &next, &want)
	sum.ToAffine()
	want.ToAffine()
	return sum.X.Equals(&want.X) && sum.Y.Equals(&want.Y)
}
