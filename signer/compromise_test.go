package signer

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
)

// Once the order is used, the hot wallet's money moves to the very address of the order, whatever the limits of amounts
// say, and nothing else is signed. A thaw by the authors ends it.
func TestACompromiseOrderMovesEverythingToColdAndNothingElse(t *testing.T) {
	t.Parallel()
	d := newCompromiseFixture(t)
	d.list("alice", false)
	d.clock.Advance(2 * time.Hour)
	d.wantReason(d.ordered(1, 10), "")
	d.use(d.compromise())
	d.wantReason(d.ordered(2, 10), ReasonFrozen, "compromise order")
	for n := byte(1); n <= 3; n++ { // hourly_to_cold is 1, and the policy's rule allows less than 30 units
		r := d.toCold("vault", n)
		r.request.Payments = []chain.Payment{pay("vault", 3_000_000_000)}
		r.contents.Payments = r.request.Payments
		d.wantReason(costing(r, int(n), 1), "")
		d.wantReason(costing(d.sweep(), 10+int(n), 1), "") // hourly_sweeps is 2
	}
	d.wantReason(d.toCold("safe", 5), ReasonFrozen, "in force", "nothing is signed but what it moves")
	d.wantReason(d.toCold("thief", 5), ReasonColdWallet)
	d.wantReason(d.consolidation(), ReasonFrozen)
	d.wantReason(d.sweepOnEd25519(), ReasonFrozen) // the order names no cold wallet of that chain
	if why, err := d.signer.Frozen(); err != nil || !strings.Contains(why, "compromise order") {
		t.Errorf("it says %q, %v, want the compromise order", why, err)
	}
	d.wantReason(costing(d.topUp(), 20, 1), "")
	if err := d.thaws(ann); !errors.Is(err, roster.ErrQuorum) {
		t.Errorf("one author's thaw: got %v, want %v", err, roster.ErrQuorum)
	}
	d.must(d.thaws(ann, bob))
	d.wantReason(d.ordered(2, 10), "")
	d.wantReason(d.toCold("vault", 30), ReasonPolicy, "rule chill") // as before: it allows less
}

// Fees, and gas for deposit addresses, are bounded as ever: they are what a thief in the service could still burn.
func TestACompromiseOrderRaisesNoLimitOfFees(t *testing.T) {
	t.Parallel()
	d := newCompromiseFixture(t)
	d.use(d.compromise())
	d.wantReason(costing(d.toCold("vault", 1), 1, 800), "")
	d.wantReason(costing(d.toCold("vault", 2), 2, 101), ReasonQuota, "hourly_fees")
	d.wantReason(costing(d.sweep(), 3, 101), ReasonQuota, "hourly_fees")
	d.wantReason(costing(d.topUp(), 4, 1), "")
	d.wantReason(costing(d.topUp(), 5, 1), "")
	d.wantReason(costing(d.topUp(), 6, 1), ReasonQuota, "hourly_sweeps")
	unproven := d.toCold("vault", 9)
	unproven.contents.Payments = []chain.Payment{pay("thief", 30)}
	d.wantReason(unproven, ReasonUnpaid)
}

// Neither a restart, nor a freeze that comes later, nor refusals that freeze the signer by themselves end the moves:
// otherwise a thief in the service would stop them.
func TestACompromiseOrderOutlastsRestartsAndFreezes(t *testing.T) {
	t.Parallel()
	d := newCompromiseFixture(t)
	d.use(d.compromise())
	d.again()
	d.wantReason(costing(d.toCold("vault", 1), 1, 1), "")
	d.must(memory.Stop(d.path, memory.Freeze{At: d.clock.Now(), Who: "cat", Why: "again"}))
	d.wantReason(costing(d.toCold("vault", 2), 2, 1), "")
	d.wantReason(d.withNonce(), ReasonFrozen)
	done, err := d.signer.Leaving(nonceChain, d.toCold("vault", 2).request)
	d.must(err)
	done()
	var refused *RefusalError
	if _, err := d.signer.Leaving(nonceChain, d.toCold("safe", 2).request); !errors.As(err, &refused) {
		t.Errorf("a signature for another address leaves: %v", err)
	}
	if _, err := d.signer.Leaving(nonceChain, d.withNonce().request); !errors.As(err, &refused) {
		t.Errorf("a withdrawal that was signed before leaves: %v", err)
	}
	d.must(d.file.Do(t.Context(), func(tx memory.Tx) error {
		c, found, err := people.CompromiseInForce(t.Context(), tx)
		if !found || c.To(nonceChain) != "vault" {
			t.Errorf("in force is %+v, %t, want the order", c, found)
		}
		return err
	}))
}

