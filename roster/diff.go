package roster

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bursar/bursar/approval"
)

// Change is one difference between two policies.
type Change struct {
	Loosens bool // it may allow what was not allowed
	What    string
}

// Diff lists the differences between a policy and the one that it follows. Whatever is not clearly a tightening counts
// as loosening: a renamed rule, for example, begins with unused windows.
func Diff(old, next Policy) (list []Change) {
	add := func(loosens bool, format string, args ...any) {
		list = append(list, Change{loosens, fmt.Sprintf(format, args...)})
	}
	if old.Network != next.Network || old.Reference != next.Reference {
		add(true, "the network or the reference currency changes")
	}
	if old.Authors != next.Authors {
		add(next.Authors < old.Authors, "authors: %d instead of %d", next.Authors, old.Authors)
	}
	if old.Destinations != next.Destinations {
		add(next.Destinations < old.Destinations, "destinations: %d instead of %d", next.Destinations, old.Destinations)
	}
	if old.Hold != next.Hold {
		add(next.Hold < old.Hold, "destination_hold: %s instead of %s", span(next.Hold), span(old.Hold))
	}
	diffScreeners(old, next, add)
	diffSite(old, next, add)
	diffEpoch(old, next, add)
	diffAssets(old, next, add)
	diffPeople(old, next, add)
	diffRules(old, next, add)
	return list
}

// Loosens reports whether any difference loosens.
func Loosens(changes []Change) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return c.Loosens })
}

type adder func(loosens bool, format string, args ...any)

func diffAssets(old, next Policy, add adder) {
	for _, a := range next.Assets {
		before, found := old.asset(a.Chain, a.Contract)
		switch {
		case !found:
			add(true, "asset %s is new", a.Name)
		case before.Name != a.Name || before.Decimals != a.Decimals:
			add(true, "asset %s has another name or other decimals", a.Name)
		case before.Price != a.Price: // at a lower price more of it fits into every limit
			add(a.Price.Less(before.Price), "asset %s: price %s instead of %s", a.Name, valueText(a.Price),
				valueText(before.Price))
		}
	}
	for _, a := range old.Assets {
		if _, found := next.asset(a.Chain, a.Contract); !found {
			// Withdrawals and fees need a price; what moves our own money is worth nothing without one, in no limit.
			add(true, "asset %s is gone", a.Name)
		}
	}
}

func diffPeople(old, next Policy, add adder) {
	for _, one := range next.People {
		before, found := old.Person(one.Name)
		if !found {
			add(true, "person %s is new", one.Name)
			continue
		}
		if !before.Until.Equal(one.Until) {
			add(one.Until.After(before.Until), "person %s: until %s instead of %s", one.Name, approval.Moment(one.Until),
				approval.Moment(before.Until))
		}
		compareSets(before.Roles, one.Roles, "person "+one.Name+": role %s", true, add)
		compareSets(keysOf(before), keysOf(one), "person "+one.Name+": key %s", true, add)
		compareSets(passkeysOf(before), passkeysOf(one), "person "+one.Name+": passkey %s", true, add)
	}
	for _, one := range old.People {
		if _, found := next.Person(one.Name); !found {
			add(false, "person %s is gone", one.Name)
		}
	}
}

func keysOf(p Person) (list []string) {
	for _, key := range p.Keys {
		list = append(list, key.String())
	}
	return list
}

// compareSets lists what was added, which loosens if more does, and what was removed, which loosens otherwise.
func compareSets(old, next []string, format string, more bool, add adder) {
	for _, one := range next {
		if !slices.Contains(old, one) {
			add(more, format+" is new", one)
		}
	}
	for _, one := range old {
		if !slices.Contains(next, one) {
			add(!more, format+" is gone", one)
		}
	}
}

