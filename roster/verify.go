package roster

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/passkey"
	"github.com/bursar/bursar/sshsig"
)

// LooseningWait is how long a policy that loosens anything waits on mainnet before it begins.
const LooseningWait = 24 * time.Hour

// clockTolerance is how far an approver's clock may be ahead of the signer's.
const clockTolerance = 2 * time.Minute

// Errors of signatures.
var (
	ErrNobody   = errors.New("the key that signed belongs to nobody in the policy")
	ErrQuorum   = errors.New("too few persons signed")
	ErrExpired  = errors.New("it has expired")
	ErrReplayed = errors.New("it is for something else")
	ErrForged   = errors.New("the signature is said to be by a key of the policy, which did not make it")
)

// SignedBy returns whose signature it is that verifies over a text, as of a time. The error is ErrNobody, ErrExpired,
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

// Quorum returns the persons of a role who signed a text, each once, or ErrQuorum if they are fewer than needed. A
// signature that does not count is named in the error.
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
// there is none: then its own authors sign. waits is the newest version that is yet to begin, or nil: where that
// tightens only, to take it back loosens. now is the signer's time. It returns who signed and what is different. The
// addresses of next are spelled as by Spell.
func Follows(
	before, waits *Policy, text string, signatures []string, network string, chains Chains, now time.Time,
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
	judge := next
	if before != nil {
		judge, changes = *before, Diff(*before, next)
		changes = append(changes, takenBack(*before, waits, next)...)
	}
	names, err = judge.Quorum(RoleAuthor, judge.Authors, approval.NamespacePolicy, text, signatures, now)
	if err == nil && network == "mainnet" && Loosens(changes) && next.NotBefore.Before(now.Add(LooseningWait)) {
		err = fmt.Errorf("%w: it loosens what is allowed and begins at %s: on mainnet that waits for %s; `policy diff` "+
			"says what", ErrUnsound, approval.Moment(next.NotBefore), span(LooseningWait))
	}
	return next, names, changes, err
}

// takenBack returns what a policy loosens that a version which is yet to begin would tighten. A version that loosens
// can be taken back at once, as a whole: people have a day to see that it should not begin.
func takenBack(before Policy, waits *Policy, next Policy) (list []Change) {
	if waits == nil || Loosens(Diff(before, *waits)) {
		return nil
	}
	for _, c := range Diff(*waits, next) {
		if c.Loosens {
			c.What += fmt.Sprintf(", compared with version %d, which waits", waits.Version)
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

// Vote is an approval that counts.
type Vote struct {
	approval.Approval
	Person  string
	With    KeyKind
	Passkey passkey.Key // as Voice has it
	Counter uint32
}

// Votes returns the approvals of an order that count at a time, and why the others do not. Each person has one: what
// they signed last. A no counts until the order ends, or the person says yes, whatever versions of the policy follow; a
// yes is of one version, and ends when it says. Which payment of the order each is for the caller compares.
func (p Policy) Votes(o approval.Order, list []Signed, now time.Time) (votes []Vote, problems []error) {
	hash := p.Hash()
	for _, s := range list {
		v, err := p.vote(o, hash, s, now)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		i := slices.IndexFunc(votes, func(one Vote) bool { return one.Person == v.Person })
		switch {
		case i < 0:
			votes = append(votes, v)
		case v.Supersedes(votes[i].Approval):
			votes[i] = v
		}
	}
	return votes, problems
}

// Supersedes reports whether a vote counts instead of another approval by the same person of the same order: the later
// one does, of two made within one second a no, and otherwise the one that lasts longer.
func (v Vote) Supersedes(other approval.Approval) bool {
	switch {
	case !v.Created.Equal(other.Created):
		return v.Created.After(other.Created)
	case v.Decision != other.Decision:
		return v.Decision == approval.No
	}
	return v.Expires.After(other.Expires)
}

func (p Policy) vote(o approval.Order, hash approval.Hash, s Signed, now time.Time) (v Vote, err error) {
	a, err := approval.ParseApproval(s.Text)
	if err != nil {
		return v, err
	}
	who, err := p.ApprovedBy(s.Text, s.Signature, now)
	if err != nil {
		return v, err
	}
	of, no := fmt.Sprintf("the approval by %s", who.Name), a.Decision == approval.No
	switch {
	case a.Order != o:
		return v, fmt.Errorf("%w: %s is of order %s", ErrReplayed, of, a.Order.ID)
	case !no && (a.Version != p.Version || a.Policy != hash):
		return v, fmt.Errorf("%w: %s is under version %d of the policy, which is at %d", ErrReplayed, of, a.Version,
			p.Version)
	case !no && !now.Before(a.Expires):
		return v, fmt.Errorf("%w: %s, at %s", ErrExpired, of, approval.Moment(a.Expires))
	case now.Add(clockTolerance).Before(a.Created):
		return v, fmt.Errorf("%w: %s was made at %s, which is yet to come", ErrReplayed, of, approval.Moment(a.Created))
	case !who.Has(a.Role, now):
		return v, fmt.Errorf("%w: %s is not of role %s", ErrNobody, who.Name, a.Role)
	case !no && who.Name == o.Requester:
		return v, fmt.Errorf("%w: %s ordered it", ErrNobody, who.Name)
	}
	return Vote{a, who.Name, who.With, who.Passkey, who.Counter}, nil
}

// Tally sorts votes: by role, the persons who say yes; and those who say no.
func Tally(votes []Vote) (yes map[string][]string, no []string) {
	yes = map[string][]string{}
	for _, v := range votes {
		if v.Decision == approval.No {
			no = append(no, v.Person)
		} else if !slices.Contains(yes[v.Role], v.Person) {
			yes[v.Role] = append(yes[v.Role], v.Person)
		}
	}
	return yes, no
}
