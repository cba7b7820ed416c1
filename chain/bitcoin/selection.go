package bitcoin

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// Bounds of a selection.
const (
	maxInputs = 500    // 34,000 vbytes; with the outputs well below the 100,000 that nodes relay
	maxExact  = 6      // UTXOs in a selection without change: more would cost more than a change output
	maxTries  = 50_000 // steps in the search for such a selection
)

var (
	errFeeLimit = errors.New("the fee would exceed the request's limit")
	errFeeRate  = errors.New("the fee would exceed the configured highest fee rate")
	errTooMany  = error(&chain.TooManyInputsError{Limit: maxInputs})
)

// choose selects UTXOs, besides the required ones, by the first of these methods that keeps all bounds:
//
//  1. a few UTXOs that leave so little that there is no change (branch and bound, after Bitcoin Core's
//     coinselection.cpp);
//  2. as many as needed in the given order, the core's preference, without those that turn out to be unnecessary;
//  3. the same with enough for change, if the rest would be too little for change and too much for a fee;
//  4. the largest first, if the preferred UTXOs are too small;
//  5. all, if the last satoshi matters: the other methods round up the cost of each UTXO.
//
// A UTXO that costs more than it is worth is never used. The error is a *chain.NeedsFundsError if all usable UTXOs
// together are too little; it says exactly how much smaller the payments would have to be.
func (n need) choose(required, candidates []candidate) (plan, error) {
	usable := slices.DeleteFunc(slices.Clone(candidates), func(c candidate) bool { return n.worth(c) <= 0 })
	if err := n.enough(required, usable); err != nil {
		return plan{}, err
	}
	largest := slices.Clone(usable)
	slices.SortStableFunc(largest, func(a, b candidate) int { return cmp.Compare(n.worth(b), n.worth(a)) })
	withChange := n.withChange()
	ways := []func() []candidate{
		func() []candidate { return n.exact(required, largest) },
		func() []candidate { return n.gather(required, usable, 0) },
		func() []candidate { return n.gather(required, usable, withChange) },
		func() []candidate { return n.gather(required, largest, 0) },
		func() []candidate { return n.gather(required, largest, withChange) },
		func() []candidate { return append(slices.Clone(required), usable...) },
	}
	var last error
	for _, way := range ways {
		chosen := way()
		if chosen == nil {
			continue
		}
		p, err := n.close(chosen)
		if err == nil {
			return p, nil
		}
		last = err
	}
	return plan{}, cmp.Or(last, errTooMany)
}

// worth returns the value of a UTXO less the cost of spending it.
func (n need) worth(c candidate) int64 {
	return int64(c.value) - int64(n.price.rate.fee(inputWeight/4)) - int64(c.bump)
}

// target returns the sum of worths that a selection without change needs, not counting the required UTXOs.
func (n need) target() int64 {
	return int64(n.total) + int64(n.price.rate.fee(vbytes(0, len(n.outputs), n.outputBytes)))
}

// withChange returns how much more the smallest change output needs.
func (n need) withChange() int64 {
	return int64(n.price.rate.fee(outputSize(n.changeScript)+2)) + int64(n.dust)
}

// enough returns a *chain.NeedsFundsError with the missing amount if all UTXOs, or as many as a transaction can have,
// are too little; and a *chain.TooManyInputsError if all of them would be enough but exceed the limit of inputs.
func (n need) enough(required, usable []candidate) error {
	all := slices.Clone(usable)
	if left := maxInputs - len(required); len(all) > left {
		slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.value, a.value) })
		all = all[:max(left, 0)]
	}
	var needs *chain.NeedsFundsError
	if _, err := n.close(append(slices.Clone(required), all...)); errors.As(err, &needs) {
		if len(all) < len(usable) && n.sum(usable)+n.sum(required) >= n.target() {
			return errTooMany
		}
		return needs
	}
	return nil // this selection is made only for its sum: it may break another bound
}

