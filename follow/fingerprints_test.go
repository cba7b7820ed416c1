package follow

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestFingerprintsNeverDenyAMember(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newFingerprints()
		texts := rapid.SliceOfN(rapid.String(), 0, 300).Draw(t, "texts")
		for _, s := range texts {
			f.add(s)
			f.add(s)
		}
		for _, s := range texts {
			if !f.has(s) {
				t.Fatalf("%q is denied", s)
			}
			if lower := strings.Map(asciiLower, s); utf8.ValidString(s) && !f.hasFolded([]byte(lower)) {
				t.Fatalf("%q is denied as %q", s, lower)
			}
		}
	})
}

func asciiLower(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

func TestFingerprintsRejectNonMembers(t *testing.T) {
	f := newFingerprints()
	for i := range 100_000 {
		f.add(fmt.Sprint("member ", i))
	}
	for i := range 100_000 {
		if f.has(fmt.Sprint("other ", i)) {
			t.Fatalf("non-member %d counts as a member", i)
		}
	}
	if f.count != 100_000 {
		t.Errorf("got %d members, want 100_000", f.count)
	}
}

// BenchmarkFingerprints queries a set of ten million addresses, and reports the memory per address.
func BenchmarkFingerprints(b *testing.B) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const size = 10_000_000
	f := newFingerprints()
	for i := range size {
		f.add(fmt.Sprintf("bc1q%038d", i))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	asked := make([]string, 4096)
	for i := range asked {
		asked[i] = fmt.Sprintf("bc1q%038d", i*7919+size)
	}
	b.ResetTimer()
	for i := range b.N {
		if f.has(asked[i%len(asked)]) {
			b.Fatal("a non-member counts as a member")
		}
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/size, "bytes/address")
}
