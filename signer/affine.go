package signer

import "github.com/btcsuite/btcd/btcec/v2"

// affine is a point of secp256k1 other than the one at infinity. Both coordinates are normalized.
type affine struct{ x, y btcec.FieldVal }

func (a *affine) jacobian() (p btcec.JacobianPoint) {
	p.X, p.Y = a.x, a.y
	p.Z.SetInt(1)
	return p
}

// multiples are the base point times each digit at each place of a number with 256 as its base, the lowest place first.
type multiples struct{ of [32][255]affine }

// newMultiples computes all in about ten milliseconds.
func newMultiples() *multiples {
	var m multiples
	var base btcec.JacobianPoint
	one := new(btcec.ModNScalar).SetInt(1)
	btcec.ScalarBaseMultNonConst(one, &base)
	for place := range m.of {
		base.ToAffine()
		row := make([]btcec.JacobianPoint, len(m.of[place]))
		next := base
		for digit := range row {
			row[digit] = next
			var sum btcec.JacobianPoint
			btcec.AddNonConst(&next, &base, &sum)
			next = sum
		}
		toAffine(row, m.of[place][:])
		base = next // 256 times the one of this place
	}
	return &m
}

// toAffine converts points, none of which is at infinity, with one inversion for all.
func toAffine(points []btcec.JacobianPoint, into []affine) {
	products := make([]btcec.FieldVal, len(points)) // of the Z up to each
	var product btcec.FieldVal
	product.SetInt(1)
	for i := range points {
		products[i] = *product.Mul(&points[i].Z)
	}
	inverse := product.Inverse()
	for i := len(points) - 1; i >= 0; i-- {
		z := *inverse // of 1/Z
		if i > 0 {
			z.Mul(&products[i-1])
		}
		inverse.Mul(&points[i].Z)
		var square btcec.FieldVal
		square.SquareVal(&z)
		into[i].x.Mul2(&points[i].X, &square).Normalize()
		into[i].y.Mul2(&points[i].Y, &square).Mul(&z).Normalize()
	}
}

// additions add points to others, all at the same time: the slope of each addition is a quotient, and one inversion
// serves all quotients (Montgomery's trick). What is added is public, so that nothing has to take a constant time.
type additions struct {
	to, of   []*affine
	run      []btcec.FieldVal // the differences of the x coordinates
	products []btcec.FieldVal // of the differences up to each
}

func newAdditions(most int) *additions {
	return &additions{
		to:       make([]*affine, 0, most),
		of:       make([]*affine, 0, most),
		run:      make([]btcec.FieldVal, 0, most),
		products: make([]btcec.FieldVal, 0, most),
	}
}

// add has finish add a point to another one, which is in no other addition until then.
func (a *additions) add(to, of *affine) { a.to, a.of = append(a.to, to), append(a.of, of) }

// finish does what was added so far. It returns false, and may have done a part, where two points have one x
// coordinate: their sum is the double of one or the point at infinity, which has no slope. Of random points one in
// 2^250 does.
func (a *additions) finish() bool {
	defer func() {
		a.to, a.of, a.run, a.products = a.to[:0], a.of[:0], a.run[:0], a.products[:0]
	}()
	var product btcec.FieldVal
	product.SetInt(1)
	for i := range a.to {
		var run btcec.FieldVal
		run.NegateVal(&a.to[i].x, 1).Add(&a.of[i].x).Normalize()
		if run.IsZero() {
			return false
		}
		a.run, a.products = append(a.run, run), append(a.products, *product.Mul(&run))
	}
	inverse := product.Inverse()
	for i := len(a.to) - 1; i >= 0; i-- {
		reciprocal := *inverse
		if i > 0 {
			reciprocal.Mul(&a.products[i-1])
		}
		inverse.Mul(&a.run[i])
		a.to[i].plus(a.of[i], &reciprocal)
	}
	return true
}

// plus adds a point whose x coordinate is another one, given the reciprocal of their difference (SEC 1, 2.2.1).
func (a *affine) plus(b *affine, reciprocal *btcec.FieldVal) {
	// The magnitude of each, as FieldVal asks for it, stands behind.
	var slope, square, xs, x, y, ownY btcec.FieldVal
	slope.NegateVal(&a.y, 1).Add(&b.y).Mul(reciprocal)  // 1
	square.SquareVal(&slope)                            // 1
	xs.Add2(&a.x, &b.x)                                 // 2
	x.NegateVal(&xs, 2).Add(&square).Normalize()        // 4, then 1
	ownY.NegateVal(&a.y, 1)                             // 2
	y.NegateVal(&x, 1).Add(&a.x).Mul(&slope).Add(&ownY) // 3
	a.x, a.y = x, *y.Normalize()
}
