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

// smallestLayer is how many hashes the first layer takes at least.
const smallestLayer = 1024

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
		s.grow(count + count/4)
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

// slot returns the index at which a hash is or would be.
func (l *layer) slot(hash uint64) int {
	i, want := int(uint64(uint32(hash))*uint64(len(l.slots))>>32), kept(hash)
	for l.slots[i] != 0 && l.slots[i] != want {
		if i++; i == len(l.slots) {
			i = 0
		}
	}
	return i
}
