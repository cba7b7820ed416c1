package account_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/orderkey"
	"github.com/bursar/bursar/store"
)

func publicKey(t *testing.T, seed byte) orderkey.Key {
	t.Helper()
	k, err := orderkey.New(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize)).Public())
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// The first key counts at once, the next after its hold, and a revoked one never again.
func TestKeysThatSignOrders(t *testing.T) {
	each(t, func(s *harness) {
		id := s.create(true).AccountID
		one, two := publicKey(s.T, 1), publicKey(s.T, 2)
		first, err := s.AddOrderKey(s.Context(), id, "shop", one.String(), 24*time.Hour)
		if err != nil || !first.UsableAt(s.clock.Now()) || first.ID != one.ID() {
			s.Fatalf("got %+v, %v, want a key that counts at once", first, err)
		}
		s.clock.Advance(time.Second)
		second, err := s.AddOrderKey(s.Context(), id, "backup", two.String(), 24*time.Hour)
		if err != nil || second.UsableAt(s.clock.Now()) || !second.UsableAt(s.clock.Now().Add(24*time.Hour)) {
			s.Fatalf("got %+v, %v, want a key that counts in a day", second, err)
		}
		for name, test := range map[string]struct {
			account     bursar.ID
			name, key   string
			code        bursar.ErrorCode
			isErr       error
			description string
		}{
			"the same key":       {account: id, name: "again", key: one.String(), code: bursar.CodeInvalidRequest},
			"no name":            {account: id, key: publicKey(s.T, 3).String(), code: bursar.CodeInvalidRequest},
			"no key":             {account: id, name: "x", key: "AAAA", isErr: orderkey.ErrKey},
			"an unknown account": {account: bursar.ID{9}, name: "x", key: publicKey(s.T, 3).String(), isErr: store.ErrNotFound},
		} {
			_, err := s.AddOrderKey(s.Context(), test.account, test.name, test.key, 0)
			if test.isErr != nil && !errors.Is(err, test.isErr) || test.isErr == nil && code(s.T, err) != test.code {
				s.Errorf("%s: got %v, want %s %v", name, err, test.code, test.isErr)
			}
		}
		if err := s.replica.RevokeOrderKey(s.Context(), id, first.ID); err != nil {
			s.Fatal(err)
		}
		if err := s.RevokeOrderKey(s.Context(), id, first.ID); !errors.Is(err, bursar.ErrNotFound) {
			s.Errorf("revoked again: got %v, want %v", err, bursar.ErrNotFound)
		}
		if _, err := s.AddOrderKey(s.Context(), id, "shop", one.String(), 0); code(s.T, err) != bursar.CodeInvalidRequest {
			s.Errorf("a revoked key: got %v, want it refused", err)
		}
		terms, err := s.OrderTerms(s.Context(), id)
		if err != nil || len(terms.Keys) != 2 || terms.Keys[0].RevokedAt.IsZero() || terms.Keys[1] != second {
			s.Errorf("got %+v, %v, want the first revoked, and the second", terms, err)
		}
	})
}
