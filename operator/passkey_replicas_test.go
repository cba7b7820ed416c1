package operator_test

import (
	"cmp"
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

// A challenge to sign in may be answered for five minutes, once, however many others are begun: they are stored
// nowhere.
func TestNobodyKeepsAPersonFromSigningIn(t *testing.T) {
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
	for range 5000 {
		begin()
	}
	clock.Advance(5*time.Minute - time.Second)
	if err := finish(last); err != nil {
		t.Errorf("in the last second, behind 5000 others: got %v, want it taken", err)
	}
	if err := finish(last); !errors.Is(err, operator.ErrRefused) {
		t.Errorf("once more: got %v, want %v", err, operator.ErrRefused)
	}
	clock.Advance(time.Second)
	for name, started := range map[string]operator.Challenge{"after five minutes": late, "used and over": last} {
		if err := finish(started); !errors.Is(err, operator.ErrRefused) {
			t.Errorf("%s: got %v, want %v", name, err, operator.ErrRefused)
		}
	}
}

// A challenge counts for its own ceremony, at the service that gave it out, and as it was given out.
func TestAChallengeProvesItself(t *testing.T) {
	t.Parallel()
	s, elsewhere := opened(t, storetest.OpenAt(t, storetest.Reused(t), clocktest.New().Now), 0),
		opened(t, storetest.OpenAt(t, storetest.Reused(t), clocktest.New().Now), 0)
	a := invite(t, s, "Ada", operator.Viewer)
	begin := func(s *operator.Service) operator.Challenge {
		started, err := s.BeginSignIn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return started
	}
	one, another := begin(s), begin(s)
	others := begin(elsewhere)
	for name, c := range map[string]struct{ of, by operator.Challenge }{
		"of another ceremony": {operator.Challenge{Ceremony: another.Ceremony, Options: one.Options}, one},
		"of another service":  {others, others},
	} {
		_, _, err := s.FinishSignIn(t.Context(), host(), "a browser", c.of.Ceremony, a.signed(t, c.by))
		if !errors.Is(err, operator.ErrRefused) {
			t.Errorf("a challenge %s: got %v, want %v", name, err, operator.ErrRefused)
		}
	}
	if _, _, err := s.FinishSignIn(t.Context(), host(), "a browser", one.Ceremony, a.signed(t, one)); err != nil {
		t.Errorf("its own: got %v, want it taken", err)
	}
}

// Of the challenges of one person to make a passkey the oldest give way, and nobody else's do.
func TestChallengesOfAPersonAreBounded(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		waits := func(id bursar.ID) bool {
			taken := errors.New("taken, and put back")
			err := db.Do(t.Context(), func(tx *store.Tx) error {
				_, err := tx.People().TakeChallenge(t.Context(), id)
				return cmp.Or(err, taken)
			})
			if !errors.Is(err, taken) && !errors.Is(err, store.ErrNotFound) {
				t.Fatal(err)
			}
			return errors.Is(err, taken)
		}
		err := db.Do(t.Context(), func(tx *store.Tx) error {
			for i := range byte(store.MaxPasskeyChallenges + 1) {
				for person := range byte(2) {
					if person == 1 && i > 0 {
						continue
					}
					if err := tx.People().AddChallenge(t.Context(), store.PasskeyChallenge{ID: bursar.ID{person + 1, i},
						Person: bursar.ID{person + 1}, Data: "{}",
						Expires: tx.Now().Add(time.Minute + time.Duration(i)*time.Second)}); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for id, want := range map[bursar.ID]bool{{1, 0}: false, {1, 1}: true, {1, store.MaxPasskeyChallenges}: true,
			{2, 0}: true} {
			if got := waits(id); got != want {
				t.Errorf("challenge %s waits: got %v, want %v", id, got, want)
			}
		}
	})
}
