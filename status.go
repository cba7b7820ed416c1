package bursar

// transitions lists, for every status, the statuses that may follow it. A change that is not listed is never allowed.
type transitions[S comparable] map[S][]S

func (t transitions[S]) allow(from, to S) bool {
	for _, next := range t[from] {
		if next == to {
			return true
		}
	}
	return false
}
