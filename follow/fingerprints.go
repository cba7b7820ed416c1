package follow

import "hash/maphash"

// fingerprints is a set of texts kept as 64-bit hashes with a seed of this process: about 12 bytes each, so that ten
// million addresses stay near 130 MB. It never forgets a member and has no false negatives; a false positive happens
// about once in 10^12 queries at that size, or if a text differs from a member only in the case of its letters, and the
// caller checks again.
type fingerprints struct {
	seed  maphash.Seed
	slots []uint64 // open addressing with linear probing; 0 is empty
	count int
}

func newFingerprints() *fingerprints {
	return &fingerprints{seed: maphash.MakeSeed(), slots: make([]uint64, 1024)}
}

// hash treats ASCII capital letters as small letters.
func (f *fingerprints) hash(s string) uint64 {
	var buffer [128]byte
	lower := append(buffer[:0], s...)
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return f.folded(lower)
}

func (f *fingerprints) folded(lower []byte) uint64 { return max(maphash.Bytes(f.seed, lower), 1) }

// slot returns the index at which a hash is or would be stored.
func (f *fingerprints) slot(hash uint64) uint64 {
	mask := uint64(len(f.slots) - 1)
	i := hash & mask
	for f.slots[i] != 0 && f.slots[i] != hash {
		i = (i + 1) & mask
	}
	return i
}

func (f *fingerprints) add(s string) {
	if f.count*4 >= len(f.slots)*3 {
		f.grow()
	}
	hash := f.hash(s)
	if i := f.slot(hash); f.slots[i] == 0 {
		f.slots[i] = hash
		f.count++
	}
}

func (f *fingerprints) grow() {
	old := f.slots
	f.slots = make([]uint64, 2*len(old))
	for _, hash := range old {
		if hash != 0 {
			f.slots[f.slot(hash)] = hash
		}
	}
}

func (f *fingerprints) has(s string) bool { return f.slots[f.slot(f.hash(s))] != 0 }

// hasFolded is has for a text without capital letters.
func (f *fingerprints) hasFolded(lower []byte) bool { return f.slots[f.slot(f.folded(lower))] != 0 }
