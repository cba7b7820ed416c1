package roster

import (
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/sshsig"
)

// LongestWindow is the longest window of a rule: how long a signer remembers what left by it.
const LongestWindow = 7 * 24 * time.Hour

func unsound(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsound, fmt.Sprintf(format, args...))
}

// sound refuses a policy that contradicts itself, or under which a quorum could never meet.
func (p Policy) sound() error {
	switch {
	case p.Version < 1 || (p.Version == 1) != (p.Previous == approval.Hash{}):
		return unsound("version %d with the hash before it %s", p.Version, p.Previous)
	case p.Authors < 1 || p.Destinations < 1:
		return unsound("authors and destinations must each be signed by somebody")
	case p.NotBefore.Before(p.Created):
		return unsound("it begins before it is made")
	}
	for _, check := range []func() error{p.soundAssets, p.soundPeople, p.soundRules, p.soundScreening,
		p.soundPasskeys} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (p Policy) soundAssets() error {
	names := make([]string, len(p.Assets))
	of := map[string]bool{}
	for i, a := range p.Assets {
		key := string(a.Chain) + " " + a.Contract
		if names[i] = a.Name; of[key] || !approval.IsName(string(a.Chain)) {
			return unsound("the asset of %s is there twice, or its chain has no name", a.Name)
		}
		of[key] = true
	}
	if !sorted(names) {
		return unsound("the assets must be sorted by name, each once")
	}
	return nil
}

// soundPeople refuses one key for two persons: it would count twice.
func (p Policy) soundPeople() error {
	var names []string
	owner := map[sshsig.Key]string{}
	for _, one := range p.People {
		names = append(names, one.Name)
		var keys []string
		for _, key := range one.Keys {
			if owner[key] != "" {
				return unsound("%s and %s have the same key", owner[key], one.Name)
			}
			owner[key] = one.Name
			keys = append(keys, key.String())
		}
		if len(keys)+len(one.Passkeys) == 0 || !sorted(keys) || !sorted(one.Roles) ||
			slices.ContainsFunc(one.Roles, func(role string) bool { return !approval.IsName(role) }) {
			return unsound("%s must have keys and roles, both sorted", one.Name)
		}
		if !one.Until.After(p.NotBefore) {
			return unsound("%s ends before it begins", one.Name)
		}
	}
	if !sorted(names) {
		return unsound("the people must be sorted by name, each once")
	}
	if err := p.enough(RoleAuthor, p.Authors, usualKinds, "the next version"); err != nil {
		return err
	}
	return p.enough(RoleApprover, p.Destinations, usualKinds, "a destination")
}

// enough refuses a requirement that fewer persons than needed could meet with the keys that count.
func (p Policy) enough(role string, need int, kinds []KeyKind, what string) error {
	n := 0
	for _, one := range p.People {
		if slices.Contains(one.Roles, role) && one.signsBy(kinds) {
			n++
		}
	}
	if n < need {
		return unsound("%s needs %d of role %s, and there are %d", what, need, role, n)
	}
	return nil
}

func (p Policy) soundRules() error {
	seen := map[string]bool{}
	for _, r := range p.Rules {
		if seen[r.ID] {
			return unsound("two rules are called %s", r.ID)
		}
		seen[r.ID] = true
		if err := p.soundRule(r); err != nil {
			return err
		}
	}
	return nil
}

func (p Policy) soundRule(r Rule) error {
	withdrawals := slices.Contains(r.For, KindWithdrawal)
	switch {
	case !sorted(r.For) || slices.ContainsFunc(r.For, func(kind string) bool { return !slices.Contains(kinds, kind) }):
		return unsound("%s is for %v, want some of %v, sorted", r.ID, r.For, kinds)
	case !sorted(r.Assets):
		return unsound("%s must have its assets sorted, each once", r.ID)
	case r.Deny && r.To == ToListed:
		return unsound("%s: a deny goes to any, to own or to one address", r.ID)
	case r.Deny:
		return nil
	case withdrawals && (len(r.For) > 1 || r.To != ToListed && r.To != ToAny):
		return unsound("%s: withdrawals have rules of their own, and go to listed or any", r.ID)
	case !withdrawals && (r.To != ToOwn || r.Need > 0 || r.Hours != ""):
		return unsound("%s: what moves our own money goes to own, and nobody approves it", r.ID)
	case r.Hold > 0 && r.Need == 0:
		return unsound("%s has a hold without approvals from which it could begin", r.ID)
	}
	if err := p.soundBounds(r); err != nil {
		return err
	}
	for _, name := range r.Assets {
		if !slices.ContainsFunc(p.Assets, func(a Asset) bool { return a.Name == name }) {
			return unsound("%s names %s, which has no price", r.ID, name)
		}
	}
	if r.Need > 0 {
		return p.enough(r.Role, r.Need, r.Counts(), "rule "+r.ID)
	}
	return nil
}
