package people

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/passkey"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
)

// ErrCopied is returned for an approval by a passkey that somebody has copied, as its counter shows.
var ErrCopied = errors.New("the passkey was copied, as its counter shows")

// touchTime is how long after the time in an approval a passkey may sign it: a page asks for no longer than that. Two
// approvals that were made farther apart were signed in the order of their times.
const touchTime = 10 * time.Minute

// touchOf returns what is remembered of an approval by a passkey.
func touchOf(v roster.VerifiedApproval) memory.Touch {
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

// touches reports whether a passkey signed yes: a rejection stops a payment regardless of who made it.
func touches(v roster.VerifiedApproval) bool {
	return v.With == roster.KeyPasskey && v.Decision != approval.No
}

// genuine returns the approvals of an order without those by copied passkeys, and why these do not count. They are
// left out before the last of each person is taken: what a copy says is not its owner's last word.
//
// The attack: the secret of a passkey was copied, and signs beside it.
func (e *evaluating) genuine(
	ctx context.Context, o approval.Order, evidence chain.Order,
) (list []roster.Signed, copied []error, err error) {
	for _, s := range evidence.Approvals {
		one := roster.Signed{Text: s.Text, Signature: s.Signature}
		switch err := e.uncopied(ctx, o, one); {
		case errors.Is(err, ErrCopied):
			copied = append(copied, err)
		case err != nil:
			return nil, nil, err
		default:
			list = append(list, one)
		}
	}
	return list, copied, nil
}

// uncopied refuses an approval by a passkey that contradicts one that counted before, for this or another transaction.
func (e *evaluating) uncopied(ctx context.Context, o approval.Order, one roster.Signed) error {
	if !passkey.Is(one.Signature) {
		return nil
	}
	approvals, _ := e.policy.Approvals(o, []roster.Signed{one}, e.Now) // what does not count is named with the others
	for _, v := range approvals {
		if !touches(v) {
			continue
		}
		this := touchOf(v)
		before, err := e.tx.Touches(ctx, this.Passkey)
		if err != nil {
			return err
		}
		for _, other := range slices.Concat(before, e.touched) {
			if other.Passkey == this.Passkey && contradict(other, this) {
				return fmt.Errorf("%w: the approval by %s has %d, and the one of %s has %d: take the passkey out of the policy",
					ErrCopied, v.Person, this.Counter, approval.Moment(other.Made), other.Counter)
			}
		}
	}
	return nil
}

// touchesOf returns those of the approvals that passkeys signed; those of passkeys that do not count are nothing
// to compare with.
func touchesOf(approvals []roster.VerifiedApproval) (list []memory.Touch) {
	for _, v := range approvals {
		if v.With == roster.KeyPasskey && v.Counter > 0 {
			list = append(list, touchOf(v))
		}
	}
	return list
}
