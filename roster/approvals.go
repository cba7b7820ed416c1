package roster

import (
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/passkey"
)

// VerifiedApproval is an approval whose signature was verified, with the person who made it.
type VerifiedApproval struct {
	approval.Approval
	Person  string
	With    KeyKind
	Passkey passkey.Key // as Voice has it
	Counter uint32
}

// Approvals returns the latest decision of each person about an order, and why each of the other approvals does not
// count at a time.
func (p Policy) Approvals(
	o approval.Order, list []Signed, now time.Time,
) (approvals []VerifiedApproval, problems []error) {
	verified, problems := p.Verified(o, list, now)
	approvals, overruled := LatestDecisions(verified)
	return approvals, append(problems, overruled...)
}

// Verified returns every approval of an order that is valid by itself at a time, and why each of the others is not. A
// rejection counts until the order expires, under every later version of the policy, if its key is one that the version
// in force or the pending one has for its person. A yes counts for one version, and until it expires. The caller checks
// which payment of the order each approval is for.
func (p Policy) Verified(
	o approval.Order, list []Signed, now time.Time,
) (verified []VerifiedApproval, problems []error) {
	hash := p.Hash()
	for _, s := range list {
		v, err := p.verify(o, hash, s, now)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		verified = append(verified, v)
	}
	return verified, problems
}

// LatestDecisions returns one decision of each person: a rejection that none of their approvals lifts, or otherwise
// what they signed last. A later yes that does not lift every rejection is among the errors.
func LatestDecisions(verified []VerifiedApproval) (approvals []VerifiedApproval, overruled []error) {
	for _, v := range verified {
		i := slices.IndexFunc(approvals, func(one VerifiedApproval) bool { return one.Person == v.Person })
		switch {
		case i < 0:
			approvals = append(approvals, v)
		case v.outweighs(approvals[i], verified):
			approvals[i] = v
		}
	}
	for _, v := range verified {
		for _, last := range approvals {
			if last.Person == v.Person && last.Decision == approval.No && v.Decision != approval.No &&
				v.Supersedes(last.Approval) {
				overruled = append(overruled, fmt.Errorf("%w: %s said no at %s, and yes by a passkey at %s", ErrWeaker, v.Person,
					approval.Moment(last.Created), approval.Moment(v.Created)))
			}
		}
	}
	return approvals, overruled
}

// outweighs reports whether an approval counts instead of another one by the same person. A rejection that was not
// lifted outweighs everything else; of two, the one by SSH counts.
func (v VerifiedApproval) outweighs(other VerifiedApproval, verified []VerifiedApproval) bool {
	mine, theirs := v.stands(verified), other.stands(verified)
	switch {
	case mine != theirs:
		return mine
	case mine && v.With.Lifts(other.With) != other.With.Lifts(v.With):
		return v.With.Lifts(other.With)
	}
	return v.Supersedes(other.Approval)
}

// stands reports whether an approval is a rejection that none of the verified approvals lifts.
func (v VerifiedApproval) stands(verified []VerifiedApproval) bool {
	return v.Decision == approval.No && !Lifted(v.Person, v.With, v.Created, verified)
}

// Lifted reports whether a person who signed a rejection with a kind of key, at a time, has signed an approval since
// with a kind that lifts it.
func Lifted(person string, with KeyKind, made time.Time, verified []VerifiedApproval) bool {
	return slices.ContainsFunc(verified, func(v VerifiedApproval) bool {
		return v.Person == person && v.Decision == approval.Yes && v.Created.After(made) && v.With.Lifts(with)
	})
}

// Lifts reports whether a yes with a kind of key lifts a rejection with another. What a person reads before a passkey
// signs comes from the service, so a passkey lifts nothing that was signed by SSH.
func (k KeyKind) Lifts(no KeyKind) bool { return k != KeyPasskey || no == KeyPasskey }

// Supersedes reports whether an approval counts instead of another one by the same person of the same order: the later
// one counts; of two made within one second the rejection, and otherwise the one that expires later.
func (v VerifiedApproval) Supersedes(other approval.Approval) bool {
	switch {
	case !v.Created.Equal(other.Created):
		return v.Created.After(other.Created)
	case v.Decision != other.Decision:
		return v.Decision == approval.No
	}
	return v.Expires.After(other.Expires)
}

// Tally returns the persons who said yes, by role, and those who said no.
func Tally(approvals []VerifiedApproval) (yes map[string][]string, no []string) {
	yes = map[string][]string{}
	for _, v := range approvals {
		if v.Decision == approval.No {
			no = append(no, v.Person)
		} else if !slices.Contains(yes[v.Role], v.Person) {
			yes[v.Role] = append(yes[v.Role], v.Person)
		}
	}
	return yes, no
}