// gather takes UTXOs in order until they reach the target and extra, then drops the unnecessary ones, the smallest
// first.
func (n need) gather(required, candidates []candidate, extra int64) []candidate {
	target := n.target() + extra
	sum := n.sum(required)
	chosen := slices.Clone(required)
	for _, c := range candidates {
		if sum >= target && len(chosen) > 0 {
			break
		}
		if len(chosen) == maxInputs {
			return nil
		}
		chosen, sum = append(chosen, c), sum+n.worth(c)
	}
	if sum < target {
		return nil
	}
	bySize := slices.Clone(chosen[len(required):])
	slices.SortStableFunc(bySize, func(a, b candidate) int { return cmp.Compare(n.worth(a), n.worth(b)) })
	for _, c := range bySize {
		if len(chosen) > 1 && sum-n.worth(c) >= target {
			sum -= n.worth(c)
			chosen = slices.DeleteFunc(chosen, func(other candidate) bool { return other.from == c.from })
		}
	}
	return chosen
}

func (n need) sum(candidates []candidate) int64 {
	var sum int64
	for _, c := range candidates {
		sum += n.worth(c)
	}
	return sum
}

// exact searches for a few UTXOs whose worth is between the target and what the smallest change output needs: the
// excess could not become change anyway. UTXOs are sorted largest first.
func (n need) exact(required, candidates []candidate) []candidate {
	search := exactSearch{
		n: n, candidates: candidates, low: n.target() - n.sum(required), rest: make([]int64, len(candidates)+1),
	}
	search.high = search.low + n.withChange()
	search.best = search.high
	for i := len(candidates) - 1; i >= 0; i-- {
		search.rest[i] = search.rest[i+1] + n.worth(candidates[i])
	}
	if search.low <= 0 {
		return nil
	}
	search.from(0, 0, nil)
	if search.found == nil {
		return nil
	}
	return append(slices.Clone(required), search.found...)
}

type exactSearch struct {
	n          need
	candidates []candidate
	rest       []int64 // the worth of all UTXOs from an index on
	low, high  int64
	best       int64 // the smallest sum found, or high
	found      []candidate
	tries      int
}

// from tries, for the UTXO at an index and those after it, first with it and then without it.
func (s *exactSearch) from(i int, sum int64, chosen []candidate) {
	s.tries++
	switch {
	case sum >= s.best || s.tries > maxTries || s.best == s.low:
		return
	case sum >= s.low:
		s.best, s.found = sum, slices.Clone(chosen)
		return
	case i == len(s.candidates) || sum+s.rest[i] < s.low || len(chosen) == maxExact:
		return
	}
	s.from(i+1, sum+s.n.worth(s.candidates[i]), append(chosen, s.candidates[i]))
	next := i + 1
	for next < len(s.candidates) && s.candidates[next].value == s.candidates[i].value {
		next++ // without this one, another of the same value gives the same selection
	}
	s.from(next, sum, chosen)
}

// close computes fee and change of a selection exactly and checks the bounds.
func (n need) close(candidates []candidate) (plan, error) {
	var in, bump uint64
	for _, c := range candidates {
		in, bump = in+c.value, bump+c.bump
	}
	if size := vbytes(len(candidates), len(n.outputs)+1, n.outputBytes+outputSize(n.changeScript)); in >= n.total {
		fee := n.price.due(size, bump)
		if rest := int64(in-n.total) - int64(fee); rest >= int64(n.dust) {
			return n.bounded(plan{candidates: candidates, change: uint64(rest), fee: fee}, size)
		}
	}
	size := vbytes(len(candidates), len(n.outputs), n.outputBytes)
	if due := n.total + n.price.due(size, bump); in < due {
		return plan{}, &chain.NeedsFundsError{Missing: bursar.Units(due - in)}
	}
	return n.bounded(plan{candidates: candidates, fee: in - n.total}, size)
}

// due returns the fee for a size plus the bump of the parents, which is paid as far as the bound of the rate allows.
func (p price) due(size, bump uint64) uint64 {
	fee := p.fee(size)
	return max(fee, min(fee+bump, p.maxFee(size)))
}

func (n need) bounded(p plan, size uint64) (plan, error) {
	switch {
	case len(p.candidates) > maxInputs:
		return plan{}, errTooMany
	case p.fee > n.maxFee:
		return plan{}, fmt.Errorf("%w: %w", errFeeLimit,
			&chain.FeeLimitError{Fee: bursar.Units(p.fee), Limit: bursar.Units(n.maxFee)})
	case p.fee > n.price.maxFee(size):
		return plan{}, fmt.Errorf("%w: %d satoshi for %d vbytes", errFeeRate, p.fee, size)
	}
	return p, nil
}