func diffRules(old, next Policy, add adder) {
	find := func(p Policy, r Rule) (Rule, bool) {
		i := slices.IndexFunc(p.Rules, func(one Rule) bool { return one.ID == r.ID && one.Deny == r.Deny })
		if i < 0 {
			return Rule{}, false
		}
		return p.Rules[i], true
	}
	for _, r := range next.Rules {
		before, found := find(old, r)
		switch {
		case !found && r.Deny:
			add(false, "deny %s is new", r.ID)
		case !found:
			add(true, "allow %s is new", r.ID)
		case r.Deny:
			diffDeny(before, r, add)
		default:
			diffAllow(before, r, add)
		}
	}
	for _, r := range old.Rules {
		if _, found := find(next, r); !found {
			add(r.Deny, "rule %s is gone", r.ID)
		}
	}
}

// diffScope compares the scope of two rules: a wider one loosens an allow and tightens a deny.
func diffScope(old, next Rule, name string, more bool, add adder) {
	compareSets(old.For, next.For, name+": for %s", more, add)
	switch {
	case old.Assets == nil && next.Assets == nil:
	case next.Assets == nil:
		add(more, "%s: every asset", name)
	case old.Assets == nil:
		add(!more, "%s: no longer every asset", name)
	default:
		compareSets(old.Assets, next.Assets, name+": asset %s", more, add)
	}
}

func diffDeny(old, next Rule, add adder) {
	name := "deny " + next.ID
	diffScope(old, next, name, false, add)
	same := len(old.addresses) > 0 && maps.Equal(old.addresses, next.addresses) // in another spelling
	if old.To != next.To && !same {
		add(true, "%s: to %s instead of %s", name, next.To, old.To)
	}
	if old.Each != next.Each {
		add(!next.Each.IsZero() && (old.Each.IsZero() || old.Each.Less(next.Each)), "%s: above %s instead of %s", name,
			optional(next.Each), optional(old.Each))
	}
}

func diffAllow(old, next Rule, add adder) {
	name := "allow " + next.ID
	diffScope(old, next, name, true, add)
	if old.To != next.To {
		add(next.To != ToListed, "%s: to %s instead of %s", name, next.To, old.To)
	}
	if old.Each != next.Each {
		add(next.Each.IsZero() || !old.Each.IsZero() && old.Each.Less(next.Each), "%s: each %s instead of %s", name,
			optional(next.Each), optional(old.Each))
	}
	after := next.bounds()
	for i, b := range old.bounds() {
		diffWindows(b, after[i], name, add)
	}
	if old.Need != next.Need || old.Role != next.Role {
		add(next.Need < old.Need || next.Role != old.Role && old.Need > 0, "%s: need %d %s instead of %d %s", name, next.Need,
			next.Role, old.Need, old.Role)
	}
	compareSets(textsOf(old.Counts()), textsOf(next.Counts()), name+": approvals by keys of kind %s", true, add)
	if old.Hold != next.Hold {
		add(next.Hold < old.Hold, "%s: hold %s instead of %s", name, span(next.Hold), span(old.Hold))
	}
	if old.Hours != next.Hours {
		add(!next.Hours.within(old.Hours), "%s: hours %q instead of %q", name, next.Hours, old.Hours)
	}
	if old.Screened != next.Screened {
		add(next.Screened == 0 || old.Screened > 0 && old.Screened < next.Screened, "%s: screened %s instead of %s", name,
			span(next.Screened), span(old.Screened))
	}
}

// diffWindows compares the windows of one measure. A new one tightens, whatever it holds.
func diffWindows(old, next bound, name string, add adder) {
	most := func(b bound, length time.Duration) (Value, bool) {
		i := slices.IndexFunc(b.windows, func(w Window) bool { return w.Length == length })
		if i < 0 {
			return Value{}, false
		}
		return b.windows[i].Most, true
	}
	for _, w := range next.windows {
		if before, found := most(old, w.Length); !found || before != w.Most {
			add(found && before.Less(w.Most), "%s: %s %s %s", name, next.of, span(w.Length), next.of.text(w.Most))
		}
	}
	for _, w := range old.windows {
		if _, found := most(next, w.Length); !found {
			add(true, "%s: %s %s is gone", name, old.of, span(w.Length))
		}
	}
}

// String says whether a change loosens, and what it is.
func (c Change) String() string {
	if c.Loosens {
		return "loosens:  " + c.What
	}
	return "tightens: " + c.What
}
