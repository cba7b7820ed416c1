package memory

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/bursar/bursar"
)

// bothKinds runs a test on both kinds of memory.
func bothKinds(t *testing.T, test func(t *testing.T, k Keeper)) {
	t.Helper()
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		f, _ := newFile(t, false)
		test(t, f)
	})
	t.Run("ram", func(t *testing.T) {
		t.Parallel()
		test(t, NewRAM())
	})
}

func TestWhatPeopleSignedIsKept(t *testing.T) {
	t.Parallel()
	bothKinds(t, func(t *testing.T, k Keeper) {
		do(t, k, func(ctx context.Context, tx Tx) error {
			flow, err := tx.AddFlow(ctx, Flow{Chain: "c", At: noon})
			order := Digest{1}
			err = errors.Join(err, tx.AddPolicy(ctx, Policy{1, noon, "one", noon}),
				tx.AddPolicy(ctx, Policy{2, noon.Add(1e9), "two", time.Time{}}),
				tx.AddDestination(ctx, Destination{"n1", "c", "a", noon, noon.Add(time.Hour), "d1"}),
				tx.AddDestination(ctx, Destination{"n2", "c", "b", noon, noon.Add(time.Hour), "d2"}),
				tx.AddNonce(ctx, "n", flow), tx.AddNonce(ctx, "n", flow+5),
				tx.AddHeld(ctx, order, "1/r", noon), tx.AddHeld(ctx, order, "1/r", noon.Add(time.Hour)),
				tx.AddGrant(ctx, Grant{flow, order, "r", bursar.Units(7), noon, bursar.ID{3}, 2}))
			return err
		})
		do(t, k, func(ctx context.Context, tx Tx) error {
			policies, err := tx.Policies(ctx)
			if len(policies) != 2 || policies[0] != (Policy{2, noon.Add(1e9), "two", time.Time{}}) {
				t.Errorf("got policies %+v, want the newest first", policies)
			}
			list, failed := tx.Destinations(ctx, "c", "b")
			if len(list) != 1 || list[0] != (Destination{"n2", "c", "b", noon, noon.Add(time.Hour), "d2"}) {
				t.Errorf("got destinations %+v", list)
			}
			err = errors.Join(err, failed, tx.RemoveDestination(ctx, "n2"))
			if list, failed = tx.Destinations(ctx, "", ""); len(list) != 1 || list[0].Nonce != "n1" {
				t.Errorf("got destinations %+v, want the first alone", list)
			}
			flow, found, failed2 := tx.Nonce(ctx, "n")
			if flow != 1 || !found {
				t.Errorf("got the nonce for flow %d, %t, want 1", flow, found)
			}
			_, unknown, failed3 := tx.Nonce(ctx, "m")
			since, failed4 := tx.HeldSince(ctx, Digest{1}, "1/r")
			never, failed5 := tx.HeldSince(ctx, Digest{1}, "2/r")
			if unknown || !since.Equal(noon) || !never.IsZero() {
				t.Errorf("got nonce %t, since %s and %s, want none, %s and none", unknown, since, never, noon)
			}
			flows, failed6 := tx.Granted(ctx, Digest{1})
			worth, failed7 := tx.WorthSince(ctx, RuleUse{Rule: "r"}, noon)
			later, failed8 := tx.WorthSince(ctx, RuleUse{Rule: "r"}, noon.Add(time.Millisecond))
			payments, failed9 := tx.Payments(ctx, Digest{1})
			unpaid, failed10 := tx.Payments(ctx, Digest{2})
			if payments != 2 || unpaid != 0 {
				t.Errorf("got payments %d and %d, want 2 and 0", payments, unpaid)
			}
			if len(flows) != 1 || flows[0] != 1 || worth != bursar.Units(7) || !later.IsZero() {
				t.Errorf("got flows %v, worth %s and later %s, want 1, 7 and 0", flows, worth, later)
			}
			return errors.Join(err, failed, failed2, failed3, failed4, failed5, failed6, failed7, failed8, failed9, failed10)
		})
	})
}

