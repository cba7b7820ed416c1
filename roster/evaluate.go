package roster

import (
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
)

// Question is one payment that is asked about, with what the signer knows of it.
type Question struct {
	Kind     string
	Chain    bursar.ChainID
	Contract string // canonical; empty for the native asset
	To       bursar.Address
	Units    bursar.Amount
	Now      time.Time

	Listed bool                // its destination is signed and past its hold
	Passed time.Time           // when a screening service of the policy passed it; zero: none did, or it has expired
	Signed map[string][]string // by role, the persons whose approvals count; each once
	// With says with which kind of key each of them signed; one who is missing signed by SSH.
	With  map[string]KeyKind
	Again bool // it was allowed before, in another transaction: only people allow it again
	// Since is when the signer first saw what a rule needs; zero: not before now.
	Since func(rule string) time.Time
	// Fee is its share of the most that its transaction can cost, in units of the chain's native asset.
	Fee bursar.Amount
	// Ordered says that a client of its account signed it: otherwise whose it is, only the service says.
	Ordered bool
	// Used is how much of a measure counts by a rule from a time on, without this payment; of MeasureAccount, for its
	// account. Where the transaction replaces another, only the dearer of both counts.
	Used func(of Measure, rule string, from time.Time) Value
}

// Condition names a requirement that a payment does not meet.
type Condition string

// The conditions of an allow, in the order in which they are checked.
const (
	Matches     Condition = "policy"      // no rule allows it, one denies it, or it is worth too much
	Destination Condition = "destination" // its destination is not signed, or in its hold
	Approved    Condition = "approved"    // approvals are missing
	Held        Condition = "hold"        // its approvals are not old enough
	InHours     Condition = "hours"       // not at this time of the week
	InWindow    Condition = "window"      // a window of the rule has no room: of worth, fees, payments or an account
	Screened    Condition = "screened"    // no screening service of the policy passed it lately
)

var progress = []Condition{Matches, Destination, Approved, Held, InHours, InWindow, Screened}

// Answer is a policy's decision about a payment.
type Answer struct {
	Allowed bool
	Rule    string // that allows it, denies it, or comes closest to allowing it; empty: none is about it
	Worth   Value
	Lacks   Condition // where it is not allowed
	Detail  string
	// Holds names the rules whose approvals are complete and whose hold begins now, if the signer notes it.
	Holds []string
}

// Evaluate evaluates a payment. A deny wins; otherwise the payment is allowed if it meets all conditions of one allow,
// and it counts for the strictest of those that it meets: the one with the most approvals, then with the longest hold.
// Adding a deny or removing an allow never allows more.
func (p Policy) Evaluate(q Question) Answer {
	asset, priced := p.asset(q.Chain, q.Contract)
	if a, denied := p.denied(q, asset); denied {
		return a
	}
	if !priced && (q.Kind == KindWithdrawal || q.Kind == KindGasTopUp || q.Kind == KindToCold) {
		return Answer{Lacks: Matches, Detail: fmt.Sprintf("the policy has no price of asset %s of %s, so it cannot leave",
			shown(q.Contract), q.Chain)}
	}
	best := Answer{Worth: asset.worth(q.Units), Lacks: Matches,
		Detail: fmt.Sprintf("no rule is about a %s of %s on %s", q.Kind, shown(q.Contract), q.Chain)}
	var holds []string
	for _, r := range slices.SortedFunc(slices.Values(p.Rules), compareRules) {
		if r.Deny || !r.isAbout(q, asset) {
			continue
		}
		a := r.evaluate(q, p, asset.worth(q.Units))
		if a.Lacks == Held && r.since(q).IsZero() {
			holds = append(holds, r.ID)
		}
		if a.Allowed || best.Rule == "" || slices.Index(progress, best.Lacks) < slices.Index(progress, a.Lacks) {
			best = a
		}
		if best.Allowed {
			break
		}
	}
	best.Holds = holds
	return best
}

func shown(contract string) string {
	if contract == "" {
		return "native"
	}
	return contract
}

// denied returns the answer of the first deny that matches a payment.
func (p Policy) denied(q Question, asset Asset) (Answer, bool) {
	worth := asset.worth(q.Units)
	for _, r := range p.Rules {
		if !r.Deny || !r.isAbout(q, asset) || !r.goesTo(q) || !r.Each.IsZero() && !r.Each.Less(worth) {
			continue
		}
		return Answer{Rule: r.ID, Worth: worth, Lacks: Matches, Detail: "rule " + r.ID + " denies it"}, true
	}
	return Answer{}, false
}

// isAbout reports whether a rule matches a payment of this kind and asset. An asset without a price matches only rules
// for every asset, and only between our own addresses.
func (r Rule) isAbout(q Question, asset Asset) bool {
	return slices.Contains(r.For, q.Kind) && (r.Assets == nil || slices.Contains(r.Assets, asset.Name))
}

func (r Rule) since(q Question) time.Time {
	if q.Since == nil {
		return time.Time{}
	}
	return q.Since(r.ID)
}

// evaluate evaluates a payment by one allow.
func (r Rule) evaluate(q Question, p Policy, worth Value) Answer {
	lacks := func(c Condition, format string, args ...any) Answer {
		return Answer{Rule: r.ID, Worth: worth, Lacks: c, Detail: "rule " + r.ID + ": " + fmt.Sprintf(format, args...)}
	}
	signed := r.Counted(q.Signed[r.Role], q.With)
	since := r.since(q)
	switch {
	case !r.Each.IsZero() && r.Each.Less(worth):
		return lacks(Matches, "it is worth %s %s, and at most %s are allowed", valueText(worth), p.Reference,
			valueText(r.Each))
	case r.feeUnknown(q, p):
		return Answer{Rule: r.ID, Worth: worth, Lacks: Matches, Detail: noFeePrice(r.ID, q.Chain)}
	case len(r.PerAccount) > 0 && !q.Ordered:
		return lacks(Matches, "it bounds what each account may take, and no client of the account signed the order")
	case r.To == ToListed && !q.Listed:
		return lacks(Destination, "%s is not a signed destination that is past its hold", q.To)
	case q.Again && r.Need == 0:
		return lacks(Approved, "it was allowed before in another transaction, and nobody is asked by this rule")
	case len(signed) < r.Need:
		return lacks(Approved, "%d of %d approvals by different persons of role %s%s", len(signed), r.Need, r.Role,
			r.others(q, len(signed)))
	case r.Hold > 0 && since.IsZero():
		return lacks(Held, "its approvals are complete, and it is held for %s from now on", span(r.Hold))
	case r.Hold > 0 && q.Now.Before(since.Add(r.Hold)):
		return lacks(Held, "it is held until %s", since.Add(r.Hold).UTC().Format(time.RFC3339))
	case !r.Hours.Open(q.Now):
		return lacks(InHours, "it is signed %s UTC only", r.Hours)
	}
	fee, _ := p.Worth(q.Chain, "", q.Fee)
	if why := r.full(q, p.Reference, addition{worth, fee, 1}); why != "" {
		return lacks(InWindow, "%s", why)
	}
	if why := r.screened(q); why != "" {
		return lacks(Screened, "%s", why)
	}
	return Answer{Allowed: true, Rule: r.ID, Worth: worth}
}
