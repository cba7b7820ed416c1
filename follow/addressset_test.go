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
	s := newAddressSet(0)
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
	if s.len() != 100_000 || len(s.layers) > 8 {
		t.Errorf("got %d members in %d layers, want 100000 in at most 8", s.len(), len(s.layers))
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
	asked := make([]string, 4096)
	for i := range asked {
		asked[i] = fmt.Sprintf("bc1q%038d", i*7919+size)
	}
	b.ResetTimer()
	for i := range b.N {
		if s.has(store.FoldedHash(asked[i%len(asked)])) {
			b.Fatal("a non-member counts as a member")
		}
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/size, "bytes/address")
}
