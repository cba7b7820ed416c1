package signer

import (
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer/memory"
)

// tally is what counts within the longest window, from a memory. Every signature is checked against it, so it is kept
// in the process, and is read again after a write of unknown outcome.
type tally map[tallyKey][]point

type tallyKey struct {
	chain bursar.ChainID
	class memory.Class
	asset string
}

// point is what a flow counts. The points of a tally have no order: a flow keeps its time while others are added.
type point struct {
	flow  int64
	at    time.Time
	units bursar.Amount
}

func (t tally) add(c memory.FlowCount) {
	key := tallyKey{c.Chain, c.Class, c.Asset}
	t[key] = append(t[key], point{c.Flow, c.At, c.Units})
}

// move replaces what a flow counted earlier, and drops what counts in no window from a time on.
func (t tally) move(c memory.FlowCount, now time.Time) {
	key := tallyKey{c.Chain, c.Class, c.Asset}
	t[key] = slices.DeleteFunc(t[key], func(p point) bool { return p.flow == c.Flow || now.Sub(p.at) > longest })
	t.add(c)
}

// sum returns what counts from a time on; beyond 128 bits the highest amount.
func (t tally) sum(key tallyKey, since time.Time) (total bursar.Amount) {
	for _, p := range t[key] {
		if p.at.Before(since) {
			continue
		}
		total = total.AddCapped(p.units)
	}
	return total
}

// counts returns what a transaction counts: what it pays to others, its highest fee, and whether it moves our own.
func (c *check) counts(at time.Time) ([]memory.Count, error) {
	list := []memory.Count{{Class: memory.Fees, Units: c.contents.Fee, At: at}}
	if c.movesUnderOrder() {
		return list, nil
	}
	if c.request.Kind == chain.KindToCold {
		return append(list, memory.Count{Class: memory.ToCold, Units: bursar.Units(1), At: at}), nil
	}
	if c.request.Kind != chain.KindWithdrawal {
		return append(list, memory.Count{Class: memory.Transfers, Units: bursar.Units(1), At: at}), nil
	}
	if !c.bounds.Withdrawals.IsZero() {
		list = append(list, memory.Count{Class: memory.Withdrawals, Units: bursar.Units(1), At: at})
	}
	for _, p := range c.request.Payments {
		i := slices.IndexFunc(list, func(l memory.Count) bool {
			return l.Class == memory.Payments && l.Asset == p.Contract
		})
		if i < 0 {
			list = append(list, memory.Count{Class: memory.Payments, Asset: p.Contract, Units: p.Amount, At: at})
			continue
		}
		var err error
		if list[i].Units, err = list[i].Units.Add(p.Amount); err != nil {
			return nil, c.refuse(ReasonQuota, "the payments' sum: %v", err)
		}
	}
	return list, nil
}

// quota refuses what would count more within a window than the policy allows.
//
// The attack: anyone who controls the service asks for any number of withdrawals in small amounts, or burns the money
// as fees of sweeps, gas top-ups and fee bumps that pay nobody else.
func (e *evaluator) quota(
	c *check, before *memory.Flow, wanted []memory.Count, state memory.State, now time.Time,
) error {
	for _, w := range wanted {
		limits := c.bounds.limitsOf(w.Class, w.Asset)
		if limits.IsZero() {
			if w.Class == memory.Payments && c.bounds.LimitsRequired {
				return c.refuse(ReasonQuota, "%s: the asset has no limit, and without one nothing leaves on mainnet: "+
					"set its hourly_limit, daily_limit or weekly_limit", described(w))
			}
			continue
		}
		for _, period := range windows {
			limit := period.limitFrom(limits)
			more := beyond(before, w, now, period.length)
			if limit.IsZero() || more.IsZero() {
				continue
			}
			if until := state.ColdSince.Add(period.length); !state.ColdSince.IsZero() && now.Before(until) {
				return c.refuse(ReasonQuota, "%s: what was signed before %s is not known, so %s counts as used up until %s "+
					"(see docs/operations/signer.md)", described(w), memory.Minute(state.ColdSince), period.setting(w.Class),
					memory.Minute(until))
			}
			key := tallyKey{c.bounds.Capabilities.ID, w.Class, w.Asset}
			if left := limit.SubOrZero(e.tally.sum(key, now.Add(-period.length))); left.Less(more) {
				w.Units = more
				return c.refuse(ReasonQuota, "%s", exceeds(w, left, limit, period))
			}
		}
	}
	return nil
}

// beyond returns how much of an amount does not count yet. Of unsigned transactions of which the chain includes at most
// one, the highest amount counts. An amount that grew and counts from now on must fit into the window as a whole,
// unless its earlier part counts within the window already.
func beyond(before *memory.Flow, wanted memory.Count, now time.Time, length time.Duration) bursar.Amount {
	counted, found := countOf(before, wanted.Class, wanted.Asset)
	switch {
	case !found:
		return wanted.Units
	case !counted.Units.Less(wanted.Units):
		return bursar.Amount{}
	case now.Sub(counted.At) > length:
		return wanted.Units
	}
	return wanted.Units.SubOrZero(counted.Units)
}

func countOf(f *memory.Flow, class memory.Class, asset string) (memory.Count, bool) {
	if f != nil {
		for _, c := range f.Counts {
			if c.Class == class && c.Asset == asset {
				return c, true
			}
		}
	}
	return memory.Count{}, false
}

// exceeds describes which amount exceeds a limit, and whether waiting helps.
func exceeds(wanted memory.Count, left, limit bursar.Amount, w window) string {
	what, setting := described(wanted), w.setting(wanted.Class)
	switch {
	case !limit.Less(wanted.Units):
		return fmt.Sprintf("%s exceed what %s allows within this %s, which is %s more", what, setting, w.name, left)
	case wanted.Class == memory.Payments:
		return fmt.Sprintf("%s exceed %s, which is %s: raise %s or cancel the withdrawal", what, setting, limit, setting)
	}
	return fmt.Sprintf("%s exceed %s, which is %s: raise %s", what, setting, limit, setting)
}
