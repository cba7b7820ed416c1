package account_test

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
)

func networks(texts ...string) []netip.Prefix {
	var list []netip.Prefix
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// from requires a key, with a secret or without, to get a code from an address on both replicas; "" is no address.
func (s *harness) from(address, key, secret string, want bursar.ErrorCode) {
	s.Helper()
	var at netip.Addr
	if address != "" {
		at = netip.MustParseAddr(address)
	}
	for _, replica := range []*account.Service{s.Service, s.replica} {
		_, err := replica.Authenticate(s.Context(), account.Credentials{Key: key, Secret: secret, From: at})
		if code(s.T, err) != want {
			s.Errorf("from %s the key gives %v, want %q", address, err, want)
		}
	}
}

func TestAKeyIsValidWhereItMayBeUsed(t *testing.T) {
	each(t, func(s *harness) {
		first := s.create(true)
		listed, err := s.NewKey(s.Context(), account.Grant{Account: first.AccountID, Scopes: account.AllScopes(),
			WithSecret: true,
			Networks:   networks("192.0.2.0/24", "2001:db8::/32")})
		if err != nil {
			s.Fatal(err)
		}
		for _, there := range []string{"192.0.2.1", "::ffff:192.0.2.1", "2001:db8::1", "2001:db8::1%eth0"} {
			s.from(there, listed.APIKey, listed.APISecret, "")
			s.from(there, listed.APIKey, "bs_wrong", bursar.CodeInvalidSecret)
		}
		for _, elsewhere := range []string{"192.0.3.1", "2001:db9::1", "::1", ""} {
			s.from(elsewhere, first.APIKey, "", "")
			for _, secret := range []string{"", listed.APISecret, "bs_wrong"} { // a right and a wrong secret get the same error
				s.from(elsewhere, listed.APIKey, secret, bursar.CodeForbidden)
			}
			s.from(elsewhere, listed.APIKey[:45]+"!", "", bursar.CodeUnauthorized)
		}
		identity, err := s.Authenticate(s.Context(), account.Credentials{Key: listed.APIKey})
		if !errors.Is(err, account.ErrForbidden) || identity.Key.ID != listed.KeyID {
			s.Errorf("the key that was used elsewhere is %s, %v", identity.Key.ID, err)
		}
		if err := s.Revoke(s.Context(), listed.KeyID); err != nil {
			s.Fatal(err)
		}
		s.from("192.0.3.1", listed.APIKey, "", bursar.CodeUnauthorized) // a revoked key is unknown, wherever it is used
	})
}

func TestTheListOfNetworksChangesAtOnce(t *testing.T) {
	each(t, func(s *harness) {
		key := s.create(true)
		const here, there = "192.0.2.1", "198.51.100.1"
		for _, step := range []struct {
			change      account.NetworkChange
			want        []netip.Prefix
			here, there bursar.ErrorCode
		}{
			{account.NetworkChange{}, nil, "", ""},
			{account.NetworkChange{Add: networks("192.0.2.0/24")}, networks("192.0.2.0/24"), "", bursar.CodeForbidden},
			{account.NetworkChange{Add: networks("198.51.100.1/32", "192.0.2.0/24")},
				networks("192.0.2.0/24", "198.51.100.1/32"), "", ""},
			{account.NetworkChange{Remove: networks("192.0.2.0/24")}, networks("198.51.100.1/32"), bursar.CodeForbidden, ""},
			{account.NetworkChange{Clear: true, Add: networks("192.0.2.1/32")}, networks("192.0.2.1/32"), "",
				bursar.CodeForbidden},
			{account.NetworkChange{Remove: networks("192.0.2.1/32"), Add: networks("198.51.100.0/24")},
				networks("198.51.100.0/24"), bursar.CodeForbidden, ""},
			{account.NetworkChange{Clear: true}, nil, "", ""},
		} {
			got, err := s.replica.SetNetworks(s.Context(), key.KeyID, step.change)
			if err != nil || !slices.Equal(got, step.want) {
				s.Fatalf("%+v gives %v, %v", step.change, got, err)
			}
			s.from(here, key.APIKey, key.APISecret, step.here)
			s.from(there, key.APIKey, key.APISecret, step.there)
		}
	})
}

func TestInvalidListsOfNetworksAreRefused(t *testing.T) {
	each(t, func(s *harness) {
		key := s.create(true)
		one := networks("192.0.2.0/24")
		if _, err := s.SetNetworks(s.Context(), key.KeyID, account.NetworkChange{Add: one}); err != nil {
			s.Fatal(err)
		}
		var many []netip.Prefix
		for i := range account.MaxNetworks {
			many = append(many, netip.MustParsePrefix(fmt.Sprintf("10.0.%d.0/24", i)))
		}
		for name, change := range map[string]account.NetworkChange{
			"the last one is removed":   {Remove: one},
			"one that is not there":     {Remove: networks("192.0.3.0/24")},
			"too many":                  {Add: many},
			"an IPv4-mapped network":    {Add: networks("::ffff:10.0.0.0/104")},
			"bits behind the prefix":    {Add: []netip.Prefix{netip.PrefixFrom(netip.MustParseAddr("10.0.0.1"), 8)}},
			"the zero network":          {Add: []netip.Prefix{{}}},
			"removed after it was lost": {Clear: true, Remove: one},
		} {
			if _, err := s.SetNetworks(s.Context(), key.KeyID, change); code(s.T, err) != bursar.CodeInvalidRequest {
				s.Errorf("%s: %v", name, err)
			}
		}
		if _, err := s.SetNetworks(s.Context(), bursar.ID{1},
			account.NetworkChange{Clear: true}); !errors.Is(err, bursar.ErrNotFound) {
			s.Errorf("an unknown key: %v", err)
		}
		s.from("192.0.2.1", key.APIKey, "", "")
		s.from("192.0.3.1", key.APIKey, "", bursar.CodeForbidden)
		if _, err := s.NewKey(s.Context(), account.Grant{Account: key.AccountID, Scopes: account.AllScopes(),
			Networks: append(many, one...)}); code(s.T, err) != bursar.CodeInvalidRequest {
			s.Errorf("a key with too many networks: %v", err)
		}
	})
}

func TestASuccessorKeepsTheRights(t *testing.T) {
	each(t, func(s *harness) {
		first := s.create(true)
		if err := s.SetScopes(s.Context(), first.KeyID, []bursar.Scope{bursar.ScopeRead}); err != nil {
			s.Fatal(err)
		}
		if _, err := s.SetNetworks(s.Context(), first.KeyID,
			account.NetworkChange{Add: networks("192.0.2.0/24")}); err != nil {
			s.Fatal(err)
		}
		next, err := s.Rotate(s.Context(), first.KeyID, time.Hour)
		if err != nil {
			s.Fatal(err)
		}
		s.from("192.0.2.1", next.APIKey, next.APISecret, "")
		s.from("192.0.3.1", next.APIKey, next.APISecret, bursar.CodeForbidden)
		identity, err := s.replica.Authenticate(s.Context(),
			account.Credentials{Key: next.APIKey, From: netip.MustParseAddr("192.0.2.1")})
		if err != nil || !slices.Equal(identity.Key.Scopes, []bursar.Scope{bursar.ScopeRead}) {
			s.Errorf("the successor may %v, %v", identity.Key.Scopes, err)
		}
	})
}

func TestScopesChangeAtOnce(t *testing.T) {
	each(t, func(s *harness) {
		key := s.create(true)
		if err := s.SetScopes(s.Context(), key.KeyID, []bursar.Scope{bursar.ScopeWallets}); err != nil {
			s.Fatal(err)
		}
		identity, err := s.replica.Authenticate(s.Context(), account.Credentials{Key: key.APIKey})
		if err != nil || identity.Key.Allows(bursar.ScopeWithdraw) || !identity.Key.Allows(bursar.ScopeWallets) {
			s.Errorf("the key may %v, %v", identity.Key.Scopes, err)
		}
		for _, scopes := range [][]bursar.Scope{nil, {"admin"}, {"read", "read"}} {
			if err := s.SetScopes(s.Context(), key.KeyID, scopes); code(s.T, err) != bursar.CodeInvalidRequest {
				s.Errorf("scopes %v: %v", scopes, err)
			}
		}
		if err := s.SetScopes(s.Context(), bursar.ID{1}, account.AllScopes()); !errors.Is(err, bursar.ErrNotFound) {
			s.Errorf("an unknown key: %v", err)
		}
		if err := s.Revoke(s.Context(), key.KeyID); err != nil {
			s.Fatal(err)
		}
		if err := s.SetScopes(s.Context(), key.KeyID, account.AllScopes()); code(s.T, err) != bursar.CodeInvalidRequest {
			s.Errorf("a revoked key: %v", err)
		}
	})
}