// A flow that is forgotten takes along what was allowed in it, but for how often that was: the same order in a later
// flow is a further payment of it.
func TestAForgottenFlowAllowsNothing(t *testing.T) {
	t.Parallel()
	f, _ := newFile(t, false)
	do(t, f, func(ctx context.Context, tx Tx) error {
		first, err := tx.AddFlow(ctx, Flow{Chain: "c", At: noon})
		_, err2 := tx.AddFlow(ctx, Flow{Chain: "c", At: noon})
		return errors.Join(err, err2, tx.AddSigned(ctx, first, "c", Digest{9}, noon),
			tx.AddGrant(ctx, Grant{first, Digest{1}, "r", bursar.Units(7), noon, bursar.ID{3}, 1}))
	})
	do(t, f, func(ctx context.Context, tx Tx) error {
		if n, err := tx.Forget(ctx, noon.Add(time.Hour), 9); n != 1 || err != nil {
			t.Errorf("got %d forgotten, %v, want 1", n, err)
		}
		flows, err := tx.Granted(ctx, Digest{1})
		if len(flows) != 0 {
			t.Errorf("got flows %v, want none", flows)
		}
		n, failed := tx.Payments(ctx, Digest{1})
		if n != 1 {
			t.Errorf("got %d payments, want 1", n)
		}
		return errors.Join(err, failed)
	})
}

