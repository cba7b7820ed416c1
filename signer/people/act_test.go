package people

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/sshsig"
)

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// A policy follows the one before, by its authors, and one that loosens waits; meanwhile a tightening replaces it.
func TestPoliciesFollowEachOther(t *testing.T) {
	t.Parallel()
	file, instance := newFile(t)
	first := policyOf(t, instance)
	if got := versionAt(t, file, noon); got != -1 {
		t.Errorf("got version %d, want none", got)
	}
	if _, err := install(t, file, first, noon, 1); !errors.Is(err, roster.ErrQuorum) {
		t.Errorf("by one author: got %v, want %v", err, roster.ErrQuorum)
	}
	other := first
	other.Instance = "ANOTHER"
	if _, err := install(t, file, other, noon, 1, 2); !errors.Is(err, ErrOther) {
		t.Errorf("of another signer: got %v, want %v", err, ErrOther)
	}
	if act, err := install(t, file, first, noon, 1, 2); err != nil || strings.Join(act.By, " ") != "ann bob" {
		t.Fatalf("got %+v, %v, want %q", act, err, "ann bob")
	}
	if _, err := install(t, file, first, noon, 1, 2); !errors.Is(err, ErrUsed) {
		t.Errorf("again: got %v, want %v", err, ErrUsed)
	}
	loose := first
	loose.Version, loose.Previous, loose.Authors = 2, first.Hash(), 1
	if _, err := install(t, file, loose, noon, 1, 2); !errors.Is(err, roster.ErrUnsound) {
		t.Errorf("a loosening at once: got %v, want %v", err, roster.ErrUnsound)
	}
	loose.NotBefore = noon.Add(roster.LooseningWait)
	if act, err := install(t, file, loose, noon, 2, 3); err != nil || !roster.Loosens(act.Changes) {
		t.Fatalf("got %+v, %v", act, err)
	}
	if got := versionAt(t, file, noon.Add(time.Hour)); got != 1 {
		t.Errorf("while it waits: got version %d, want 1", got)
	}
	// Version 2 would let one author sign alone. Until it begins, it takes two.
	tight := first
	tight.Version, tight.Previous, tight.Hold = 3, loose.Hash(), 72*time.Hour
	if _, err := install(t, file, tight, noon, 1); !errors.Is(err, roster.ErrQuorum) {
		t.Errorf("by an author of a policy that waits: got %v, want %v", err, roster.ErrQuorum)
	}
	if _, err := install(t, file, tight, noon.Add(time.Hour), 1, 3); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[time.Time]int64{noon.Add(time.Hour): 3, noon.Add(25 * time.Hour): 3} {
		if got := versionAt(t, file, at); got != want {
			t.Errorf("at %s: got version %d, want %d", at, got, want)
		}
	}
	skips := tight
	skips.Version, skips.Previous = 5, tight.Hash()
	if _, err := install(t, file, skips, noon.Add(time.Hour), 1, 3); !errors.Is(err, ErrUsed) {
		t.Errorf("one that skips a version: got %v, want %v", err, ErrUsed)
	}
}

