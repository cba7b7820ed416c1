package account_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// harness is two replicas on one database under one clock.
type harness struct {
	*testing.T
	*account.Service
	replica *account.Service
	db      *store.DB
	clock   *clocktest.Clock
}

func each(t *testing.T, test func(s *harness)) {
	bursartest.EachURL(t, func(t *testing.T, url string) { test(newHarness(t, url)) })
}

func newHarness(t *testing.T, url string) *harness {
	s := &harness{T: t, clock: clocktest.New()}
	open := func() (*store.DB, *account.Service) {
		db := storetest.OpenAt(t, url, s.clock.Now)
		return db, account.NewService(db, bursar.NewIDs(s.clock.Now, nil))
	}
	s.db, s.Service = open()
	_, s.replica = open()
	return s
}

func (s *harness) create(withSecret bool) account.Issued {
	s.Helper()
	issued, err := s.Create(s.Context(), "a shop", withSecret)
	if err != nil {
		s.Fatal(err)
	}
	return issued
}

// code returns the code of a refusal, "" for none.
func code(t *testing.T, err error) bursar.ErrorCode {
	t.Helper()
	var refusal *bursar.Error
	if err != nil && !errors.As(err, &refusal) {
		t.Fatal(err)
	}
	if err == nil {
		return ""
	}
	return refusal.Code
}

// opens requires a key with a secret to get a code on both replicas.
func (s *harness) opens(key, secret string, want bursar.ErrorCode) {
	s.Helper()
	for _, replica := range []*account.Service{s.Service, s.replica} {
		if _, err := replica.Authenticate(s.Context(),
			account.Credentials{Key: key, Secret: secret}); code(s.T, err) != want {
			s.Errorf("the key gives %v, want %q", err, want)
		}
	}
}

func TestAKeyIsValidForItsAccountOnly(t *testing.T) {
	each(t, func(s *harness) {
		mine, other := s.create(true), s.create(false)
		got, err := s.Authenticate(s.Context(), account.Credentials{Key: mine.APIKey})
		if err != nil || got.Account != mine.AccountID || got.Key.ID != mine.KeyID || !got.Key.Allows(bursar.ScopeWithdraw) {
			s.Fatalf("the key is %+v, %v", got, err)
		}
		s.opens(mine.APIKey, mine.APISecret, "")
		s.opens(mine.APIKey, mine.APISecret+"x", bursar.CodeInvalidSecret)
		s.opens(mine.APIKey, mine.APIKey, bursar.CodeInvalidSecret)
		s.opens(other.APIKey, mine.APISecret, bursar.CodeInvalidSecret)
		for _, wrong := range []string{"", "bk_", mine.APISecret, mine.APIKey[:45], mine.APIKey + "A",
			"BK_" + mine.APIKey[3:],
			mine.APIKey[:10] + strings.Repeat("A", 36), strings.Repeat("bk_", 100_000)} {
			s.opens(wrong, "", bursar.CodeUnauthorized)
		}
	})
}

func TestTheSecretIsRequiredWhereTheKeyHasOne(t *testing.T) {
	each(t, func(s *harness) {
		with, without := s.create(true), s.create(false)
		for _, c := range []struct {
			key, secret string
			want        bursar.ErrorCode
		}{
			{with.APIKey, "", bursar.CodeSecretRequired},
			{with.APIKey, "bs_wrong", bursar.CodeInvalidSecret},
			{with.APIKey, with.APISecret, ""},
			{without.APIKey, "", ""},
			{without.APIKey, with.APISecret, bursar.CodeInvalidSecret},
		} {
			identity, err := s.Authenticate(s.Context(), account.Credentials{Key: c.key})
			if err != nil {
				s.Fatal(err)
			}
			if err := s.RequireSecret(identity, c.secret); code(s.T, err) != c.want {
				s.Errorf("secret %.8q gives %v, want %q", c.secret, err, c.want)
			}
		}
	})
}

func TestARevokedKeyIsInvalidAtOnceOnEveryReplica(t *testing.T) {
	each(t, func(s *harness) {
		first := s.create(true)
		s.opens(first.APIKey, "", "")
		if err := s.Revoke(s.Context(), first.KeyID); err != nil {
			s.Fatal(err)
		}
		s.opens(first.APIKey, "", bursar.CodeUnauthorized)
		if err := s.Revoke(s.Context(), bursar.ID{1}); !errors.Is(err, bursar.ErrNotFound) {
			s.Errorf("revoking an unknown key: %v", err)
		}
		brief, err := s.NewKey(s.Context(), account.Grant{Account: first.AccountID, Scopes: []bursar.Scope{bursar.ScopeRead},
			Expires: s.clock.Now().Add(time.Minute)})
		if err != nil || brief.APISecret != "" {
			s.Fatal(brief.APISecret != "", err)
		}
		s.opens(brief.APIKey, "", "")
		s.clock.Advance(time.Minute)
		s.opens(brief.APIKey, "", bursar.CodeUnauthorized)
	})
}

