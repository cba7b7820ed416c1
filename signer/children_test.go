package signer

import (
	"bytes"
	"errors"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/bursar/bursar/chain"
)

func publicKeysOf(t testing.TB, seed byte) *Deriver {
	t.Helper()
	keys, err := KeysFromSeed(bytes.Repeat([]byte{seed}, 64), Testnet)
	if err != nil {
		t.Fatal(err)
	}
	return keys.public
}

// A key that is derived with others is the key that is derived alone, whatever the family, the branch and the number.
func TestKeysDerivedTogetherAreThoseDerivedAlone(t *testing.T) {
	t.Parallel()
	d := publicKeysOf(t, 7)
	for family := range d.nodes {
		for _, first := range []chain.KeyRef{
			{Family: family},
			{Family: family, Branch: chain.OwnBranch, Index: 3},
			{Family: family, Index: 1 << 20},
			{Family: family, Index: chain.EpochIndexes - 40},
		} {
			for _, n := range []int{0, 1, 2, 40} {
				got, err := d.Publics(first, n)
				if err != nil || len(got) != n {
					t.Fatalf("%d keys from %+v: %d, %v", n, first, len(got), err)
				}
				for i := range got {
					ref := first
					ref.Index += uint32(i)
					short := parsedKey(t, got[i]).SerializeCompressed()
					if want, err := d.Public(ref); err != nil || !bytes.Equal(short, want) {
						t.Errorf("%+v, of %d from %d on: %x, want %x, %v", ref, n, first.Index, short, want, err)
					}
				}
			}
		}
	}
}

func parsedKey(t *testing.T, pub chain.PublicKey) *btcec.PublicKey {
	t.Helper()
	key, err := btcec.ParsePubKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestPublicsRefuses(t *testing.T) {
	t.Parallel()
	d := publicKeysOf(t, 7)
	for name, c := range map[string]struct {
		first chain.KeyRef
		n     int
		want  error
	}{
		"an unknown family":     {chain.KeyRef{Family: "unknown"}, 1, ErrUnknownFamily},
		"a family on ed25519":   {chain.KeyRef{Family: "solana"}, 1, ErrNeedsSeed},
		"an unknown branch":     {chain.KeyRef{Family: "bitcoin", Branch: branches}, 1, ErrBadKeyRef},
		"an index past the end": {chain.KeyRef{Family: "bitcoin", Index: hardened - 1}, 2, ErrBadKeyRef},
		"more than there are":   {chain.KeyRef{Family: "bitcoin"}, int(hardened) + 1, ErrBadKeyRef},
	} {
		if got, err := d.Publics(c.first, c.n); !errors.Is(err, c.want) || got != nil {
			t.Errorf("%s: %d keys, %v, want %v", name, len(got), err, c.want)
		}
	}
}

// Whatever goes wrong with one of many points is noticed before anybody gets one.
func TestPointsThatDoNotAddUpAreNoticed(t *testing.T) {
	t.Parallel()
	d := publicKeysOf(t, 7)
	base := newMultiples()
	parent := d.nodes["bitcoin"][chain.DepositBranch]
	const n = 20
	points, err := parent.children(base, 5, n)
	if err != nil {
		t.Fatal(err)
	}
	tweaks := make([]btcec.ModNScalar, n)
	for i := range tweaks {
		tweaks[i], _, _ = parent.tweak(5 + uint32(i))
	}
	if !parent.addUp(points, tweaks) {
		t.Fatal("points that are right do not add up")
	}
	for i := range points {
		right := points[i]
		points[i] = base.of[0][i] // on the curve, and another one
		if parent.addUp(points, tweaks) {
			t.Errorf("point %d is wrong, and all add up", i)
		}
		points[i] = right
	}
	base.of[9][parent.digit(t, 5, 9)-1].x.AddInt(1).Normalize() // as a bit that flips in memory
	if _, err := parent.children(base, 5, n); !errors.Is(err, errWrongSum) {
		t.Errorf("with a wrong multiple of the base point: %v, want %v", err, errWrongSum)
	}
}

// digit returns a digit of a child's tweak.
func (n *node) digit(t *testing.T, index uint32, place int) byte {
	t.Helper()
	tweak, _, err := n.tweak(index)
	if err != nil {
		t.Fatal(err)
	}
	digits := tweak.Bytes()
	if digits[31-place] == 0 {
		t.Fatalf("the tweak of %d has no digit at place %d: choose another place", index, place)
	}
	return digits[31-place]
}

// Points with one x coordinate have no slope: what would be derived with them is derived alone.
func TestPointsWithoutASlopeAreNotAdded(t *testing.T) {
	t.Parallel()
	base := newMultiples()
	two, three, five := base.of[0][1], base.of[0][2], base.of[0][4]
	negative := three
	negative.y.Negate(1).Normalize()
	for name, other := range map[string]affine{"itself": three, "its negative": negative} {
		sums, beside, to := newAdditions(2), two, three
		sums.add(&beside, &three)
		sums.add(&to, &other)
		if sums.finish() {
			t.Errorf("a point and %s were added", name)
		}
		to = three // what follows is not touched by that
		sums.add(&to, &two)
		if !sums.finish() || to != five {
			t.Errorf("after a point and %s: 3 and 2 times the base point are not 5 times", name)
		}
	}
}

// BenchmarkPublics derives 512 keys; compare a 512th of it with BenchmarkPublic.
func BenchmarkPublics(b *testing.B) {
	d := publicKeysOf(b, 7)
	if _, err := d.Publics(chain.KeyRef{Family: "bitcoin"}, 1); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := d.Publics(chain.KeyRef{Family: "bitcoin"}, 512); err != nil {
			b.Fatal(err)
		}
	}
}
