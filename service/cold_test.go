package service

import (
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/rpc"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/chain/solana"
)

func TestTheAddressesOfColdWalletsAreProven(t *testing.T) {
	t.Parallel()
	c := sim.New(sim.Config{ID: bursar.Ethereum, Family: "evm"})
	hot, cold, other := c.Named("hot"), c.Named("cold"), c.Named("other")
	wallet := func(bases ...string) bursar.ColdWallet { return bursar.ColdWallet{Name: "vault", Addresses: bases} }
	executed := func(base, by string) bursar.ColdWallet {
		return bursar.ColdWallet{Name: "safe", Kind: bursar.ColdSafe, Addresses: []string{base}, Executor: by}
	}
	if _, err := coldOf(c, []bursar.ColdWallet{executed(cold, other)}, hot); err != nil {
		t.Errorf("an executor: got %v, want no error", err)
	}
	list, err := coldOf(c, []bursar.ColdWallet{wallet(cold, other)}, hot)
	if err != nil || len(bursar.ColdBases(list)) != 2 {
		t.Fatalf("got %v (%v), want both addresses", list, err)
	}
	ledger, err := solana.New(solana.Private(), rpc.Config{URLs: []string{"http://127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ledger.Close)
	const account, hotBase = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T", "7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2"
	for nonce, want := range map[string]string{account: "nonce account", "no key": "nonce account",
		hotBase: "the hot wallet"} {
		w := bursar.ColdWallet{Chain: bursar.Solana, Name: "vault", Kind: bursar.ColdNonce, Addresses: []string{account},
			NonceAccount: nonce}
		if _, err := coldOf(ledger, []bursar.ColdWallet{w}, hotBase); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("nonce account %s: got %v, want an error about %q", nonce, err, want)
		}
	}
	for want, wallets := range map[string][]bursar.ColdWallet{
		"not a valid address":       {wallet("no address")},
		"the hot wallet's address":  {wallet(hot)},
		"is an address of vault":    {wallet(cold), wallet(cold)},
		"cold wallet vault: the ad": {wallet(cold, "")},
		"the executor \"nobody\"":   {executed(cold, "nobody")},
		"its executor has the hot":  {executed(cold, hot)},
		"is its executor too":       {executed(cold, cold)},
	} {
		if _, err := coldOf(c, wallets, hot); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want an error about %q", wallets, err, want)
		}
	}
}
