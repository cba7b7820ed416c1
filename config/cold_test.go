package config_test

import (
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
)

const withCold = `chains:
  bitcoin:
    rpc: "http://127.0.0.1:1"
    cold:
      vault: {kind: descriptor, descriptor: "wsh(sortedmulti(2,A,B))#c", addresses: [a1, a2]}
      old: {addresses: [b1]}
`

func TestColdWalletsAreInTheOrderOfTheFile(t *testing.T) {
	t.Parallel()
	cfg := parse(t, withCold+`currencies: {BTC: {withdrawal_maximum: "1", hot_ceiling: "3", hot_target: "1.5"}}`)
	cold := cfg.Chains[bursar.Bitcoin].Cold
	if len(cold) != 2 || cold[0].Name != "vault" || cold[0].Next(1) != "a2" || cold[1].Kind != bursar.ColdAddress ||
		cold[1].Chain != bursar.Bitcoin {
		t.Errorf("the cold wallets are %+v", cold)
	}
	if c := currency(t, cfg, "BTC"); c.HotCeiling != amount(t, "3", 8) || c.HotTarget != amount(t, "1.5", 8) {
		t.Errorf("the ceiling is %s and the target %s, want 3 and 1.5", c.Exact(c.HotCeiling), c.Exact(c.HotTarget))
	}
	if p := cfg.Chains[bursar.Bitcoin].ToCold; p.Hour != bursar.Units(12) || p.Day != bursar.Units(48) ||
		!p.Week.IsZero() {
		t.Errorf("the moves are limited by %+v, want 12 an hour and 48 a day", p)
	}
}

func TestMistakesOfColdWallets(t *testing.T) {
	t.Parallel()
	const maximum = `currencies: {BTC: {withdrawal_maximum: "2", `
	const rpc = `chains: {bitcoin: {rpc: "http://127.0.0.1:1", `
	for text, want := range map[string]string{
		rpc + `cold: [a]}}`:                                                 "a name for each cold wallet",
		rpc + `cold: {vault: a}}}`:                                          "a section is expected",
		rpc + `cold: {vault: {kind: safe, addresses: [a]}}}}`:               `none of kind "safe"`,
		rpc + `cold: {vault: {kind: paper, addresses: [a]}}}}`:              "allowed are descriptor, address",
		rpc + `cold: {vault: {kind: descriptor, addresses: [a]}}}}`:         "descriptor is required",
		rpc + `cold: {vault: {}}}}`:                                         "lists no address",
		rpc + `cold: {vault: {addresses: [a]}, other: {addresses: [a]}}}}`:  "a is an address of vault too",
		rpc + `cold: {Vault: {addresses: [a]}}}}`:                           "small letters",
		rpc + `cold: {vault: {adresses: [a]}}}}`:                            "unknown key",
		rpc + `hourly_to_cold: 5, daily_to_cold: 4}}`:                       "daily_to_cold is below hourly_to_cold",
		withCold + `currencies: {BTC: {hot_ceiling: "3"}}`:                  "the setting needs hot_target too",
		withCold + `currencies: {BTC: {hot_target: "3"}}`:                   "the setting needs hot_ceiling too",
		withCold + `currencies: {BTC: {hot_ceiling: "3", hot_target: "3"}}`: "below hot_ceiling",
		withCold + maximum + `hot_ceiling: "3", hot_target: "1"}}`:          "below withdrawal_maximum",
		`chains: {litecoin: {rpc: "http://127.0.0.1:1"}}` + "\n" +
			`currencies: {LTC: {hot_ceiling: "3", hot_target: "1"}}`: "chain litecoin has no cold wallet",
	} {
		if _, err := config.Parse("bursar.yaml", []byte(text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot %v, want an error about %q", text, err, want)
		}
	}
}