func TestAFirstPolicyThatHasNotBegunHasAuthorsAlready(t *testing.T) {
	t.Parallel()
	file, instance := newFile(t)
	first := policyOf(t, instance)
	first.NotBefore = noon.Add(time.Hour)
	if _, err := install(t, file, first, noon, 1, 2); err != nil {
		t.Fatal(err)
	}
	if got := versionAt(t, file, noon); got != 0 {
		t.Errorf("got version %d, want one that has not started", got)
	}
	own := policyOf(t, instance)
	own.Version, own.Previous, own.Authors, own.People = 2, first.Hash(), 1, own.People[:2]
	key, err := sshsig.NewKey(keyOf(t, 7).PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	own.People[0].Keys = []sshsig.Key{key}
	if _, err := install(t, file, own, noon, 7); !errors.Is(err, roster.ErrQuorum) {
		t.Errorf("by authors of its own: got %v, want %v", err, roster.ErrQuorum)
	}
}

func TestADestinationIsTakenOnce(t *testing.T) {
	t.Parallel()
	file, instance := newFile(t)
	if _, err := install(t, file, policyOf(t, instance), noon, 1, 2); err != nil {
		t.Fatal(err)
	}
	base := approval.Destination{Instance: instance, Chain: "bitcoin", To: bursar.Address{Base: "bc1qgood"}, Created: noon,
		Expires: noon.Add(time.Hour), Until: noon.AddDate(1, 0, 0), Nonce: approval.Nonce{1}}
	direct := func(d approval.Destination, at time.Time, seeds ...byte) (Act, error) {
		return Direct(t.Context(), file, d.Text(), sign(t, approval.NamespaceDestination, d.Text(), seeds...),
			Here{Clock: at})
	}
	other := base
	other.Instance = "ANOTHER"
	wide := base
	wide.Remove, wide.Any, wide.Nonce = true, true, approval.Nonce{2}
	narrow := base
	narrow.Remove, narrow.Contract, narrow.Nonce = true, "token", approval.Nonce{3}
	for _, test := range []struct {
		name  string
		d     approval.Destination
		at    time.Time
		seeds []byte
		want  error
	}{
		{"by one approver", base, noon, []byte{1, 1}, roster.ErrQuorum},
		{"of another signer", other, noon, []byte{1, 2}, ErrOther},
		{"too late", base, noon.Add(time.Hour), []byte{1, 2}, ErrTime},
		{"too early", base, noon.Add(-time.Hour), []byte{1, 2}, nil}, // refused by its clock, which has no error of its own
		{"as it should be", base, noon, []byte{1, 2}, nil},
		{"again", base, noon, []byte{2, 3}, ErrUsed},
	} {
		act, err := direct(test.d, test.at, test.seeds...)
		if test.name == "too early" {
			if err == nil {
				t.Errorf("%s: got none, want a refusal", test.name)
			}
			continue
		}
		if !errors.Is(err, test.want) || err == nil && !act.From.Equal(noon.Add(48*time.Hour)) {
			t.Errorf("%s: got %+v, %v, want %v", test.name, act, err, test.want)
		}
	}
	count := func() (n int) {
		err := file.Do(t.Context(), func(tx memory.Tx) error {
			list, err := tx.Destinations(t.Context(), "", "")
			n = len(list)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if _, err := direct(narrow, noon, 1, 2); err == nil || count() != 1 {
		t.Errorf("removing another asset's: got %v, %d left, want it refused", err, count())
	}
	if _, err := direct(wide, noon, 1, 2); err != nil || count() != 0 {
		t.Errorf("removing it: got %v, %d left, want 0", err, count())
	}
	if _, err := direct(base, noon, 1, 2); !errors.Is(err, ErrUsed) {
		t.Errorf("adding it by the signatures of before: got %v, want %v", err, ErrUsed)
	}
}

func TestAnybodyFreezesAndAuthorsThaw(t *testing.T) {
	t.Parallel()
	file, instance := newFile(t)
	base := approval.Freeze{Instance: instance, Why: "an alarm at night", Created: noon, Expires: noon.Add(time.Hour),
		Nonce: approval.Nonce{1}}
	freezing := func(f approval.Freeze, seeds ...byte) (by []string, err error) {
		err = file.Do(t.Context(), func(tx memory.Tx) error {
			_, by, err = Freezing(t.Context(), tx, f.Text(), sign(t, approval.NamespaceFreeze, f.Text(), seeds...), noon)
			return err
		})
		return by, err
	}
	if _, err := freezing(base, 1); !errors.Is(err, ErrNoPolicy) {
		t.Errorf("without a policy: got %v, want %v", err, ErrNoPolicy)
	}
	if _, err := install(t, file, policyOf(t, instance), noon, 1, 2); err != nil {
		t.Fatal(err)
	}
	if _, err := freezing(base, 9); !errors.Is(err, roster.ErrNobody) {
		t.Errorf("by an outsider: got %v, want %v", err, roster.ErrNobody)
	}
	if by, err := freezing(base, 3); err != nil || len(by) != 1 || by[0] != "cat" {
		t.Errorf("got %v, %v, want cat", by, err)
	}
	if _, err := freezing(base, 3); !errors.Is(err, ErrUsed) {
		t.Errorf("again: got %v, want %v", err, ErrUsed)
	}
	thaw := base
	thaw.Thaw, thaw.Nonce = true, approval.Nonce{2}
	if _, err := freezing(thaw, 3); !errors.Is(err, roster.ErrQuorum) {
		t.Errorf("a thaw by one: got %v, want %v", err, roster.ErrQuorum)
	}
	if by, err := freezing(thaw, 3, 1); err != nil || strings.Join(by, " ") != "ann cat" {
		t.Errorf("got %v, %v, want ann and cat", by, err)
	}
}

// A clock that was set back keeps nobody from freezing, and thaws nothing.
func TestAClockThatIsSetBackKeepsNobodyFromFreezing(t *testing.T) {
	t.Parallel()
	file, instance := newFile(t)
	if _, err := install(t, file, policyOf(t, instance), noon, 1, 2); err != nil {
		t.Fatal(err)
	}
	later := noon.Add(3 * time.Hour)
	act := func(f approval.Freeze, seeds ...byte) (by []string, reached time.Time, err error) {
		err = file.Do(t.Context(), func(tx memory.Tx) error {
			_, by, err = Freezing(t.Context(), tx, f.Text(), sign(t, approval.NamespaceFreeze, f.Text(), seeds...), noon)
			if err != nil {
				return err
			}
			state, err := tx.State(t.Context())
			reached = state.HighWater
			return err
		})
		return by, reached, err
	}
	if err := file.Do(t.Context(), func(tx memory.Tx) error { return tx.SetHighWater(t.Context(), later) }); err != nil {
		t.Fatal(err)
	}
	f := approval.Freeze{Instance: instance, Why: "a thaw that nobody knows", Created: later.Add(time.Hour),
		Expires: later.Add(2 * time.Hour), Nonce: approval.Nonce{1}}
	if by, reached, err := act(f, 3); err != nil || len(by) != 1 || !reached.Equal(later) {
		t.Errorf("a freeze: got %v, %v, and %s is remembered, want cat and %s", by, err, reached, later)
	}
	f.Thaw, f.Nonce = true, approval.Nonce{2}
	if _, _, err := act(f, 1, 3); err == nil || !strings.Contains(err.Error(), "correct the clock") {
		t.Errorf("a thaw: got %v, want that the clock be corrected", err)
	}
}

// A crash at any statement leaves all of an act, or nothing.
func TestACrashLeavesAllOrNothing(t *testing.T) {
	t.Parallel()
	file, instance := newFile(t)
	crash := errors.New("crash")
	for at := 0; ; at++ {
		n := 0
		file.OnStep(func(string) error {
			if n++; n > at {
				return crash
			}
			return nil
		})
		_, err := install(t, file, policyOf(t, instance), noon, 1, 2)
		file.OnStep(nil)
		if err == nil {
			break
		}
		committed := versionAt(t, file, noon) == 1
		if _, err := memory.Verify(context.WithoutCancel(t.Context()), file); err != nil || committed != (at > 4) {
			t.Errorf("after step %d: committed is %t, the log %v", at, committed, err)
		}
		if committed {
			return
		}
	}
	t.Error("the crash after the commit was not reached")
}

// A thaw that was signed before somebody froze the signer again does not end that freeze.
func TestAThawEndsNoLaterFreeze(t *testing.T) {
	t.Parallel()
	file, instance := newFile(t)
	if _, err := install(t, file, policyOf(t, instance), noon, 1, 2); err != nil {
		t.Fatal(err)
	}
	text := func(thaw bool, at time.Time, n byte) string {
		return approval.Freeze{Instance: instance, Thaw: thaw, Why: "x", Created: at, Expires: at.Add(8 * time.Hour),
			Nonce: approval.Nonce{n}}.Text()
	}
	do := func(text string, at time.Time, seeds ...byte) error {
		return file.Do(t.Context(), func(tx memory.Tx) error {
			f, by, err := Freezing(t.Context(), tx, text, sign(t, approval.NamespaceFreeze, text, seeds...), at)
			if err != nil || f.Thaw {
				return err
			}
			return tx.AddFreeze(t.Context(), memory.Freeze{At: at, Who: by[0], Why: f.Why})
		})
	}
	if err := do(text(false, noon, 1), noon, 1); err != nil {
		t.Fatal(err)
	}
	thaw := text(true, noon.Add(time.Hour), 2) // signed at one o'clock, for the freeze of noon, and kept
	if err := do(text(false, noon.Add(2*time.Hour), 3), noon.Add(2*time.Hour), 3); err != nil {
		t.Fatal(err) // cat freezes it at two o'clock
	}
	if err := do(thaw, noon.Add(3*time.Hour), 1, 2); err == nil {
		t.Error("got the thaw accepted, want it refused: it was signed before the freeze of two o'clock")
	}
}

// What counts as a tightening allows nothing more: an asset that is gone has no worth, and its sweeps no limit.
func TestRemovingAnAssetLoosensItsSweeps(t *testing.T) {
	t.Parallel()
	p := policyOf(t, "I")
	p.Assets = []roster.Asset{{Name: "ETH", Chain: "ethereum", Price: bursar.Units(1e6)}}
	p.Rules = []roster.Rule{{ID: "ours", For: []string{roster.KindSweep}, To: roster.ToOwn, Each: bursar.Units(10e6),
		Windows: []roster.Window{{Length: time.Hour, Most: bursar.Units(10e6)}}}}
	next := p
	next.Version, next.Previous, next.Assets = 2, p.Hash(), nil
	q := roster.Question{Kind: roster.KindSweep, Chain: "ethereum", Units: bursar.Units(1000), Now: noon}
	before, after := p.Evaluate(q), next.Evaluate(q)
	if !before.Allowed && after.Allowed && !roster.Loosens(roster.Diff(p, next)) {
		t.Errorf("got %q before and allowed by %q after what counts as a tightening", before.Detail, after.Rule)
	}
}

// A policy that was installed is in force, whatever a later release demands of new ones.
func TestAnInstalledPolicyIsRead(t *testing.T) {
	t.Parallel()
	file, instance := newFile(t)
	p := policyOf(t, instance)
	p.People[0].Roles = []string{"An Approver", roster.RoleAuthor} // which is refused when it is installed
	if _, err := install(t, file, p, noon, 1, 2); !errors.Is(err, roster.ErrUnsound) {
		t.Errorf("got %v, want %v", err, roster.ErrUnsound)
	}
	err := file.Do(t.Context(), func(tx memory.Tx) error {
		return tx.AddPolicy(t.Context(), memory.Policy{Version: 1, NotBefore: noon, Text: p.Text()})
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := versionAt(t, file, noon); got != 1 {
		t.Errorf("got version %d, want 1", got)
	}
}
