package operator_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// A person makes a passkey and signs in however a load balancer spreads the requests: what one replica gives out
// another takes, once.
func TestAnotherReplicaTakesTheAnswer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		one, other := opened(t, db, 0), opened(t, storetest.Open(t, storetest.URL(db)), 0)
		invited, err := one.Invite(t.Context(), host(), "Ada", []operator.Role{operator.Viewer}, nil)
		if err != nil {
			t.Fatal(err)
		}
		started, err := one.BeginInvited(t.Context(), tokenOf(invited))
		if err != nil {
			t.Fatal(err)
		}
		a := newAuthenticator(t)
		if _, err := other.FinishMaking(t.Context(), host(), started.Ceremony, a.made(t, started)); err != nil {
			t.Fatalf("the passkey: got %v, want it made by the other replica", err)
		}
		started, err = other.BeginSignIn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		response := a.signed(t, started)
		errs := make([]error, 2)
		var group sync.WaitGroup
		for i, s := range []*operator.Service{one, other} {
			group.Go(func() {
				_, _, errs[i] = s.FinishSignIn(t.Context(), host(), "a browser", started.Ceremony, response)
			})
		}
		group.Wait()
		if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs...), operator.ErrRefused) {
			t.Errorf("the answer at both replicas at once: got %v, want one of them to take it", errs)
		}
	})
}

// A challenge may be answered for five minutes. Where too many wait, the oldest give way, and those that have expired
// are removed.
func TestChallengesAreBounded(t *testing.T) {
	t.Parallel()
	clock := clocktest.New()
	db := storetest.OpenAt(t, storetest.Reused(t), clock.Now)
	s := opened(t, db, 0)
	a := invite(t, s, "Ada", operator.Viewer)
	finish := func(started operator.Challenge) error {
		_, _, err := s.FinishSignIn(t.Context(), host(), "a browser", started.Ceremony, a.signed(t, started))
		return err
	}
	begin := func() operator.Challenge {
		t.Helper()
		started, err := s.BeginSignIn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return started
	}
	late, last := begin(), begin()
	clock.Advance(5*time.Minute - time.Second)
	if err := finish(last); err != nil {
		t.Errorf("in the last second: got %v, want it taken", err)
	}
	clock.Advance(time.Second)
	if err := finish(late); !errors.Is(err, operator.ErrRefused) {
		t.Errorf("after five minutes: got %v, want %v", err, operator.ErrRefused)
	}
	first := begin()
	clock.Advance(time.Second)
	second := begin()
	clock.Advance(time.Second)
	err := db.Do(t.Context(), func(tx *store.Tx) error {
		for i := range store.MaxPasskeyChallenges - 1 {
			if err := tx.People().AddChallenge(t.Context(), store.PasskeyChallenge{ID: bursar.ID{9, byte(i >> 8), byte(i)},
				Data: "{}", Expires: tx.Now().Add(time.Minute * 5)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := finish(first); !errors.Is(err, operator.ErrRefused) {
		t.Errorf("the oldest of too many: got %v, want %v", err, operator.ErrRefused)
	}
	if err := finish(second); err != nil {
		t.Errorf("the next one: got %v, want it taken", err)
	}
}
