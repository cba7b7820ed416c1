package follow

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursar/bursar/store"
)

func TestTheAddressSetNeverDeniesAMember(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newAddressSet(rapid.Int64Range(0, 3000).Draw(t, "expected"))
		hashes := rapid.SliceOfN(rapid.Uint64(), 0, 6000).Draw(t, "hashes")
		for _, hash := range append([]uint64{0, 1, 1 << 32, ^uint64(0)}, hashes...) {
			s.add(hash)
			s.add(hash)
		}
		for _, hash := range hashes {
			if !s.has(hash) {
				t.Fatalf("%#x is denied, want it to be a member", hash)
			}
		}
	})
}

func TestTheAddressSetRejectsNonMembersInAllItsLayers(t *testing.T) {
	s := newAddressSet(firstLayer)
	for i := range 100_000 {
		s.add(store.FoldedHash(fmt.Sprint("member ", i)))
	}
	for i := range 100_000 {
		if !s.has(store.FoldedHash(fmt.Sprint("MEMBER ", i))) {
			t.Fatalf("member %d is denied, want it to be a member", i)
		}
		if s.has(store.FoldedHash(fmt.Sprint("other ", i))) {
			t.Fatalf("non-member %d counts as a member, want it to be none", i)
		}
	}
	if s.len() != 100_000 || len(s.layers) > 3 {
		t.Errorf("got %d members in %d layers, want 100000 in at most 3", s.len(), len(s.layers))
	}
}

// Parts come in the order of their hashes, into layers that are small at first: they must not gather in one place.
func TestTheAddressSetSpreadsHashesThatAscend(t *testing.T) {
	var hashes []uint64
	for i := range 100_000 {
		hashes = append(hashes, store.FoldedHash(fmt.Sprint("member ", i)))
	}
	slices.Sort(hashes)
	s := newAddressSet(0)
	for _, hash := range hashes {
		s.add(hash)
	}
	longest, run := 0, 0
	for _, l := range s.layers {
		for _, slot := range l.slots {
			if run++; slot == 0 {
				run = 0
			}
			longest = max(longest, run)
		}
	}
	if longest > 2000 {
		t.Errorf("%d slots in a row are used, want at most 2000", longest)
	}
}

// When parts are written for the first time, the first one makes room for all: each further layer would be asked by
// every look-up from then on.
func TestPartsThatAreWrittenForTheFirstTimeHaveOneLayer(t *testing.T) {
	const parts, each = 5, 50_000
	a := NewAddresses(nil, "evm")
	a.whole = parts
	for part := range parts {
		var hashes []uint64
		for i := range each {
			hashes = append(hashes, store.FoldedHash(fmt.Sprint("member ", part, " ", i)))
		}
		a.take(hashes)
	}
	if a.set.len() != parts*each || len(a.set.layers) != 1 || a.parts != parts {
		t.Errorf("%d parts have %d addresses in %d layers, want %d in one", a.parts, a.set.len(), len(a.set.layers),
			parts*each)
	}
}

// BenchmarkAddressSet queries a set of ten million addresses, and reports the memory per address.
func BenchmarkAddressSet(b *testing.B) {
	const size = 10_000_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := newAddressSet(0)
	s.expect(size)
	for i := range size {
		s.add(store.FoldedHash(fmt.Sprintf("bc1q%038d", i)))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	asked := make([]uint64, 1<<16)
	for i := range asked {
		asked[i] = store.FoldedHash(fmt.Sprintf("bc1q%038d", i*7919+size))
	}
	absent := func(b *testing.B, hash uint64) {
		if s.has(hash) {
			b.Fatal("a non-member counts as a member")
		}
	}
	memory := float64(after.HeapAlloc-before.HeapAlloc) / size
	b.Run("one by one", func(b *testing.B) {
		b.ReportMetric(memory, "bytes/address")
		for i := range b.N {
			absent(b, asked[i%len(asked)])
		}
	})
	b.Run("together", func(b *testing.B) {
		for i := range b.N {
			if at := i % len(asked); at%askedAtOnce == 0 {
				s.fetch(asked[at : at+askedAtOnce])
			}
			absent(b, asked[i%len(asked)])
		}
	})
}
