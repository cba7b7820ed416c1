package roster

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/sshsig"
)

// The attack: a key is stolen, and the version that takes it away also loosens something, so that it waits for a day.
func TestWhatALaterVersionTakesAwayIsGoneAtOnce(t *testing.T) {
	t.Parallel()
	p, next := policy(), policy()
	next.Version, next.Previous, next.NotBefore = 2, p.Hash(), noon.Add(LooseningWait)
	next.People = slices.Delete(next.People, 0, 1) // ann
	next.People[0].Keys = []sshsig.Key{keyOf(22)}  // bob has another key
	next.People[1].Until = noon.Add(time.Hour)     // cat counts for less long
	// which loosens, and denies another
	next.Rules[0].Each, next.Rules[4].To = value("2000"), "bc1qworse"
	next.People = append(next.People, Person{Name: "eve", Until: noon.AddDate(1, 0, 0), // who is new
		Roles: []string{RoleApprover}, Keys: []sshsig.Key{keyOf(9)}})
	held := p.Tightened([]Policy{next})
	if held.Hash() != p.Hash() || held.Version != 1 || held.By() != "1+2" || p.By() != "1" {
		t.Errorf("got %s of version %d, by %s, want those of the text that is in force", held.Hash(), held.Version, held.By())
	}
	text := "thaw\n"
	for seed, want := range map[byte]error{1: ErrNobody, 2: ErrNobody, 22: ErrNobody, 3: nil, 9: ErrNobody} {
		if _, err := held.SignedBy("n", text, sign(t, seed, "n", text), noon); !errors.Is(err, want) {
			t.Errorf("by key %d: got %v, want %v", seed, err, want)
		}
	}
	if _, err := held.SignedBy("n", text, sign(t, 3, "n", text), noon.Add(time.Hour)); !errors.Is(err, ErrExpired) {
		t.Errorf("behind the shortened time: got %v, want %v", err, ErrExpired)
	}
	worse := bitcoins(1)
	worse.To.Base = "bc1qworse"
	if a := held.Evaluate(worse); a.Allowed || a.Rule != "never" {
		t.Errorf("got %+v, want what the later version denies denied at once", a)
	}
	if a := held.Evaluate(bitcoins(1_000_000)); a.Allowed { // worth 1200
		t.Errorf("got %+v, want what loosens to wait", a)
	}
	want := []string{"the next version, or a thaw, needs 2 of role author, and there are 1",
		"a destination needs 2 of role approver, and there are 1", "rule large needs 2 of role approver, and there are 1"}
	if got := held.Unreachable(noon); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := p.Unreachable(noon); len(got) != 0 {
		t.Errorf("got %q of the policy itself, want none", got)
	}
	if len(p.People) != 4 || len(p.Rules) != 5 || len(p.People[0].Keys) != 1 {
		t.Error("the policy itself was changed, want 4 of them and 5 of them and 1 of them")
	}
}

// A tightening that waits is not revoked sooner than a loosening would begin. A loosening is, at once.
func TestATighteningIsNotTakenBackAtOnce(t *testing.T) {
	t.Parallel()
	before := policy()
	follows := func(waits, next Policy) error {
		next.Version, next.Previous = 3, waits.Hash()
		var by []string
		for _, seed := range []byte{1, 2} {
			by = append(by, sign(t, seed, approval.NamespacePolicy, next.Text()))
		}
		_, _, _, err := Follows(&before, &waits, next.Text(), by, "mainnet", nil, noon)
		return err
	}
	tight := policy()
	tight.Version, tight.Previous, tight.NotBefore, tight.Hold = 2, before.Hash(), noon.Add(100*time.Hour), 96*time.Hour
	if err := follows(tight, policy()); !errors.Is(err, ErrUnsound) || !strings.Contains(err.Error(), "begins at") {
		t.Errorf("a tightening revoked at once: got %v, want %v", err, ErrUnsound)
	}
	loose := tight
	loose.Hold = time.Hour
	if err := follows(loose, policy()); err != nil {
		t.Errorf("a loosening revoked at once: got %v, want none", err)
	}
}

func TestRulesWithoutLimitsAreNamed(t *testing.T) {
	t.Parallel()
	p := policy()
	p.Rules[1].Each = Value{}
	p.Rules = append(p.Rules, Rule{ID: "open", For: []string{KindWithdrawal}, To: ToListed},
		Rule{ID: "each", For: []string{KindWithdrawal}, To: ToListed, Each: value("5")})
	want := []string{
		"rule large has no limit: with 2 approvals, any amount may leave, any number of times",
		"rule open has no limit: without any approval, any amount may leave, any number of times",
		"rule each has no limit within a time: without any approval, up to 5 EUR may leave any number of times",
	}
	if got := p.Unlimited(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	want = []string{"rule sweeps has no limit: what moves among our own addresses is bounded by the configuration of " +
		"the signer alone"}
	if got := p.UnlimitedMoves(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Each person decides once, by the last that they signed; a no stays until the order ends.
func TestEachPersonDecidesOnce(t *testing.T) {
	t.Parallel()
	p := policy()
	made := func(decision approval.Decision, at time.Time) Signed {
		a := approval.Approval{Instance: instance, Decision: decision, Payment: 1, Role: RoleApprover, Version: p.Version,
			Policy: p.Hash(), Created: at, Expires: at.Add(time.Hour), Nonce: approval.NewNonce(), Order: order()}
		return Signed{a.Text(), sign(t, 1, approval.NamespaceApproval, a.Text())}
	}
	yes, no, later := made(approval.Yes, noon), made(approval.No, noon.Add(time.Minute)),
		made(approval.Yes, noon.Add(time.Hour))
	next := policy()
	next.Version, next.Previous = 2, p.Hash()
	for name, test := range map[string]struct {
		policy Policy
		list   []Signed
		at     time.Time
		want   approval.Decision
	}{
		"a no behind a yes":         {p, []Signed{no, yes}, noon.Add(2 * time.Minute), approval.No},
		"a yes behind a no":         {p, []Signed{no, later, yes}, noon.Add(time.Hour), approval.Yes},
		"a no, a day later":         {p, []Signed{no}, noon.Add(30 * time.Hour), approval.No},
		"a no, under a new version": {next, []Signed{no}, noon.Add(30 * time.Hour), approval.No},
		"many of one person": {p, append(slices.Repeat([]Signed{yes}, 50), no), noon.Add(2 * time.Minute),
			approval.No},
	} {
		approvals, _ := test.policy.Approvals(order(), test.list, test.at)
		if len(approvals) != 1 || approvals[0].Decision != test.want {
			t.Errorf("%s: got %+v, want one %s", name, approvals, test.want)
		}
	}
}
