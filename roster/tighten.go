package roster

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar/passkey"
	"github.com/bursar/bursar/sshsig"
)

// Tightened returns a policy as it applies while later versions are pending. What a later version tightens takes effect
// immediately: removed people, revoked keys, roles, screening keys and site of passkeys, shortened validity and new
// denials. A stolen key must not count for another day because the same text also loosens something. All other changes
// wait until their version begins. The policy keeps its version and its hash, under which it is approved. People who
// stay can reject with any key that one of these versions has for them: a rejection is safe, and a person whose new
// keys do not count yet can do nothing else.
func (p Policy) Tightened(later []Policy) Policy {
	if len(later) == 0 {
		return p
	}
	p.versions = append([]Policy{p}, later...)
	p.hash, p.People, p.Rules = p.Hash(), slices.Clone(p.People), slices.Clone(p.Rules)
	for _, next := range later {
		p.People = slices.DeleteFunc(p.People, func(one Person) bool { _, stays := next.Person(one.Name); return !stays })
		for i, one := range p.People {
			p.People[i] = one.limitedTo(next)
			if next.Site != p.Site { // the old site is given up, and the new one has not started
				p.People[i].Passkeys = nil
			}
		}
		p.Screeners = slices.DeleteFunc(slices.Clone(p.Screeners),
			func(k ed25519.PublicKey) bool { return !hasScreener(next.Screeners, k) })
		for _, r := range next.Rules {
			if r.Deny {
				p.Rules = append(p.Rules, r)
			}
		}
		p.tightened = max(p.tightened, next.Version)
	}
	return p
}

// limitedTo removes from a person what a later version does not grant any more.
func (p Person) limitedTo(next Policy) Person {
	after, _ := next.Person(p.Name)
	p.Keys = slices.DeleteFunc(slices.Clone(p.Keys), func(k sshsig.Key) bool { return !slices.Contains(after.Keys, k) })
	p.Passkeys = slices.DeleteFunc(slices.Clone(p.Passkeys),
		func(k passkey.Key) bool { return !slices.Contains(after.Passkeys, k) })
	p.Roles = slices.DeleteFunc(slices.Clone(p.Roles), func(r string) bool { return !slices.Contains(after.Roles, r) })
	if after.Until.Before(p.Until) {
		p.Until = after.Until
	}
	return p
}

// By describes a policy: its version, and the newest version that has tightened it.
func (p Policy) By() string {
	if p.tightened > 0 {
		return fmt.Sprintf("%d+%d", p.Version, p.tightened)
	}
	return fmt.Sprint(p.Version)
}

// Unreachable lists the quorums that cannot be met at a time, because too few people with the role are left.
func (p Policy) Unreachable(now time.Time) (list []string) {
	lacks := func(role string, need int, kinds []KeyKind, what string) {
		n := 0
		for _, one := range p.People {
			if one.Has(role, now) && one.signsBy(kinds) {
				n++
			}
		}
		if n < need {
			list = append(list, fmt.Sprintf("%s needs %d of role %s, and there are %d", what, need, role, n))
		}
	}
	lacks(RoleAuthor, p.Authors, usualKinds, "the next version, or a thaw,")
	lacks(RoleApprover, p.Destinations, usualKinds, "a destination")
	for _, r := range p.Rules {
		if !r.Deny && r.Need > 0 {
			lacks(r.Role, r.Need, r.Counts(), "rule "+r.ID)
		}
		if r.Screened > 0 && len(p.Screeners) == 0 {
			list = append(list, "rule "+r.ID+" needs a pass of a screening service, and no screening key is left")
		}
	}
	return list
}

// Unbounded lists the rules without a limit, and the fees that no window counts.
func (p Policy) Unbounded() []string {
	return slices.Concat(p.Unlimited(), p.UnlimitedMoves(), p.Uncounted())
}

// Unlimited lists the rules for withdrawals that do not limit both a single payment and the sum within a window. A
// number of payments within a window limits the sum where each is limited; what an account may take does not.
func (p Policy) Unlimited() (list []string) {
	for _, r := range p.Rules {
		limited := len(r.Windows) > 0 || len(r.Payments) > 0 && !r.Each.IsZero()
		if r.Deny || limited || !slices.Contains(r.For, KindWithdrawal) {
			continue
		}
		who := "without any approval"
		if r.Need > 0 {
			who = fmt.Sprintf("with %d approvals", r.Need)
		}
		if r.Each.IsZero() {
			list = append(list, fmt.Sprintf("rule %s has no limit: %s, any amount may leave, any number of times", r.ID, who))
			continue
		}
		list = append(list, fmt.Sprintf("rule %s has no limit within a time: %s, up to %s %s may leave any number of times",
			r.ID, who, valueText(r.Each), p.Reference))
	}
	return list
}

// UnlimitedMoves is Unlimited of the rules for what moves among our own addresses.
func (p Policy) UnlimitedMoves() (list []string) {
	for _, r := range p.Rules {
		bounded := len(r.Windows)+len(r.Fees)+len(r.Payments) > 0
		if !r.Deny && !bounded && !slices.Contains(r.For, KindWithdrawal) {
			list = append(list, fmt.Sprintf("rule %s has no limit: what moves among our own addresses is bounded by the "+
				"configuration of the signer alone", r.ID))
		}
	}
	return list
}