func TestBeginAgainDatesGrantsAndHoldsBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	at := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	ahead := at.AddDate(1, 0, 0)
	if err := Create(t.Context(), path, Init{Fingerprint: "s", At: at}); err != nil {
		t.Fatal(err)
	}
	f, err := Open(t.Context(), path, "s")
	if err != nil {
		t.Fatal(err)
	}
	err = f.Do(t.Context(), func(tx Tx) error {
		id, err := tx.AddFlow(t.Context(), Flow{Chain: "bitcoin", Outgoing: bursar.ID{1}, At: ahead})
		if err != nil {
			return err
		}
		if err := tx.AddGrant(t.Context(), Grant{Flow: id, Rule: "small", Worth: bursar.Units(7), At: ahead}); err != nil {
			return err
		}
		return tx.AddHeld(t.Context(), Digest{1}, "1/large", ahead)
	})
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := BeginAgain(t.Context(), path, Init{Fingerprint: "s", At: at}, "op", "clock"); err != nil {
		t.Fatal(err)
	}
	f, err = Open(t.Context(), path, "s")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = f.Do(t.Context(), func(tx Tx) error {
		used, err := tx.WorthSince(t.Context(), RuleUse{Rule: "small"}, at.Add(time.Hour)) // an hour, two hours later
		if !used.IsZero() {
			t.Errorf("got %s used, want none: it counts from begin-again on", used)
		}
		since, _ := tx.HeldSince(t.Context(), Digest{1}, "1/large")
		if since.After(at) {
			t.Errorf("got a hold since %s, want none after begin-again", since)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A second freeze while the first holds is in the state and the log too.
func TestASecondFreezeIsKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	at := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	if err := Create(t.Context(), path, Init{Fingerprint: "s", At: at}); err != nil {
		t.Fatal(err)
	}
	f, err := Open(t.Context(), path, "s")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i, who := range []string{"ann", "cat"} {
		if err := Stop(path,
			Freeze{At: at.Add(time.Duration(i) * time.Hour), Who: who, Why: who + " saw something"}); err != nil {
			t.Fatal(err)
		}
		if err := Enter(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	list, err := Freezes(t.Context(), f)
	if err != nil || len(list) != 2 {
		t.Errorf("got %+v, %v, want both freezes", list, err)
	}
}

// What is known of policies, removals and denials only moves forward, and outlives a state that begins again.
func TestWhatIsKnownOnlyMovesForward(t *testing.T) {
	t.Parallel()
	bothKinds(t, func(t *testing.T, k Keeper) {
		order := Digest{3}
		do(t, k, func(ctx context.Context, tx Tx) error {
			var errs []error
			for _, n := range []int64{2, 1, 3, 2} {
				errs = append(errs, tx.KnowPolicy(ctx, KnownPolicy{n, "h"}),
					tx.AddRemoved(ctx, "c", "a", noon.Add(time.Duration(n)*time.Second)),
					tx.AddDenial(ctx, order, Denial{"bob", "ssh", noon.Add(time.Duration(n) * time.Second)}))
			}
			return errors.Join(append(errs, tx.AddDenial(ctx, order, Denial{"ann", "webauthn", noon}))...)
		})
		do(t, k, func(ctx context.Context, tx Tx) error {
			known, err := tx.KnownPolicy(ctx)
			at, failed := tx.Removed(ctx, "c", "a")
			never, failed2 := tx.Removed(ctx, "c", "b")
			list, failed3 := tx.Denials(ctx, order)
			none, failed4 := tx.Denials(ctx, Digest{4})
			if known != (KnownPolicy{3, "h"}) || !at.Equal(noon.Add(3*time.Second)) || !never.IsZero() || len(none) != 0 {
				t.Errorf("got %+v, removed %s and %s, %+v, want %+v and %v and zero and none", known, at, never, none,
					KnownPolicy{3, "h"}, noon.Add(3*time.Second))
			}
			if len(list) != 2 || list[0].Person != "ann" || !list[1].At.Equal(noon.Add(3*time.Second)) {
				t.Errorf("got denials %+v, want ann's and the last of bob", list)
			}
			return errors.Join(err, failed, failed2, failed3, failed4)
		})
	})
}

func TestBeginAgainKeepsWhichPolicyWasInForce(t *testing.T) {
	t.Parallel()
	f, path := newFile(t, false)
	do(t, f, func(ctx context.Context, tx Tx) error { return tx.KnowPolicy(ctx, KnownPolicy{5, "h"}) })
	if err := errors.Join(f.Close(),
		BeginAgain(t.Context(), path, Init{Fingerprint: "seed", At: noon, Cold: true}, "op", "restored")); err != nil {
		t.Fatal(err)
	}
	do(t, reopen(t, path), func(ctx context.Context, tx Tx) error {
		known, err := tx.KnownPolicy(ctx)
		if known.Version != 5 {
			t.Errorf("got %+v, want version 5", known)
		}
		return err
	})
}

// The newest approvals of each passkey are remembered, each once, whatever the sequence they came in, and the one with
// the highest counter: a state of another signer that is merged may have it from before all of them.
//
// The attack: a copy of a passkey approves at one signer, its owner before that at another, and a merge of both forgets
// the approval which shows it.
func TestTheNewestTouchesAreRemembered(t *testing.T) {
	t.Parallel()
	bothKinds(t, func(t *testing.T, k Keeper) {
		touch := func(n int) Touch {
			return Touch{Passkey: "a", Nonce: strconv.Itoa(n), Made: noon.Add(time.Duration(n) * time.Second),
				Counter: 1<<32 - 1 - uint32(n)}
		}
		do(t, k, func(ctx context.Context, tx Tx) error {
			err := errors.Join(tx.AddTouch(ctx, touch(2)), tx.AddTouch(ctx, touch(1)), tx.AddTouch(ctx, touch(2)),
				tx.AddTouch(ctx, Touch{Passkey: "b", Nonce: "1", Made: noon, Counter: 1}))
			list, failed := tx.Touches(ctx, "a")
			if len(list) != 2 || list[0].Nonce != "1" || list[1].Counter != touch(2).Counter || !list[1].Made.Equal(
				touch(2).Made) {
				t.Errorf("got %+v, want two, oldest first", list)
			}
			return errors.Join(err, failed)
		})
		do(t, k, func(ctx context.Context, tx Tx) error {
			for n := 3; n <= MostTouches+3; n++ { // the counter falls, as no passkey's does: the first has the highest
				if err := tx.AddTouch(ctx, touch(n)); err != nil {
					return err
				}
			}
			list, err := tx.Touches(ctx, "a")
			if len(list) != MostTouches+1 || list[0].Nonce != "1" || list[1].Nonce != "4" {
				t.Errorf("got %d, first %q and %q; want the newest %d after the highest", len(list), list[0].Nonce,
					list[1].Nonce, MostTouches)
			}
			return err
		})
	})
}
