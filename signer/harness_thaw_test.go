package signer

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
)

// newThawFixture is a signer with a policy for mainnet, frozen by ann, for which ann and bob sign a thaw an hour later.
func newThawFixture(t *testing.T) *policyFixture {
	t.Helper()
	d := newPolicyFixture(t, func(p *roster.Policy) { p.Network = "mainnet" })
	d.freezes(ann)
	d.clock.Advance(time.Hour)
	d.must(d.thaws(ann, bob))
	d.look()
	return d
}

// freezes freezes the signer, as a person of the policy does with `bursar signer apply`.
func (d *policyFixture) freezes(seed byte) {
	d.t.Helper()
	d.must(memory.Enter(d.t.Context(), d.file))
	now := d.clock.Now().UTC().Truncate(time.Second)
	text := approval.Freeze{Instance: d.instance(), Why: "a key is gone", Created: now, Expires: now.Add(time.Hour),
		Nonce: approval.NewNonce()}.Text()
	err := d.file.Do(d.t.Context(), func(tx memory.Tx) error {
		_, by, err := people.Freezing(d.t.Context(), tx, text, signedBy(d.t, approval.NamespaceFreeze, text, seed),
			d.clock.Now())
		if err != nil {
			return err
		}
		return memory.Stop(d.path, memory.Freeze{At: d.clock.Now(), Who: by[0], Why: "a key is gone"})
	})
	d.must(errors.Join(err, memory.Enter(d.t.Context(), d.file)))
}

// look is what the signer's process does every few seconds.
func (d *policyFixture) look() {
	d.t.Helper()
	_, err := d.signer.ThawDue(d.t.Context(), d.clock.Now())
	d.must(err)
}

// waits returns when the thaw begins that waits.
func (d *policyFixture) waits() time.Time {
	d.t.Helper()
	w, _, err := memory.Waiting(d.t.Context(), d.file)
	d.must(err)
	return w.At
}

// wantFrozen lets time pass and reports if the signer is not frozen then, or no thaw waits although one is to.
func (d *policyFixture) wantFrozen(after time.Duration, waits bool) {
	d.t.Helper()
	d.clock.Advance(after)
	d.look()
	why, err := d.signer.Frozen()
	if err != nil || why == "" || strings.Contains(why, "thaws at") != waits {
		d.t.Errorf("%v later it says %q, %v, want frozen, a thaw waiting: %t", after, why, err, waits)
	}
	if got := !d.waits().IsZero(); got != waits {
		d.t.Errorf("%v later a thaw waits: %t, want %t", after, got, waits)
	}
	if after >= 0 {
		d.wantReason(d.numbered(1, 10, 1), ReasonFrozen)
	}
}

func (d *policyFixture) wantThawed(after time.Duration) {
	d.t.Helper()
	d.clock.Advance(after)
	d.look()
	why, err := d.signer.Frozen()
	if err != nil || why != "" || !d.signer.ThawsAt().IsZero() {
		d.t.Errorf("%v later it says %q, %v, thaws at %v, want that it is not frozen", after, why, err, d.signer.ThawsAt())
	}
	list, err := memory.Freezes(d.t.Context(), d.file)
	if err != nil || len(list) > 0 {
		d.t.Errorf("%v later the state has freezes %+v, %v, want none", after, list, err)
	}
}

// newProcess opens the state as a new process does.
func (d *policyFixture) newProcess() {
	d.t.Helper()
	d.must(d.file.Close())
	d.again()
	d.must(memory.Agree(d.t.Context(), d.file))
}
