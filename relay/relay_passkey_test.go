package relay_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/passkey"
	"github.com/bursar/bursar/passkey/passkeytest"
	"github.com/bursar/bursar/relay"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/store"
)

// A no by SSH goes to the signer beside whatever its person says with a passkey, which learns at once that it lifts
// nothing.
func TestAPasskeyAfterANoBySSHIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		d := newHarness(t, r)
		var err error
		d.policy.Site, err = passkey.ParseOrigin(passkeytest.Origin)
		r.Must(err)
		d.policy.People[0].Passkeys = []passkey.Key{passkeytest.New(t, 1).Key()}
		d.policy.Rules[1].Keys = []roster.KeyKind{roster.KeySSH, roster.KeyPasskey}
		r.Must(d.relay.Note(t.Context(), store.PolicyText{Instance: d.policy.Instance, Text: d.policy.Text()}))
		r.Fund()
		r.Order(150_000_000, r.Chain.Named("alice"))
		r.Trouble = true
		r.Step()
		text := d.waiting().Orders[0].Text
		o, err := approval.ParseOrder(text)
		r.Must(err)
		now := time.Now().UTC().Truncate(time.Second)
		say := func(decision approval.Decision, at int, byPasskey bool) error {
			created := now.Add(time.Duration(at) * time.Second)
			a := approval.Approval{Instance: o.Instance, Decision: decision, Payment: 1, Role: roster.RoleApprover,
				Version: d.policy.Version, Policy: d.policy.Hash(), Created: created, Expires: created.Add(time.Hour),
				Nonce: approval.NewNonce(), Order: o}.Text()
			signature := sign(t, 1, approval.NamespaceApproval, a)
			if byPasskey {
				signature = passkeytest.New(t, 1).Assert(t, approval.NamespaceApproval, a).Text()
			}
			_, _, err := d.relay.Add(t.Context(), a, signature)
			return err
		}
		r.Must(say(approval.No, -60, false))
		if err := say(approval.Yes, -50, true); !errors.Is(err, relay.ErrRefused) || !errors.Is(err, roster.ErrWeaker) ||
			!strings.Contains(err.Error(), "use bursar-approve") {
			t.Errorf("got %v, want %v", err, roster.ErrWeaker)
		}
		r.Must(say(approval.No, -40, true))
		if got := len(d.waiting().Orders[0].Approvals); got != 2 {
			t.Errorf("got %d texts for the signer, want the no of each kind", got)
		}
		r.Must(say(approval.Yes, -30, false))
		r.Must(say(approval.No, -35, true)) // made before, handed in later
		r.Must(say(approval.Yes, -20, true))
		if got := len(d.waiting().Orders[0].Approvals); got != 4 {
			t.Errorf("got %d texts for the signer, want a yes and a no of each kind", got)
		}
	})
}
