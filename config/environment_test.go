package config_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
)

func TestTheEnvironmentOverridesTheFile(t *testing.T) {
	t.Parallel()
	cfg := parse(t, `
listen: 127.0.0.1:1
chains:
  bitcoin: {rpc: http://file, confirmations: 5}
  my-evm: {rpc: http://file, chain_id: 7}
currencies:
  USDC-BSC: {chain: bsc, contract: "0x1", decimals: 18, minimum: 1}
`, "HOME=/x", "BURSAR_LISTEN=127.0.0.1:2", "BURSAR_ADMIN_LISTEN=", "BURSAR_DATABASE=sqlite:here.db", "BURSAR_NETWORK=regtest",
		"BURSAR_CHAINS_BITCOIN_RPC=http://a:1, http://b:2", "BURSAR_CHAINS_MY_EVM_CHAIN_ID=8",
		"BURSAR_CHAINS_LITECOIN_RPC=http://c",
		"BURSAR_SIGNER_ADDRESS=unix:/run/s", "BURSAR_CHAINS_LITECOIN_HEADERS=X-Key: a b, X-Other:c",
		"BURSAR_CHAINS_NEW_ONE_RPC=http://d", "BURSAR_CHAINS_NEW_ONE_CHAIN_ID=9",
		"BURSAR_CURRENCIES_USDT_MATIC_WITHDRAWAL_MINIMUM=3", "BURSAR_CURRENCIES_USDC_BSC_MINIMUM=0.5",
		"BURSAR_CURRENCIES_ABC_D_CHAIN=tron", "BURSAR_CURRENCIES_ABC_D_CONTRACT=T", "BURSAR_CURRENCIES_ABC_D_DECIMALS=6",
		"BURSAR_CURRENCIES_ABC_D_MINIMUM=2",
		"BURSAR_WEBHOOKS_ALLOW_NETWORKS=10.0.0.0/8,127.0.0.1/32", "BURSAR_POLL_INTERVAL=200ms", "BURSAR_SEED_FILE=s.age",
		"BURSAR_PASSPHRASE=x", "BURSAR_PASSPHRASE_FILE=y", "BURSAR_IDENTITY_FILE=z", "BURSAR_SERVICE_HOST=10.0.0.1",
		"BURSAR_PORT_8080_TCP_ADDR=10.0.0.1", "BURSAR_BITCOIND=/x")
	if cfg.Listen != "127.0.0.1:2" || cfg.AdminListen != "127.0.0.1:8081" || cfg.Database.Reveal() != "sqlite:here.db" ||
		cfg.Network != config.Regtest || cfg.SeedFile != "s.age" {
		t.Errorf("got %+v", cfg)
	}
	if got := cfg.Chains["bitcoin"]; !slices.Equal(got.URLs(), []string{"http://a:1", "http://b:2"}) ||
		got.Confirmations != 5 {
		t.Errorf("bitcoin is %+v with %v, want %+v and 5", got, got.URLs(), []string{"http://a:1", "http://b:2"})
	}
	if got := cfg.Chains["litecoin"].HeadersInClear(); !maps.Equal(got,
		map[string]string{"X-Key": "a b", "X-Other": "c"}) {
		t.Errorf("litecoin's headers are %v", got)
	}
	if !cfg.Signer.Remote() || cfg.Signer.Address != "unix:/run/s" {
		t.Errorf("the signer is %+v", cfg.Signer)
	}
	if cfg.Chains["my-evm"].ChainID != 8 || cfg.Chains["new-one"].ChainID != 9 || len(cfg.Chains["litecoin"].RPC) != 1 ||
		len(cfg.Chains) != 4 {
		t.Errorf("chains are %+v, want 8 and 9 and 1 of them and 4 of them", cfg.Chains)
	}
	if got := currency(t, cfg, "USDT-MATIC"); got.WithdrawalMinimum != bursar.Units(3e6) ||
		got.Minimum != bursar.Units(1e6) {
		t.Errorf("USDT-MATIC is %+v, want %v and %v", got, bursar.Units(3e6), bursar.Units(1e6))
	}
	if got := currency(t, cfg, "USDC-BSC").Minimum; got != bursar.Units(5e17) {
		t.Errorf("USDC-BSC's minimum is %s, want %v", got, bursar.Units(5e17))
	}
	if got := currency(t, cfg, "ABC-D"); got.Minimum != bursar.Units(2e6) || got.Chain != "tron" {
		t.Errorf("ABC-D is %+v, want %v and %q", got, bursar.Units(2e6), "tron")
	}
	if len(cfg.Webhooks.AllowNetworks) != 2 || cfg.PollInterval.Milliseconds() != 200 {
		t.Errorf("webhooks %v, poll %s, want 2 of them and 200", cfg.Webhooks, cfg.PollInterval)
	}
}

func TestMistakesOfTheEnvironment(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, variable, want string }{
		{"", "BURSAR_LISTNE=x", `BURSAR_LISTNE: unknown setting (did you mean BURSAR_LISTEN?)`},
		{"", "BURSAR_MNEMONIC=abandon", `BURSAR_MNEMONIC: unknown setting`},
		{"", "BURSAR_CHAINS=x", `BURSAR_CHAINS: unknown setting`},
		{"", "BURSAR_LISTEN=8080",
			`BURSAR_LISTEN: "8080" is not host:port, such as 127.0.0.1:8080 (port 0 picks a free one)`},
		{"", "BURSAR_CHAINS_BITCOIN_RPC=me:hunter2@h",
			`BURSAR_CHAINS_BITCOIN_RPC: a URL is not of the form http://user:password@host:port (or https)`},
		{"", "BURSAR_CHAINS_BITCOIN_CONFIRMATIONS=2",
			`BURSAR_CHAINS_BITCOIN_CONFIRMATIONS: chains.bitcoin: rpc is required: the URL of a node, or a list of them`},
		{"", "BURSAR_CURRENCIES_UDST_MINIMUM=2",
			`BURSAR_CURRENCIES_UDST_MINIMUM: currencies.UDST: unknown currency (did you mean USDT?); a new one needs chain, decimals`},
		{"chains: 5", "BURSAR_CHAINS_BITCOIN_RPC=http://a",
			`bursar.yaml:1: chains: this is a single value; a section with keys below it is expected`},
		{"listen: x", "BURSAR_NETWORK=x",
			`bursar.yaml:1: listen: "x" is not host:port, such as 127.0.0.1:8080 (port 0 picks a free one)` + "\n" +
				`BURSAR_NETWORK: "x" is unknown; allowed are mainnet, testnet, regtest`},
	} {
		_, err := config.Parse("bursar.yaml", []byte(test.text), []string{test.variable})
		if err == nil || err.Error() != test.want {
			t.Errorf("%s\ngot  %v\nwant %s", test.variable, err, test.want)
		}
	}
}

func TestHasSettings(t *testing.T) {
	t.Parallel()
	if config.HasSettings([]string{"HOME=/", "BURSAR_PASSPHRASE=x", "BURSAR_LISTEN="}) {
		t.Error("settings where there are none")
	}
	if !config.HasSettings([]string{"BURSAR_LISTEN=:0"}) {
		t.Error("no settings where there is one")
	}
}