// Every attack on the order itself: what is refused changes nothing, and a drill says the same as use.
func TestCompromiseOrdersThatAreRefused(t *testing.T) {
	t.Parallel()
	d := newCompromiseFixture(t)
	good := d.compromise()
	changed := func(change func(c *approval.Compromise)) string {
		c := d.compromise()
		change(&c)
		return c.Text()
	}
	other := newCompromiseFixture(t)
	for name, test := range map[string]struct {
		text  string
		seeds []byte
		want  error
	}{
		"one author":       {good.Text(), []byte{ann}, roster.ErrQuorum},
		"one author twice": {good.Text(), []byte{ann, ann}, roster.ErrQuorum},
		"a key of nobody":  {good.Text(), []byte{ann, 77}, roster.ErrQuorum},
		"nobody":           {good.Text(), nil, roster.ErrQuorum},
		"another signer's": {other.compromise().Text(), []byte{ann, bob}, people.ErrOther},
		"a thief's address": {changed(func(c *approval.Compromise) {
			c.Cold[1].Base = "thief"
		}), []byte{ann, bob}, people.ErrCold},
		"another chain's wallet": {changed(func(c *approval.Compromise) {
			c.Cold[1].Base = "coins-vault"
		}), []byte{ann, bob}, people.ErrCold},
		"an unknown chain": {changed(func(c *approval.Compromise) {
			c.Cold[1].Chain = "tron"
		}), []byte{ann, bob}, people.ErrCold},
		"an older policy": {changed(func(c *approval.Compromise) {
			c.Version--
		}), []byte{ann, bob}, roster.ErrReplayed},
		"another policy": {changed(func(c *approval.Compromise) {
			c.Policy = approval.HashOf("other")
		}), []byte{ann, bob}, roster.ErrReplayed},
		"ended": {changed(func(c *approval.Compromise) {
			c.Created, c.Expires = c.Created.AddDate(0, -2, 0), c.Created
		}), []byte{ann, bob}, people.ErrTime},
		"yet to come": {changed(func(c *approval.Compromise) {
			c.Created = c.Created.AddDate(0, 1, 0)
		}), []byte{ann, bob}, people.ErrTime},
		"spelt otherwise": {strings.Replace(good.Text(), "cold: nonces vault", "cold: nonces  vault", 1),
			[]byte{ann, bob}, approval.ErrText},
	} {
		if err := d.useText(test.text, test.seeds...); !errors.Is(err, test.want) {
			t.Errorf("%s: used: got %v, want %v", name, err, test.want)
		}
		if err := d.drill(test.text, test.seeds...); !errors.Is(err, test.want) {
			t.Errorf("%s: drilled: got %v, want %v", name, err, test.want)
		}
	}
	forThaw := signedBy(t, approval.NamespaceFreeze, good.Text(), ann, bob)
	if _, _, err := people.Use(t.Context(), d.file, good.Text(), forThaw, d.signer.coldOf, d.clock.Now()); err == nil {
		t.Error("signatures of another namespace count, want them refused")
	}
	d.wantReason(costing(d.sweep(), 1, 1), "") // nothing froze the signer
	d.use(good)
}

