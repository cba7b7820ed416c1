package people

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/sshsig"
)

func at(clock time.Time) Here { return Here{Network: "mainnet", Clock: clock} }

// evaluate returns the rule that refuses an unordered withdrawal; "" is none.
func evaluate(t *testing.T, file *memory.File, now time.Time) Rule {
	t.Helper()
	var refused *Refusal
	err := file.Do(t.Context(), func(tx memory.Tx) error {
		state, err := tx.State(t.Context())
		if err != nil {
			return err
		}
		_, err = Evaluate(t.Context(), tx, Question{Chain: "bitcoin", State: state, Now: now,
			Request: chain.TxRequest{Kind: chain.KindWithdrawal}})
		return err
	})
	if errors.As(err, &refused) {
		return refused.Rule
	}
	if err != nil {
		t.Fatal(err)
	}
	return ""
}

// The attack: the state with the policy is removed, so that the limits of the configuration are all that is left.
func TestALostPolicyStopsTheSigner(t *testing.T) {
	t.Parallel()
	before, instance := newFile(t)
	first := policyOf(t, instance)
	second := first
	second.Version, second.Previous, second.Hold = 2, first.Hash(), 96*time.Hour
	for _, p := range []roster.Policy{first, second} {
		if _, err := install(t, before, p, noon, 1, 2); err != nil {
			t.Fatal(err)
		}
	}
	file, other := newFile(t)
	if got := evaluate(t, file, noon); got != "" {
		t.Errorf("without a policy: got %q, want no refusal", got)
	}
	known := memory.KnownPolicy{Version: 2, Hash: second.Hash().String()}
	for range 2 {
		if lost, err := KnowPolicy(t.Context(), file, known, noon); !lost || err != nil {
			t.Fatalf("got lost %t, %v, want it", lost, err)
		}
	}
	if got := evaluate(t, file, noon); got != RuleLost {
		t.Errorf("with a lost policy: got %q, want %q", got, RuleLost)
	}
	own := policyOf(t, other) // version 1 again, by a person who has the machine
	if _, err := install(t, file, own, noon, 1, 2); !errors.Is(err, ErrUsed) {
		t.Errorf("an earlier version: got %v, want %v", err, ErrUsed)
	}
	if _, err := Install(t.Context(), file, first.Text(), nil, at(noon)); err == nil {
		t.Error("another text than the lost one: got none, want a refusal")
	}
	if act, err := Install(t.Context(), file, second.Text(), nil, at(noon)); err != nil || len(act.By) != 0 {
		t.Fatalf("the very text: got %+v, %v, want none", act, err)
	}
	if got := versionAt(t, file, noon); got != 2 {
		t.Errorf("got version %d, want 2 again", got)
	}
	if got := evaluate(t, file, noon); got == RuleLost {
		t.Errorf("got %q, want the policy evaluated by", got)
	}
	third := second
	third.Instance, third.Version, third.Previous, third.Hold = other, 3, second.Hash(), 100*time.Hour
	if _, err := install(t, file, third, noon, 1, 2); err != nil {
		t.Errorf("the next version: got %v, want none", err)
	}
}

// Where the text is lost too, a later version is installed, signed by its own authors as a first one is.
func TestALostPolicyIsFollowedByALaterOne(t *testing.T) {
	t.Parallel()
	file, instance := newFile(t)
	if _, err := KnowPolicy(t.Context(), file, memory.KnownPolicy{Version: 5, Hash: "sha256:00"}, noon); err != nil {
		t.Fatal(err)
	}
	for version, want := range map[int64]error{5: ErrUsed, 6: nil} {
		p := policyOf(t, instance)
		p.Version, p.Previous = version, approval.HashOf("4")
		if _, err := install(t, file, p, noon, 1, 2); !errors.Is(err, want) {
			t.Errorf("version %d: got %v, want %v", version, err, want)
		}
	}
}

