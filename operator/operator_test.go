package operator_test

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

const origin = "https://console.example"

func opened(t *testing.T, db *store.DB, hold time.Duration) *operator.Service {
	t.Helper()
	s, err := operator.NewService(operator.Config{DB: db, IDs: bursar.NewIDs(db.Now, nil), URL: origin, Hold: hold})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// invite makes a person with a passkey.
func invite(t *testing.T, s *operator.Service, name string, roles ...operator.Role) *authenticator {
	t.Helper()
	invited, err := s.Invite(t.Context(), host(), name, roles, nil)
	if err != nil {
		t.Fatal(err)
	}
	token := tokenOf(invited)
	started, err := s.BeginInvited(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	a := newAuthenticator(t)
	if _, err := s.FinishMaking(t.Context(), host(), started.Ceremony, a.made(t, started)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.BeginInvited(t.Context(), token); !errors.Is(err, operator.ErrRefused) {
		t.Errorf("an invitation that was used is answered %v, want %v", err, operator.ErrRefused)
	}
	return a
}

// tokenOf returns the token of an invitation's link.
func tokenOf(i operator.Invited) string {
	_, token, _ := strings.Cut(i.Link, "#")
	return token
}

func host() operator.Act {
	return operator.Act{Person: operator.Person{Name: "root@host"}, From: netip.MustParseAddr("192.0.2.1")}
}

func signIn(t *testing.T, s *operator.Service, a *authenticator) (string, error) {
	t.Helper()
	started, err := s.BeginSignIn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	response := a.signed(t, started)
	cookie, _, err := s.FinishSignIn(t.Context(), host(), "a browser", started.Ceremony, response)
	if _, _, again := s.FinishSignIn(t.Context(), host(), "a browser", started.Ceremony, response); again == nil {
		t.Error("a challenge was answered twice")
	}
	return cookie, err
}

// A person makes a passkey by an invitation, signs in with it, and is nobody once revoked. All of it is in the log.
func TestAPersonSignsIn(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := opened(t, db, time.Hour)
		a := invite(t, s, "Ada", operator.Admin)
		cookie, err := signIn(t, s, a)
		if err != nil {
			t.Fatal(err)
		}
		p, session, err := s.SignedIn(t.Context(), cookie)
		if err != nil || p.Name != "Ada" || !slices.Equal(p.Roles, []operator.Role{operator.Admin}) {
			t.Fatalf("the cookie opens %+v, %v, want Ada, an admin at once", p, err)
		}
		if _, _, err := s.SignedIn(t.Context(), cookie+"0"); !errors.Is(err, operator.ErrSignedOut) {
			t.Errorf("another cookie is answered %v, want %v", err, operator.ErrSignedOut)
		}
		if list, err := s.Sessions(t.Context(), p.ID); err != nil || len(list) != 1 || list[0].ID != session.ID {
			t.Errorf("the sessions are %v, %v, want the one", list, err)
		}
		if err := s.Revoke(t.Context(), host(), "Ada"); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.SignedIn(t.Context(), cookie); !errors.Is(err, operator.ErrSignedOut) {
			t.Errorf("a revoked person is answered %v, want %v", err, operator.ErrSignedOut)
		}
		if _, err := signIn(t, s, a); !errors.Is(err, operator.ErrRefused) {
			t.Errorf("a revoked person's passkey is answered %v, want %v", err, operator.ErrRefused)
		}
		last, err := operator.Verify(t.Context(), db)
		if err != nil || last.Number != 4 { // invited, passkey, session, revoked
			t.Errorf("the log ends with row %d, %v, want 4 acts", last.Number, err)
		}
	})
}

// Each of these answers is refused, all alike.
func TestAForgedSignInIsRefused(t *testing.T) {
	t.Parallel()
	s := opened(t, storetest.Open(t, storetest.Reused(t)), 0)
	a := invite(t, s, "Ada", operator.Viewer)
	for what, forge := range map[string]func(*authenticator){
		"another key":                func(f *authenticator) { f.key = newAuthenticator(t).key },
		"another site":               func(f *authenticator) { f.origin = "https://console.example.evil.example" },
		"a user who is not verified": func(f *authenticator) { f.flags = 1 },
		"an unknown person":          func(f *authenticator) { f.handle = encoded(make([]byte, 16)) },
		"an unknown passkey":         func(f *authenticator) { f.id = []byte("another passkey") },
	} {
		forged := *a
		forge(&forged)
		if _, err := signIn(t, s, &forged); !errors.Is(err, operator.ErrRefused) {
			t.Errorf("%s is answered %v, want %v", what, err, operator.ErrRefused)
		}
	}
}

// The second person waits for the hold, and so does a role that is added; one that is taken away ends at once.
func TestRolesWait(t *testing.T) {
	t.Parallel()
	s := opened(t, storetest.Open(t, storetest.Reused(t)), time.Hour)
	invite(t, s, "Ada", operator.Viewer, operator.Support)
	invited, err := s.Invite(t.Context(), host(), "Grace", []operator.Role{operator.Approver}, nil)
	if err != nil || invited.Person.Can(operator.VerbRead) || invited.Person.ChangesAt.IsZero() {
		t.Errorf("the second person is %+v, %v, want one who waits", invited.Person, err)
	}
	p, err := s.SetRoles(t.Context(), host(), "Ada", []operator.Role{operator.Viewer, operator.Approver}, nil)
	if err != nil || p.Can(operator.VerbChargeResolve) || p.Can(operator.VerbWithdrawalApprove) ||
		!p.Can(operator.VerbRead) {
		t.Errorf("Ada is %+v, %v, want a viewer who is no more in support and not yet an approver", p, err)
	}
	account := bursar.ID{7}
	p, err = s.SetRoles(t.Context(), host(), "Ada", []operator.Role{operator.Viewer}, []bursar.ID{account})
	if err != nil || p.May(operator.VerbRead, account) != nil || p.May(operator.VerbRead, bursar.ID{8}) == nil {
		t.Errorf("Ada is %+v, %v, want one who is restricted to one account at once", p, err)
	}
	p, err = s.SetRoles(t.Context(), host(), "Ada", []operator.Role{operator.Viewer}, nil)
	if err != nil || p.May(operator.VerbRead, bursar.ID{8}) == nil || p.ChangesAt.IsZero() {
		t.Errorf("Ada is %+v, %v, want one who still waits for the other accounts", p, err)
	}
}

// A recovery ends the passkeys before it, and the rights wait again.
func TestARecoveryEndsEarlierPasskeys(t *testing.T) {
	t.Parallel()
	s := opened(t, storetest.Open(t, storetest.Reused(t)), time.Hour)
	old := invite(t, s, "Ada", operator.Admin)
	invite(t, s, "Grace", operator.Viewer)
	if _, err := s.Invite(t.Context(), host(), "Ada", []operator.Role{operator.Approver}, nil); err == nil {
		t.Error("an invitation gave a person who is there another role, want an error")
	}
	recovered := invite(t, s, "Ada")
	if _, err := signIn(t, s, old); !errors.Is(err, operator.ErrRefused) {
		t.Errorf("the lost passkey is answered %v, want %v", err, operator.ErrRefused)
	}
	cookie, err := signIn(t, s, recovered)
	if err != nil {
		t.Fatal(err)
	}
	if p, _, err := s.SignedIn(t.Context(), cookie); err != nil || p.Can(operator.VerbPeople) || len(p.NextRoles) != 1 {
		t.Errorf("the recovered person is %+v, %v, want one who waits", p, err)
	}
}

// No admin may approve by being an admin.
func TestAnAdminApprovesNothing(t *testing.T) {
	t.Parallel()
	for _, r := range operator.Roles() {
		may := slices.Contains(r.Verbs(), operator.VerbWithdrawalApprove)
		if may != (r == operator.Approver) {
			t.Errorf("%s may approve: %v, want %v", r, may, r == operator.Approver)
		}
	}
}

// A session alone adds no passkey: anybody who took it over would approve with theirs. One that was started before a
// recovery is not finished after it.
func TestAnotherPasskeyNeedsOneOfThePersons(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := opened(t, db, time.Hour)
		a := invite(t, s, "Ada", operator.Approver)
		mallory := invite(t, s, "Mallory", operator.Viewer)
		cookie, err := signIn(t, s, a)
		if err != nil {
			t.Fatal(err)
		}
		_, session, err := s.SignedIn(t.Context(), cookie)
		if err != nil {
			t.Fatal(err)
		}
		another := func(with *authenticator) (operator.Challenge, error) {
			asked, err := s.BeginSignIn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return s.BeginAnother(t.Context(), session, asked.Ceremony, with.signed(t, asked))
		}
		unknown := newAuthenticator(t)
		unknown.handle = a.handle
		for what, with := range map[string]*authenticator{"a new key": unknown, "another person's": mallory} {
			if _, err := another(with); !errors.Is(err, operator.ErrRefused) {
				t.Errorf("%s: got %v, want %v", what, err, operator.ErrRefused)
			}
		}
		started, err := another(a)
		if err != nil {
			t.Fatal(err)
		}
		second := newAuthenticator(t)
		if _, err := s.FinishMaking(t.Context(), host(), started.Ceremony, second.made(t, started)); err != nil {
			t.Fatalf("the second passkey: got %v, want it made", err)
		}
		if started, err = another(second); err != nil {
			t.Fatal(err)
		}
		invite(t, s, "Ada")
		_, err = s.FinishMaking(t.Context(), host(), started.Ceremony, newAuthenticator(t).made(t, started))
		if !errors.Is(err, operator.ErrRefused) {
			t.Errorf("one started before the recovery: got %v, want %v", err, operator.ErrRefused)
		}
	})
}
