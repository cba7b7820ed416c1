package follow

import "hash/maphash"

// fingerprints is a set of texts kept as 64-bit hashes under a seed of this process: about 12 bytes each, so that ten
// million addresses stay near 130 MB. It never forgets and never denies a member; it takes another text for one about
// once in 10^12 questions at that size, or if it differs in the case of its letters alone, and the caller looks again.
type fingerprints struct {
	seed  maphash.Seed
	slots []uint64 // open addressing with linear probing; 0 is empty
	count int
}

func newFingerprints() *fingerprints {
	return &fingerprints{seed: maphash.MakeSeed(), slots: make([]uint64, 1024)}
}

// hash takes all letters of the ASCII alphabet for small ones.
func (f *fingerprints) hash(s string) uint64 {
	var room [128]byte
	lower := append(room[:0], s...)
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return f.folded(lower)
}

func (f *fingerprints) folded(lower []byte) uint64 { return max(maphash.Bytes(f.seed, lower), 1) }

// slot returns where a hash stands or would stand.
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