func TestRotationOverlaps(t *testing.T) {
	each(t, func(s *harness) {
		first := s.create(true)
		second, err := s.Rotate(s.Context(), first.KeyID, time.Hour)
		if err != nil || second.APISecret == "" || second.APIKey == first.APIKey || second.AccountID != first.AccountID {
			s.Fatal("the new key is not a key of its own", err)
		}
		s.opens(first.APIKey, first.APISecret, "")
		s.opens(second.APIKey, second.APISecret, "")
		s.opens(second.APIKey, first.APISecret, bursar.CodeInvalidSecret)
		s.clock.Advance(time.Hour)
		s.opens(first.APIKey, "", bursar.CodeUnauthorized)
		s.opens(second.APIKey, "", "")
		if _, err := s.Rotate(s.Context(), first.KeyID, 0); code(s.T, err) != bursar.CodeInvalidRequest {
			s.Errorf("rotating an ended key: %v", err)
		}
		third, err := s.Rotate(s.Context(), second.KeyID, 0)
		if err != nil {
			s.Fatal(err)
		}
		s.opens(second.APIKey, "", bursar.CodeUnauthorized)
		s.opens(third.APIKey, third.APISecret, "")
		keys, err := s.List(s.Context(), first.AccountID)
		if err != nil || len(keys) != 3 || !slices.Equal(keys[2].Scopes, keys[0].Scopes) || keys[2].Hint != third.APIKey[:8] {
			s.Errorf("the account's keys are %+v, %v", keys, err)
		}
	})
}

func TestABriefKeyIsFollowedByOneOfTheSameLife(t *testing.T) {
	each(t, func(s *harness) {
		first := s.create(false)
		brief, err := s.NewKey(s.Context(), account.Grant{Account: first.AccountID, Scopes: []bursar.Scope{bursar.ScopeRead},
			Expires: s.clock.Now().Add(time.Hour)})
		if err != nil {
			s.Fatal(err)
		}
		s.clock.Advance(50 * time.Minute)
		next, err := s.Rotate(s.Context(), brief.KeyID, 24*time.Hour)
		if err != nil {
			s.Fatal(err)
		}
		s.clock.Advance(20 * time.Minute)
		s.opens(brief.APIKey, "", bursar.CodeUnauthorized) // the overlap does not lengthen a life
		s.opens(next.APIKey, "", "")
		s.clock.Advance(41 * time.Minute)
		s.opens(next.APIKey, "", bursar.CodeUnauthorized)
	})
}

func TestNothingInClearIsKept(t *testing.T) {
	each(t, func(s *harness) {
		issued := s.create(true)
		keys, err := s.List(s.Context(), issued.AccountID)
		if err != nil || len(keys) != 1 {
			s.Fatal(len(keys), err)
		}
		of := sha256.Sum256([]byte(issued.APISecret))
		if keys[0].KeyHash != sha256.Sum256([]byte(issued.APIKey)) || !bytes.Equal(keys[0].SecretHash, of[:]) {
			s.Error("what is kept is not the SHA-256 of what was shown")
		}
		if len(issued.APIKey) != 46 || len(issued.APISecret) != 46 || !strings.HasPrefix(issued.APISecret, "bs_") {
			s.Errorf("a key has %d and a secret %d characters", len(issued.APIKey), len(issued.APISecret))
		}
	})
}

func TestInvalidGrantsAreRefused(t *testing.T) {
	each(t, func(s *harness) {
		mine := s.create(true)
		read := []bursar.Scope{bursar.ScopeRead}
		for _, c := range []struct {
			grant account.Grant
			want  bursar.ErrorCode
		}{
			{account.Grant{Account: mine.AccountID}, bursar.CodeInvalidRequest},
			{account.Grant{Account: mine.AccountID, Scopes: []bursar.Scope{"admin"}}, bursar.CodeInvalidRequest},
			{account.Grant{Account: mine.AccountID, Scopes: []bursar.Scope{"read", "read"}}, bursar.CodeInvalidRequest},
			{account.Grant{Account: mine.AccountID, Scopes: read, Expires: s.clock.Now().Add(-time.Second)},
				bursar.CodeInvalidRequest},
			{account.Grant{Account: bursar.ID{9}, Scopes: read}, bursar.CodeNotFound},
		} {
			if issued, err := s.NewKey(s.Context(), c.grant); code(s.T, err) != c.want || issued.APIKey != "" {
				s.Errorf("%+v gives %v, want %q", c.grant, err, c.want)
			}
		}
		for _, name := range []string{"", "  ", "a\nb", "\xff", strings.Repeat("a", account.MaxName+1)} {
			if _, err := s.Create(context.Background(), name, true); code(s.T, err) != bursar.CodeInvalidRequest {
				s.Errorf("name %.10q gives %v", name, err)
			}
		}
		if _, err := s.Rotate(s.Context(), mine.KeyID, -time.Second); code(s.T, err) != bursar.CodeInvalidRequest {
			s.Errorf("an overlap below zero gives %v", err)
		}
		all, err := s.Accounts(s.Context())
		if err != nil || len(all) != 1 || all[0].Name != "a shop" || all[0].WebhookGeneration != 1 {
			s.Errorf("the accounts are %+v, %v", all, err)
		}
	})
}