// After the state was lost nobody thaws before the policy is applied again, and then the thaw waits as ever on mainnet;
// on other networks it begins at once.
func TestAThawAfterALostStateWaitsToo(t *testing.T) {
	t.Parallel()
	before, instance := newFile(t)
	p := policyOf(t, instance)
	if _, err := install(t, before, p, noon, 1, 2); err != nil {
		t.Fatal(err)
	}
	file, instance := newFile(t)
	known := memory.KnownPolicy{Version: 1, Hash: p.Hash().String()}
	if _, err := KnowPolicy(t.Context(), file, known, noon); err != nil {
		t.Fatal(err)
	}
	thaws := func(n byte) (thawing memory.Thawing, err error) {
		text := approval.Freeze{Instance: instance, Thaw: true, Why: "x", Created: noon, Expires: noon.Add(time.Hour),
			Nonce: approval.Nonce{n}}.Text()
		err = file.Do(t.Context(), func(tx memory.Tx) error {
			thawing, _, err = Thawing(t.Context(), tx, text, sign(t, approval.NamespaceFreeze, text, 1, 2), noon)
			return err
		})
		return thawing, err
	}
	if _, err := thaws(1); !errors.Is(err, ErrLost) {
		t.Errorf("while the policy is lost: got %v, want %v", err, ErrLost)
	}
	if _, err := install(t, file, p, noon); err != nil { // by its hash
		t.Fatal(err)
	}
	if got, err := thaws(2); err != nil || !got.At.Equal(noon.Add(ThawWait)) || got.Who != "ann, bob" {
		t.Errorf("got %+v, %v, want a thaw by ann and bob at %v", got, err, noon.Add(ThawWait))
	}
}

// The attack: of three authors two lose their keys to a thief, who removes the third before loosening anything.
func TestWhoeverIsRemovedCanFreezeForADay(t *testing.T) {
	t.Parallel()
	file, instance := newFile(t)
	first := policyOf(t, instance)
	second := first
	second.Version, second.Previous, second.People = 2, first.Hash(), first.People[:2]
	if _, err := install(t, file, first, noon, 1, 2); err != nil {
		t.Fatal(err)
	}
	if _, err := install(t, file, second, noon.Add(time.Hour), 1, 2); err != nil {
		t.Fatal(err)
	}
	freezes := func(now time.Time, n byte) error {
		f := approval.Freeze{Instance: instance, Why: "x", Created: now, Expires: now.Add(time.Hour),
			Nonce: approval.Nonce{n}}
		return file.Do(t.Context(), func(tx memory.Tx) error {
			_, _, err := Freezing(t.Context(), tx, f.Text(), sign(t, approval.NamespaceFreeze, f.Text(), 3), now)
			return err
		})
	}
	if err := freezes(noon.Add(25*time.Hour), 1); err != nil {
		t.Errorf("a day after the removal: got %v, want a freeze", err)
	}
	if err := freezes(noon.Add(25*time.Hour+time.Second), 2); !errors.Is(err, roster.ErrNobody) {
		t.Errorf("later: got %v, want %v", err, roster.ErrNobody)
	}
}

// A key that was stolen is out at once, though the version that takes it away waits for what it loosens.
func TestARemovalDoesNotWaitForALoosening(t *testing.T) {
	t.Parallel()
	file, instance := newFile(t)
	first := policyOf(t, instance)
	second := first
	second.Version, second.Previous, second.NotBefore = 2, first.Hash(), noon.Add(roster.LooseningWait)
	second.People, second.Destinations = first.People[1:], 1
	if _, err := install(t, file, first, noon, 1, 2); err != nil {
		t.Fatal(err)
	}
	if act, err := install(t, file, second, noon, 2, 3); err != nil || len(act.Unmet) != 0 {
		t.Fatalf("got %+v, %v, want every quorum within reach", act, err)
	}
	d := approval.Destination{Instance: instance, Chain: "bitcoin", To: bursar.Address{Base: "bc1q"}, Any: true,
		Created: noon,
		Expires: noon.Add(time.Hour), Until: noon.AddDate(0, 1, 0), Nonce: approval.Nonce{1}}
	direct := func(seeds ...byte) error {
		_, err := Direct(t.Context(), file, d.Text(), sign(t, approval.NamespaceDestination, d.Text(), seeds...), at(noon))
		return err
	}
	if err := direct(1, 2); !errors.Is(err, roster.ErrQuorum) {
		t.Errorf("by a person who is removed: got %v, want %v", err, roster.ErrQuorum)
	}
	if err := direct(2); !errors.Is(err, roster.ErrQuorum) {
		t.Errorf("by as many as will be enough: got %v, want %v until that begins", err, roster.ErrQuorum)
	}
	if err := direct(2, 3); err != nil {
		t.Errorf("got %v, want none", err)
	}
	back := first
	back.Version, back.Previous = 3, second.Hash()
	if _, err := install(t, file, back, noon, 2, 3); !errors.Is(err, roster.ErrUnsound) {
		t.Errorf("the removal taken back at once: got %v, want %v", err, roster.ErrUnsound)
	}
	// A quorum that cannot meet until then is said, and the removal holds all the same.
	alone := second
	alone.Version, alone.Previous, alone.People = 3, second.Hash(), []roster.Person{first.People[1]}
	alone.Authors = 1
	act, err := install(t, file, alone, noon, 2, 3)
	want := []string{"the next version, or a thaw, needs 2 of role author, and there are 1",
		"a destination needs 2 of role approver, and there are 1"}
	if err != nil || !slices.Equal(act.Unmet, want) {
		t.Errorf("got %q, %v, want %q", act.Unmet, err, want)
	}
	if got := versionAt(t, file, alone.NotBefore); got != 3 {
		t.Errorf("got version %d in force in the end, want 3", got)
	}
}

