package follow

// addressSet is a set of 64-bit hashes of which it keeps 32 bits each, at a place that the other bits decide: five to
// ten bytes for each, so that ten million addresses stay below 100 MB. It never forgets a member and has no false
// negatives; a false positive happens about once in 10^8 queries, and the caller checks again.
//
// It grows by further layers, because the bits that are not kept decide the place: nothing can be moved. Each is as
// large as those before it together, so there are few.
type addressSet struct {
	layers []layer // only the last one is added to
}

// layer is a table with open addressing and linear probing; 0 is empty.
type layer struct {
	slots []uint32
	count int
}

const (
	// smallestLayer is how many hashes a layer takes at least.
	smallestLayer = 16
	// firstLayer is how many hashes the first layer of the wallets' addresses takes at least: a set that grows from
	// nothing to millions then has few layers, each of which is asked.
	firstLayer = 32 << 10
)

// newAddressSet returns a set whose first layer takes a number of hashes.
func newAddressSet(expected int64) *addressSet {
	s := &addressSet{}
	s.grow(expected)
	return s
}

// expect prepares an empty set for a number of hashes, and a quarter more.
func (s *addressSet) expect(count int64) {
	if len(s.layers) == 1 && s.layers[0].count == 0 {
		s.layers = nil
		s.grow(max(count+count/4, firstLayer))
	}
}

func (s *addressSet) grow(hashes int64) {
	s.layers = append(s.layers, layer{slots: make([]uint32, max(hashes, smallestLayer)*5/4)})
}

// add adds a hash. Four of five slots of a layer are used at most.
func (s *addressSet) add(hash uint64) {
	if s.has(hash) {
		return
	}
	last := &s.layers[len(s.layers)-1]
	if last.count*5 >= len(last.slots)*4 {
		s.grow(s.len())
		last = &s.layers[len(s.layers)-1]
	}
	last.slots[last.slot(hash)] = kept(hash)
	last.count++
}

func (s *addressSet) len() (count int64) {
	for i := range s.layers {
		count += int64(s.layers[i].count)
	}
	return count
}

// fetch brings the places of hashes close to the processor, so that has finds them there: in a set of millions each is
// somewhere else in memory, and waiting for all of them at once takes little longer than waiting for one. What it
// returns means nothing: that, and that it is never inlined, keeps the compiler from leaving the reads out.
//
//go:noinline
func (s *addressSet) fetch(hashes []uint64) (mixed uint32) {
	for i := range s.layers {
		slots := s.layers[i].slots
		for _, hash := range hashes {
			mixed |= slots[place(hash, len(slots))]
		}
	}
	return mixed
}

func (s *addressSet) has(hash uint64) bool {
	for i := range s.layers {
		if l := &s.layers[i]; l.slots[l.slot(hash)] != 0 {
			return true
		}
	}
	return false
}

// kept is the half of a hash that is kept; the other half decides its place. It is the upper one, because parts are in
// the order of their hashes: places of what is added one after the other must not be neighbours.
func kept(hash uint64) uint32 { return max(uint32(hash>>32), 1) }

// place is the index at which a hash is, or would be, or behind which.
func place(hash uint64, slots int) int { return int(uint64(uint32(hash)) * uint64(slots) >> 32) }

// slot returns the index at which a hash is or would be.
func (l *layer) slot(hash uint64) int {
	i, want := place(hash, len(l.slots)), kept(hash)
	for l.slots[i] != 0 && l.slots[i] != want {
		if i++; i == len(l.slots) {
			i = 0
		}
	}
	return i
}
