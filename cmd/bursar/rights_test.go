package main

import (
	"slices"
	"strings"
	"testing"
)

func TestRightsOfKeys(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	id := parse[createdAccount](d, "account", "create", "--name", "shop", "--json").AccountID
	made := parse[createdKey](d, "key", "create", id.String(), "--allow-ip", "192.0.2.0/24", "--allow-ip",
		"::ffff:198.51.100.7", "--json")
	key := made.KeyID.String()
	list := func() listedKey {
		t.Helper()
		keys := parse[[]listedKey](d, "key", "list", id.String(), "--json")
		if len(keys) != 2 || len(keys[0].AllowIPs) != 0 || keys[0].AllowIPs == nil {
			t.Fatalf("listed %+v", keys)
		}
		return keys[1]
	}
	if got := list().AllowIPs; !slices.Equal(got, []string{"192.0.2.0/24", "198.51.100.7/32"}) {
		t.Errorf("the key is made for %v", got)
	}
	if got, want := d.ok("key", "allow-ip", key, "--add", "2001:db8::/32", "--remove", "192.0.2.0/24"),
		"key "+key+" may be used from 198.51.100.7/32 2001:db8::/32\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if table := d.ok("key", "list"); !strings.Contains(table, "198.51.100.7/32 2001:db8::/32") ||
		!strings.Contains(table, "everywhere") {
		t.Errorf("the table is\n%s, want %q in it and %q in it", table, "198.51.100.7/32 2001:db8::/32", "everywhere")
	}
	d.fails(exitFailed, "10.0.0.0/8 is not on the key's list", "key", "allow-ip", key, "--remove", "10.0.0.0/8")
	d.fails(exitFailed, "the key could be used from everywhere; clear the list if that is meant", "key", "allow-ip", key,
		"--remove", "198.51.100.7", "--remove", "2001:db8::/32")
	if got := d.ok("key", "allow-ip", key, "--clear"); got != "key "+key+" may be used from everywhere\n" ||
		len(list().AllowIPs) != 0 {
		t.Errorf("got %s, want %v and none", got, "key "+key+" may be used from everywhere\n")
	}
	if got := d.ok("key", "scopes", key, "read,wallets"); got != "key "+key+" may read, wallets\n" {
		t.Errorf("got %s, want %v", got, "key "+key+" may read, wallets\n")
	}
	if got := list().Scopes; len(got) != 2 || got[0] != "read" || got[1] != "wallets" {
		t.Errorf("the key may %v, want 2 of them and %q and %q", got, "read", "wallets")
	}
	nobody := "0193a6a0-0000-7000-8000-000000000000"
	d.fails(exitFailed, "there is no key "+nobody, "key", "allow-ip", nobody, "--clear")
	d.fails(exitFailed, "there is no key "+nobody, "key", "scopes", nobody, "read")
	d.fails(exitFailed, "the scopes are read, wallets and withdraw, each once", "key", "scopes", key, "admin")
}
