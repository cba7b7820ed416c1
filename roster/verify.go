package roster

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/sshsig"
)

// LooseningWait is how long a policy that loosens anything waits on mainnet before it begins.
const LooseningWait = 24 * time.Hour

// Errors of signatures.
var (
	ErrNobody   = errors.New("the signing key belongs to nobody in the policy")
	ErrQuorum   = errors.New("too few persons signed")
	ErrExpired  = errors.New("expired")
	ErrReplayed = errors.New("signed for something else")
	ErrForged   = errors.New("the signature names a key of the policy, which did not make it")
	ErrWeaker   = errors.New("a rejection signed with SSH is lifted only with SSH")
)

// SignedBy verifies a signature over a text as of a time, and returns who signed. The error is ErrNobody, ErrExpired,
// ErrForged or one of sshsig.
func (p Policy) SignedBy(namespace, text, signature string, now time.Time) (Person, error) {
	key, err := sshsig.Verify(signature, namespace, []byte(text))
	if errors.Is(err, sshsig.ErrInvalid) && p.hasKey(key) {
		return Person{}, fmt.Errorf("%w: %s: %w", ErrForged, key.Fingerprint(), err)
	}
	if err != nil {
		return Person{}, err
	}
	i := slices.IndexFunc(p.People, func(one Person) bool { return slices.Contains(one.Keys, key) })
	if i < 0 {
		return Person{}, fmt.Errorf("%w: %s", ErrNobody, key.Fingerprint())
	}
	if err := p.People[i].lasts(now); err != nil {
		return Person{}, err
	}
	return p.People[i], nil
}

func (p Policy) hasKey(key sshsig.Key) bool {
	return slices.ContainsFunc(p.People, func(one Person) bool { return slices.Contains(one.Keys, key) })
}

// Quorum returns the persons of a role who signed a text, each once, or ErrQuorum if they are fewer than needed. The
// error names the signatures that do not count.
func (p Policy) Quorum(
	role string, need int, namespace, text string, signatures []string, now time.Time,
) (names []string, err error) {
	var problems []error
	for _, s := range signatures {
		one, err := p.SignedBy(namespace, text, s, now)
		switch {
		case err != nil:
			problems = append(problems, err)
		case !one.Has(role, now):
			problems = append(problems, fmt.Errorf("%s is not of role %s", one.Name, role))
		case !slices.Contains(names, one.Name):
			names = append(names, one.Name)
		}
	}
	if len(names) < need {
		return nil, errors.Join(append([]error{fmt.Errorf("%w: %d of %d of role %s", ErrQuorum, len(names), need, role)},
			problems...)...)
	}
	slices.Sort(names)
	return names, nil
}

// Follows checks a policy that was signed against the one in force, as later versions have tightened it, or nil where
// there is none: then its own authors sign. pending is the newest version that has not begun yet, or nil; if it only
// tightens, undoing it counts as loosening. now is the signer's time. It returns who signed and what is different. The
// addresses of next are in canonical form, as Spell makes them.
func Follows(
	before, pending *Policy, text string, signatures []string, network string, chains Chains, now time.Time,
) (next Policy, names []string, changes []Change, err error) {
	if next, err = Parse(text); err == nil {
		err = next.Spell(chains)
	}
	if err != nil {
		return next, nil, nil, err
	}
	if next.Network != network {
		return next, nil, nil, fmt.Errorf("%w: the network %s, want %s", ErrReplayed, next.Network, network)
	}
	evaluate := next
	if before != nil {
		evaluate, changes = *before, Diff(*before, next)
		changes = append(changes, takenBack(*before, pending, next)...)
	}
	names, err = evaluate.Quorum(RoleAuthor, evaluate.Authors, approval.NamespacePolicy, text, signatures, now)
	if err == nil && network == "mainnet" && Loosens(changes) && next.NotBefore.Before(now.Add(LooseningWait)) {
		err = fmt.Errorf("%w: the policy loosens what is allowed and begins at %s: on mainnet that waits for %s; `policy "+
			"diff` says what", ErrUnsound, approval.Moment(next.NotBefore), span(LooseningWait))
	}
	return next, names, changes, err
}

// takenBack returns what a policy loosens that a pending version would tighten. A pending version that loosens can be
// undone at once, as a whole: people have a day to notice that it must not begin.
func takenBack(before Policy, pending *Policy, next Policy) (list []Change) {
	if pending == nil || Loosens(Diff(before, *pending)) {
		return nil
	}
	for _, c := range Diff(*pending, next) {
		if c.Loosens {
			c.What += fmt.Sprintf(", compared with version %d, which waits", pending.Version)
			list = append(list, c)
		}
	}
	return list
}

// Signed is a text with one signature.
type Signed struct {
	Text      string
	Signature string
}

func (p Policy) verify(o approval.Order, hash approval.Hash, s Signed, now time.Time) (v VerifiedApproval, err error) {
	a, err := approval.ParseApproval(s.Text)
	if err != nil {
		return v, err
	}
	no := a.Decision == approval.No
	who, err := p.ApprovedBy(s.Text, s.Signature, now)
	if err != nil && no {
		who, err = p.deniedBy(s, err, now)
	}
	if err != nil {
		return v, err
	}
	of := fmt.Sprintf("the approval by %s", who.Name)
	switch {
	case a.Order != o:
		return v, fmt.Errorf("%w: %s is of order %s", ErrReplayed, of, a.Order.ID)
	case !no && (a.Version != p.Version || a.Policy != hash):
		return v, fmt.Errorf("%w: %s is under version %d of the policy, which is at %d", ErrReplayed, of, a.Version,
			p.Version)
	case !no && !now.Before(a.Expires):
		return v, fmt.Errorf("%w: %s, at %s", ErrExpired, of, approval.Moment(a.Expires))
	case now.Add(bursar.ClockTolerance).Before(a.Created):
		return v, fmt.Errorf("%w: %s was made at %s, which is yet to come", ErrReplayed, of, approval.Moment(a.Created))
	case !who.Has(a.Role, now):
		return v, fmt.Errorf("%w: %s is not of role %s", ErrNobody, who.Name, a.Role)
	case !no && who.Name == o.Requester:
		return v, fmt.Errorf("%w: %s ordered it", ErrNobody, who.Name)
	}
	return VerifiedApproval{a, who.Name, who.With, who.Passkey, who.Counter}, nil
}
