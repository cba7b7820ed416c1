package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bursar/bursar/config"
)

// What is set is listed with its place; nothing that may be a secret is shown.
func TestEffectiveShowsNoSecret(t *testing.T) {
	t.Parallel()
	const text = `network: regtest
listen: 127.0.0.1:8080
database: postgres://bursar:hunter2@127.0.0.1/bursar
chains:
  bitcoin: {rpc: ["http://user:hunter2@127.0.0.1:8332"], confirmations: 3}
  ethereum: {rpc: "http://127.0.0.1:8545/hunter2", chain_id: 1, headers: ["Authorization: hunter2"]}
currencies:
  BTC: {minimum: "0.0001"}
admin: {password_file: hunter2}
rates: {source: http, url: "https://rates.example/hunter2", pointers: {BTC: /hunter2}}
`
	cfg, err := config.Parse("bursar.yaml", []byte(text), []string{"BURSAR_CURRENCIES_LTC_MINIMUM=0.01"})
	if err != nil {
		t.Fatal(err)
	}
	all := fmt.Sprint(cfg.Effective())
	if strings.Contains(all, "hunter2") {
		t.Errorf("a secret is shown in %s, want no %q", all, "hunter2")
	}
	for _, want := range []string{"{network regtest bursar.yaml:1}", "{listen 127.0.0.1:8080 bursar.yaml:2}",
		"{database  bursar.yaml:3}", "{chains.bitcoin.confirmations 3 bursar.yaml:5}",
		"{currencies.BTC.minimum 0.0001 bursar.yaml:8}", "{currencies.LTC.minimum 0.01 BURSAR_CURRENCIES_LTC_MINIMUM}"} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is missing, want it in %s", want, all)
		}
	}
}

// What nothing sets is listed with its default, and what is set is not listed again.
func TestDefaultsAreWhatAppliesUnset(t *testing.T) {
	t.Parallel()
	cfg, err := config.Parse("/etc/bursar/bursar.yaml", []byte("network: testnet\nchains: {bitcoin: {rpc: "+
		"\"http://u:hunter2@127.0.0.1:18332\"}}\ncurrencies: {BTC: {withdrawal_maximum: \"2\"}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	all := fmt.Sprint(cfg.Defaults())
	for _, want := range []string{"{listen 127.0.0.1:8080 default}", "{database sqlite:bursar.db default}",
		"{chains.bitcoin.confirmations 3 default}", "{currencies.BTC.minimum 0.0001 default}",
		"{console.role_hold 24h0m0s default}", "{webhooks.allow_http true default}"} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is missing, want it in %s", want, all)
		}
	}
	for _, not := range []string{"hunter2", "{network", "withdrawal_maximum", "ETH", "chains.ethereum"} {
		if strings.Contains(all, not) {
			t.Errorf("%s is listed in %s, want it left out", not, all)
		}
	}
}