// The attack: a text that adds a destination is kept back until the destination was removed.
func TestARemovedDestinationIsNotRevivedByAnOlderText(t *testing.T) {
	t.Parallel()
	file, instance := newFile(t)
	if _, err := install(t, file, policyOf(t, instance), noon, 1, 2); err != nil {
		t.Fatal(err)
	}
	text := func(remove bool, n byte, made time.Time) string {
		return approval.Destination{Instance: instance, Remove: remove, Chain: "bitcoin", To: bursar.Address{Base: "bc1q"},
			Any: true, Created: made, Expires: made.Add(8 * time.Hour), Until: made.AddDate(0, 1, 0),
			Nonce: approval.Nonce{n}}.Text()
	}
	direct := func(text string, clock time.Time) error {
		_, err := Direct(t.Context(), file, text, sign(t, approval.NamespaceDestination, text, 1, 2), at(clock))
		return err
	}
	later := noon.Add(time.Hour)
	if err := errors.Join(direct(text(false, 1, noon), noon), direct(text(true, 2, later), later)); err != nil {
		t.Fatal(err)
	}
	if err := direct(text(false, 3, noon.Add(time.Minute)), later.Add(time.Minute)); !errors.Is(err, ErrTime) {
		t.Errorf("made before the removal: got %v, want %v", err, ErrTime)
	}
	if err := direct(text(false, 4, later.Add(time.Second)), later.Add(time.Minute)); err != nil {
		t.Errorf("made after it: got %v, want none", err)
	}
}

type capitals struct{}

func (capitals) ParseAddress(text string) (bursar.Address, error) {
	if text != "BC1Q" && text != "bc1q" {
		return bursar.Address{}, bursar.ErrBadAddress
	}
	return bursar.Address{Base: "bc1q"}, nil
}

func (capitals) ParseContract(string) (string, error) { return "", bursar.ErrBadAddress }

func TestADestinationIsInItsChainsSpelling(t *testing.T) {
	t.Parallel()
	file, instance := newFile(t)
	if _, err := install(t, file, policyOf(t, instance), noon, 1, 2); err != nil {
		t.Fatal(err)
	}
	here := at(noon)
	here.Chains = func(bursar.ChainID) (roster.Spelling, bool) { return capitals{}, true }
	for i, test := range []struct {
		base, contract string
		want           error
	}{{"BC1Q", "", ErrSpelling}, {"bc2q", "", ErrSpelling}, {"bc1q", "T", ErrSpelling}, {"bc1q", "", nil}} {
		text := approval.Destination{Instance: instance, Chain: "bitcoin", To: bursar.Address{Base: test.base},
			Contract: test.contract, Created: noon, Expires: noon.Add(time.Hour), Until: noon.AddDate(0, 1, 0),
			Nonce: approval.Nonce{byte(i)}}.Text()
		_, err := Direct(t.Context(), file, text, sign(t, approval.NamespaceDestination, text, 1, 2), here)
		if !errors.Is(err, test.want) {
			t.Errorf("%s %s: got %v, want %v", test.base, test.contract, err, test.want)
		}
	}
	next := policyOf(t, instance)
	key, err := sshsig.NewKey(keyOf(t, 1).PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	next.People[0].Keys, next.Version = []sshsig.Key{key}, 2
	next.Assets = []roster.Asset{{Name: "BTC", Chain: "bitcoin", Decimals: 8, Price: bursar.Units(1)}}
	next.Rules = []roster.Rule{{ID: "never", Deny: true, For: []string{roster.KindWithdrawal}, To: "0xbad"}}
	next.NotBefore = noon.Add(roster.LooseningWait)
	next.Previous = policyOf(t, instance).Hash()
	_, err = Install(t.Context(), file, next.Text(), sign(t, approval.NamespacePolicy, next.Text(), 1, 2), here)
	if !errors.Is(err, roster.ErrUnsound) {
		t.Errorf("a policy with no address of its chain: got %v, want %v", err, roster.ErrUnsound)
	}
}