// An order is used once, for ever: also after a thaw, a restart, and where its bytes are signed by others.
func TestACompromiseOrderIsUsedOnce(t *testing.T) {
	t.Parallel()
	d := newCompromiseFixture(t)
	first, second := d.compromise(), d.compromise()
	d.use(first)
	if err := d.useText(second.Text(), ann, bob); !errors.Is(err, people.ErrInForce) {
		t.Errorf("a second order beside the first: got %v, want %v", err, people.ErrInForce)
	}
	d.clock.Advance(time.Second)
	d.must(d.thaws(ann, bob))
	d.again()
	for name, seeds := range map[string][]byte{"the same": {ann, bob}, "others": {bob, cat}} {
		if err := d.useText(first.Text(), seeds...); !errors.Is(err, people.ErrUsed) {
			t.Errorf("signed by %s: got %v, want %v", name, err, people.ErrUsed)
		}
	}
	if err := d.drill(first.Text(), ann, bob); !errors.Is(err, people.ErrUsed) {
		t.Errorf("a drill of it: got %v, want %v", err, people.ErrUsed)
	}
	if _, frozen, err := d.file.Gate().Frozen(); frozen || err != nil {
		t.Errorf("frozen is %t, %v after what was refused, want false", frozen, err)
	}
	d.use(second)
}

// A drill verifies everything and changes nothing: the signer signs on, and the order can be used.
func TestADrillChangesNothing(t *testing.T) {
	t.Parallel()
	d := newCompromiseFixture(t)
	c := d.compromise()
	d.must(d.drill(c.Text(), ann, bob))
	d.must(d.drill(c.Text(), bob, cat))
	d.wantReason(costing(d.sweep(), 1, 1), "")
	d.wantReason(d.withNonce(), ReasonPaysOrder) // as before: not for a freeze
	p, err := d.signer.Policy(t.Context())
	if s := p.Compromise; err != nil || s.Order != c.Text() || !s.Drilled.Equal(d.clock.Now()) || s.InForce != "" {
		t.Errorf("the status is %+v, %v, want the order drilled at %s", p.Compromise, err, d.clock.Now())
	}
	if list := d.entries(memory.KindDrill); len(list) != 2 || !strings.Contains(list[0], c.ID.String()) {
		t.Errorf("the log has the drills %v, want 2 of %s", list, c.ID)
	}
	d.use(c)
}

// The status says in time what would make the order refused, or what is due.
func TestTheStatusSaysWhatIsDue(t *testing.T) {
	t.Parallel()
	d := newCompromiseFixture(t)
	want := func(says string) {
		t.Helper()
		p, err := d.signer.Policy(t.Context())
		if err != nil || !p.Compromise.Wanted || says == "" && p.Compromise.Trouble != "" ||
			!strings.Contains(p.Compromise.Trouble, says) {
			t.Errorf("the status is %+v, %v, want %q", p.Compromise, err, says)
		}
	}
	want("no compromise order was drilled")
	c := d.compromise()
	d.must(d.drill(c.Text(), ann, bob))
	want("")
	d.clock.Advance(people.DrillEvery + time.Second)
	want("was drilled last at")
	d.must(d.drill(c.Text(), ann, bob))
	want("")
	d.clock.Advance(c.Expires.Sub(d.clock.Now()) - people.RenewedBefore)
	want("ends at")
	d.clock.Advance(people.RenewedBefore)
	want("ended at")
	fewer := d.compromise()
	fewer.Cold = fewer.Cold[1:]
	d.must(d.drill(fewer.Text(), ann, bob))
	want("names no cold wallet of")
	c = d.compromise()
	d.must(d.drill(c.Text(), ann, bob))
	next := d.policy
	next.Version, next.Previous = 2, d.policy.Hash()
	next.Created = d.clock.Now().UTC().Truncate(time.Second)
	next.NotBefore = next.Created
	d.install(next)
	want("would be refused: it is under version 1")
	c = d.compromise()
	d.must(d.drill(c.Text(), ann, bob))
	want("")
	d.use(c)
	want("")
	d.clock.Advance(time.Second)
	d.must(d.thaws(ann, bob))
	want("was used")
}
