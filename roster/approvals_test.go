package roster

import (
	"errors"
	"testing"
	"time"

	"github.com/bursar/bursar/approval"
)

// Of what one person signed, in any sequence, one decision counts: each case is a decision, a kind of key and a second.
func TestTheLatestDecisionOfAPerson(t *testing.T) {
	t.Parallel()
	said := func(decision approval.Decision, with KeyKind, second int) VerifiedApproval {
		return VerifiedApproval{Approval: approval.Approval{Decision: decision,
			Created: noon.Add(time.Duration(second) * time.Second), Expires: noon.Add(time.Hour)}, Person: "ann", With: with}
	}
	type verified = []VerifiedApproval
	const yes, no = approval.Yes, approval.No
	for name, test := range map[string]struct {
		said verified
		want int // of said
		weak int // how many are named as too weak
	}{
		"the later yes":               {verified{said(yes, KeySSH, 0), said(yes, KeyPasskey, 1)}, 1, 0},
		"a yes by SSH after a no":     {verified{said(no, KeySSH, 0), said(yes, KeySSH, 1)}, 1, 0},
		"of another kind of SSH":      {verified{said(no, KeyHardware, 0), said(yes, KeySSH, 1)}, 1, 0},
		"over a no by a passkey":      {verified{said(no, KeyPasskey, 0), said(yes, KeyHardware, 1)}, 1, 0},
		"by the same passkey":         {verified{said(no, KeyPasskey, 0), said(yes, KeyPasskey, 1)}, 1, 0},
		"a passkey after a no by SSH": {verified{said(no, KeySSH, 0), said(yes, KeyPasskey, 1)}, 0, 1},
		"after one by a security key": {verified{said(no, KeyHardware, 0), said(yes, KeyPasskey, 1)}, 0, 1},
		"of the same second":          {verified{said(yes, KeySSH, 0), said(no, KeyPasskey, 0)}, 1, 0},
		"two nos and a passkey": {verified{said(no, KeyPasskey, 1), said(no, KeySSH, 0), said(yes, KeyPasskey, 2)}, 1,
			1},
		"one of two lifted":            {verified{said(no, KeySSH, 0), said(yes, KeySSH, 1), said(no, KeyPasskey, 2)}, 2, 0},
		"both lifted, each by its own": {verified{said(no, KeySSH, 0), said(yes, KeySSH, 1), said(yes, KeyPasskey, 2)}, 2, 0},
	} {
		for range test.said { // whichever comes first
			approvals, overruled := LatestDecisions(test.said)
			if len(approvals) != 1 || approvals[0] != test.said[test.want] || len(overruled) != test.weak ||
				test.weak > 0 && !errors.Is(overruled[0], ErrWeaker) {
				t.Errorf("%s: got %v, %v, want %v and %d too weak", name, approvals, overruled, test.said[test.want], test.weak)
			}
			test.said = append(test.said[1:len(test.said):len(test.said)], test.said[0])
			test.want = (test.want + len(test.said) - 1) % len(test.said)
		}
	}
}
