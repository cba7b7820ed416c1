package bursar

// transitions lists, for every status, the ones that may follow it. What is not listed never happens.
type transitions[S comparable] map[S][]S

func (t transitions[S]) allow(from, to S) bool {
	for _, next := range t[from] {
		if next == to {
			return true
		}
	}
	return false
}
