package roster

import (
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/passkey"
)

// Vote is an approval that counts.
type Vote struct {
	approval.Approval
	Person  string
	With    KeyKind
	Passkey passkey.Key // as Voice has it
	Counter uint32
}

// Votes returns the approvals of an order that count at a time, and why the others do not: LastWords of what is Heard.
func (p Policy) Votes(o approval.Order, list []Signed, now time.Time) (votes []Vote, problems []error) {
	heard, problems := p.Heard(o, list, now)
	votes, outvoted := LastWords(heard)
	return votes, append(problems, outvoted...)
}

// Heard returns every approval of an order that counts by itself at a time, and why the others do not. A no counts
// until the order ends, whatever versions of the policy follow, with any key that the version in force or one that
// waits has for its person; a yes is of one version, and ends when it says. Which payment of the order each is for the
// caller compares.
func (p Policy) Heard(o approval.Order, list []Signed, now time.Time) (heard []Vote, problems []error) {
	hash := p.Hash()
	for _, s := range list {
		v, err := p.vote(o, hash, s, now)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		heard = append(heard, v)
	}
	return heard, problems
}

// LastWords returns one vote of each person who was heard: a no that nothing they said lifts, and otherwise what they
// signed last. A later yes that lifts not all is an error.
func LastWords(heard []Vote) (votes []Vote, outvoted []error) {
	for _, v := range heard {
		i := slices.IndexFunc(votes, func(one Vote) bool { return one.Person == v.Person })
		switch {
		case i < 0:
			votes = append(votes, v)
		case v.outweighs(votes[i], heard):
			votes[i] = v
		}
	}
	for _, v := range heard {
		for _, last := range votes {
			if last.Person == v.Person && last.Decision == approval.No && v.Decision != approval.No &&
				v.Supersedes(last.Approval) {
				outvoted = append(outvoted, fmt.Errorf("%w: %s said no at %s, and yes by a passkey at %s", ErrWeaker, v.Person,
					approval.Moment(last.Created), approval.Moment(v.Created)))
			}
		}
	}
	return votes, outvoted
}

// outweighs reports whether a vote counts instead of another one by the same person. A no that stands counts more than
// anything else, and of two the one by SSH.
func (v Vote) outweighs(other Vote, heard []Vote) bool {
	mine, theirs := v.stands(heard), other.stands(heard)
	switch {
	case mine != theirs:
		return mine
	case mine && v.With.Lifts(other.With) != other.With.Lifts(v.With):
		return v.With.Lifts(other.With)
	}
	return v.Supersedes(other.Approval)
}

// stands reports whether a vote is a no that nothing which was heard lifts.
func (v Vote) stands(heard []Vote) bool {
	return v.Decision == approval.No && !Lifted(v.Person, v.With, v.Created, heard)
}

// Lifted reports whether a person who said no with a kind of key, at a time, has said yes since with a kind that lifts
// it.
func Lifted(person string, with KeyKind, made time.Time, heard []Vote) bool {
	return slices.ContainsFunc(heard, func(v Vote) bool {
		return v.Person == person && v.Decision == approval.Yes && v.Created.After(made) && v.With.Lifts(with)
	})
}

// Lifts reports whether a yes with a kind of key lifts a no with another. What a person reads before a passkey signs
// comes from the service: it lifts nothing that was signed by SSH.
func (k KeyKind) Lifts(no KeyKind) bool { return k != KeyPasskey || no == KeyPasskey }

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
