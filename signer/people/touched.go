package people

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
)

// ErrCopied is returned for an approval by a passkey that somebody has copied, as its counter shows.
var ErrCopied = errors.New("the passkey was copied, as its counter shows")

// touchTime is how long after the time in an approval a passkey may sign it: a page asks for no longer than that. Two
// approvals that were made farther apart were signed in the order of their times.
const touchTime = 10 * time.Minute

// touchOf returns the approval of a vote by a passkey.
func touchOf(v roster.Vote) memory.Touch {
	return memory.Touch{Passkey: v.Passkey.String(), Nonce: v.Nonce.String(), Made: v.Created, Counter: v.Counter}
}

// contradict reports whether one passkey cannot have given two approvals: it counted the same for both, or less for the
// later one. One that counts does not stop; Web Authentication Level 3, section 6.1.1.
func contradict(a, b memory.Touch) bool {
	switch {
	case a.Nonce == b.Nonce || a.Counter == 0 && b.Counter == 0:
		return false
	case a.Counter == b.Counter:
		return true
	case a.Counter == 0:
		return !a.Made.Before(b.Made)
	case b.Counter == 0:
		return !b.Made.Before(a.Made)
	case a.Made.Add(touchTime).Before(b.Made):
		return b.Counter < a.Counter
	case b.Made.Add(touchTime).Before(a.Made):
		return a.Counter < b.Counter
	}
	return false
}

// uncopied refuses an approval by a passkey that contradicts one that counted before, for this or another transaction.
// It is not heeded against a no, which may stop a payment whoever says it.
//
// The attack: the secret of a passkey was copied, and signs beside it.
func (j *judging) uncopied(ctx context.Context, v roster.Vote) error {
	if v.With != roster.KeyPasskey || v.Decision == approval.No {
		return nil
	}
	this := touchOf(v)
	before, err := j.tx.Touches(ctx, this.Passkey)
	if err != nil {
		return err
	}
	for _, one := range slices.Concat(before, j.touched) {
		if one.Passkey == this.Passkey && contradict(one, this) {
			return fmt.Errorf("%w: the approval by %s has %d, and the one of %s has %d: take the passkey out of the policy",
				ErrCopied, v.Person, this.Counter, approval.Moment(one.Made), one.Counter)
		}
	}
	j.touched = append(j.touched, this)
	return nil
}

// touches returns the approvals by passkeys that count among votes; those of passkeys that do not count are nothing to
// compare with.
func touches(votes []roster.Vote) (list []memory.Touch) {
	for _, v := range votes {
		if v.With == roster.KeyPasskey && v.Counter > 0 {
			list = append(list, touchOf(v))
		}
	}
	return list
}
