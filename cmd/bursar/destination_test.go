package main

import (
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/treasury"
)

// newChainHarness returns the harness of a service with two chains whose nodes are unreachable: a list needs none.
func newChainHarness(t *testing.T) *harness {
	return newSeededHarness(t,
		"chains: {ethereum: {rpc: 'http://127.0.0.1:1', chain_id: 31337}, xrpl: {rpc: 'http://127.0.0.1:1'}}",
		"withdrawals: {destination_hold: 2h}")
}

const (
	someone  = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" // of EIP-55
	exchange = "rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe"
)

// The treasury pays to listed destinations only: they can be listed before its first withdrawal, as
// docs/operations/treasury.md says.
func TestTreasuryDestinationsComeFirst(t *testing.T) {
	t.Parallel()
	d := newChainHarness(t)
	account := "--account=" + treasury.Account.String()
	added := parse[addedDestination](d, "destination", "add", account, "--family", "evm", "--address", someone, "--label",
		"cold", "--json")
	l := parse[listedDestinations](d, "destination", "list", account, "--json")
	if !added.Added || !l.Enabled || len(l.Destinations) != 1 || l.Destinations[0].Label != "cold" {
		t.Errorf("added %+v to the list %+v", added, l)
	}
}

func TestDestinations(t *testing.T) {
	t.Parallel()
	d := newChainHarness(t)
	id := parse[createdAccount](d, "account", "create", "--name", "shop", "--json").AccountID
	account := "--account=" + id.String()
	list := func() listedDestinations {
		t.Helper()
		return parse[listedDestinations](d, "destination", "list", account, "--json")
	}
	if l := list(); l.Enabled || l.EnabledUntil != nil || l.Destinations == nil || len(l.Destinations) != 0 ||
		l.AccountID != id {
		t.Errorf("an empty list is %+v", l)
	}
	added := parse[addedDestination](d, "destination", "add", account, "--family", "evm", "--address",
		strings.ToLower(someone), "--label", "treasury", "--json")
	if left := time.Until(added.UsableFrom); !added.Added || added.Address != someone || left < time.Hour ||
		left > 2*time.Hour {
		t.Errorf("added %+v", added)
	}
	if got := d.ok("destination", "add", account, "--family", "evm", "--address",
		someone); !strings.Contains(got, "was listed already as "+added.DestinationID.String()) {
		t.Errorf("added again: %s", got)
	}
	if got := d.ok("destination", "add", account, "--currency", "XRP", "--address",
		exchange+":7"); !strings.HasPrefix(got, exchange+":7 is listed as ") || !strings.Contains(got, "usable from 20") {
		t.Errorf("added: %s, want %v first and %q in it", got, exchange+":7 is listed as ", "usable from 20")
	}
	if l := list(); len(l.Destinations) != 2 || *l.Destinations[0].Currency != "XRP" ||
		l.Destinations[1].Currency != nil || l.Destinations[1].Family != "evm" ||
		l.Destinations[1].Label != "treasury" || l.Destinations[1].Usable ||
		!l.Destinations[1].UsableFrom.Equal(added.UsableFrom) {
		t.Errorf("listed %+v", l)
	}
	if got := d.ok("destination", "enable",
		account); !strings.Contains(got, "may withdraw to its 0 usable destinations only; 2 more wait") {
		t.Errorf("enabled: %s", got)
	}
	table := d.run("", "destination", "list", account)
	if !strings.Contains(table.out, "all of evm") || !strings.Contains(table.out, exchange+":7") ||
		!strings.Contains(table.err, "The list is on: ") {
		t.Errorf("the table is\n%s%s, want %q in it and %v in it and %q in it", table.err, table.out, "all of evm",
			exchange+":7", "The list is on: ")
	}
	if got := d.ok("destination", "disable", account); !strings.Contains(got, "may withdraw to any address from 20") ||
		!strings.Contains(got, "cancels this") {
		t.Errorf("disabled: %s, want %q in it and %q in it", got, "may withdraw to any address from 20", "cancels this")
	}
	if l := list(); !l.Enabled || l.EnabledUntil == nil || time.Until(*l.EnabledUntil) < time.Hour {
		t.Errorf("disabled the list is %+v", l)
	}
	d.ok("destination", "enable", account)
	if l := list(); !l.Enabled || l.EnabledUntil != nil {
		t.Errorf("enabled again the list is %+v", l)
	}
	if got := d.ok("destination", "remove", account, added.DestinationID.String()); got != "destination "+
		added.DestinationID.String()+" is removed from the list\n" || len(list().Destinations) != 1 {
		t.Errorf("removed: %s", got)
	}
}

func TestMistakesOfDestinations(t *testing.T) {
	t.Parallel()
	d := newChainHarness(t)
	id := parse[createdAccount](d, "account", "create", "--name", "shop", "--json").AccountID.String()
	nobody := "0193a6a0-0000-7000-8000-000000000000"
	d.fails(exitFailed, "this is not a valid address of ethereum on this network", "destination", "add", "--account", id,
		"--currency", "ETH", "--address", exchange)
	d.fails(exitFailed, "the chain of BTC is not configured here", "destination", "add", "--account", id, "--currency",
		"BTC", "--address", someone)
	d.fails(exitFailed, `no chain of the family "ethereum" is configured here; configured are evm, xrpl`, "destination",
		"add", "--account", id, "--family", "ethereum", "--address", someone)
	d.fails(exitFailed, "account "+id+" has no destination "+nobody, "destination", "remove", "--account", id, nobody)
	d.fails(exitFailed, "there is no account "+nobody+": see `bursar account list`", "destination", "add", "--account",
		nobody, "--currency", "ETH", "--address", someone)
	d.fails(exitFailed, "there is no account "+nobody, "destination", "enable", "--account", nobody)
	d.fails(exitFailed, "there is no account "+nobody, "destination", "disable", "--account", nobody)
	d.fails(exitFailed, "there is no account "+nobody, "destination", "list", "--account", nobody)
	if got := d.ok("destination", "disable", "--account", id); !strings.Contains(got, "may withdraw to any address\n") {
		t.Errorf("a list that was never on: %s", got)
	}
}
