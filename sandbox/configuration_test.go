package main

import (
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/sandbox/chains"
)

var receiverAddress = netip.MustParseAddr("127.0.0.2")

// configured returns the configuration of a sandbox with one chain, of a file and an environment.
func configured(t *testing.T, file string, env []string, flags ...string) (config.Config, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "try.yaml")
	if err := os.WriteFile(name, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := parseFlags(append(flags, "--config", name), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	running := []*chains.Chain{{ID: bursar.Bitcoin, Settings: `{rpc: ["http://127.0.0.1:1"]}`}}
	return dataDir{dir: t.TempDir()}.configure(s, running, receiverAddress, nil, env)
}

func TestTheSandboxTakesSettingsOfAFileAndTheEnvironment(t *testing.T) {
	t.Parallel()
	cfg, err := configured(t, `
listen: 127.0.0.1:7001
chains: {bitcoin: {confirmations: 2}}
currencies: {BTC: {approval_above: "0.10000001"}}
webhooks: {allow_networks: [10.0.0.0/8]}
admin: {password_file: secret/admin}
`, []string{"BURSAR_CURRENCIES_BTC_MINIMUM=0.002", "BURSAR_LISTEN=127.0.0.1:7002", "BURSAR_ADMIN_LISTEN=127.0.0.1:7003"},
		"--admin", "127.0.0.1:7004")
	if err != nil {
		t.Fatal(err)
	}
	btc, err := cfg.Registry.Get("BTC")
	if err != nil {
		t.Fatal(err)
	}
	if got := btc.Exact(btc.Minimum); got != "0.00200000" {
		t.Errorf("the minimum of the environment: got %s, want 0.00200000", got)
	}
	if got := btc.Exact(btc.ApprovalAbove); got != "0.10000001" {
		t.Errorf("the approval of the file: got %s, want 0.10000001", got)
	}
	if cfg.Listen != "127.0.0.1:7002" || cfg.AdminListen != "127.0.0.1:7004" {
		t.Errorf("addresses: got %s and %s, want the environment's over the file's, and the flag's over both",
			cfg.Listen, cfg.AdminListen)
	}
	if !strings.HasSuffix(cfg.Admin.PasswordFile, "/secret/admin") || !filepath.IsAbs(cfg.Admin.PasswordFile) ||
		strings.Contains(cfg.Admin.PasswordFile, filepath.Dir(cfg.SeedFile)) {
		t.Errorf("the password's file: got %s, want one beside the given file", cfg.Admin.PasswordFile)
	}
	for _, network := range []string{"127.0.0.2/32", "127.0.0.0/8", "::1/128", "10.0.0.0/8"} {
		if !slices.Contains(cfg.Webhooks.AllowNetworks, netip.MustParsePrefix(network)) {
			t.Errorf("networks for webhooks: got %v, want %s among them", cfg.Webhooks.AllowNetworks, network)
		}
	}
	if len(cfg.Prices.Feeds) != 2 {
		t.Errorf("sources of prices: got %d, want 2", len(cfg.Prices.Feeds))
	}
}

func TestPricesOfAFileReplaceTheSandboxes(t *testing.T) {
	t.Parallel()
	cfg, err := configured(t, `
prices:
  feeds:
    ours: {rates: {EUR: {BTC: "1"}}}
    theirs: {rates: {EUR: {BTC: "1"}}}
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range cfg.Prices.Feeds {
		if f.Name != "ours" && f.Name != "theirs" {
			t.Errorf("a source of prices: got %s, want ours and theirs alone", f.Name)
		}
	}
}

func TestSettingsThatAreTheSandboxesOwn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, variable, says string }{
		{"network: mainnet", "", "try.yaml:1: network is the sandbox's own"},
		{"seed_file: mine.age", "", "seed_file is the sandbox's own"},
		{"chains: {bitcoin: {rpc: 'http://127.0.0.1:8332'}}", "", "chains.bitcoin.rpc is the sandbox's own"},
		{"chains: {ethereum: {confirmations: 3}}", "", `chain "ethereum" does not run here`},
		{"currencies: {USDT: {contract: TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t}}", "", "contract is the sandbox's own"},
		{"- a list", "", "not a section of settings"},
		{"listen: [", "", "try.yaml"},
		{"colour: red", "", "colour"},
		{"", "BURSAR_CHAINS_BITCOIN_RPC=http://127.0.0.1:8332", "BURSAR_CHAINS_BITCOIN_RPC is set"},
		{"", "BURSAR_NETWORK=mainnet", "BURSAR_NETWORK is set"},
	} {
		_, err := configured(t, c.file, []string{c.variable})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s%s: got error %v, want one that says %q", c.file, c.variable, err, c.says)
		}
	}
	_, err := parseFlags([]string{"--config", "absent.yaml"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	_, err = readUserConfig("absent.yaml", nil)
	if err == nil || !strings.Contains(err.Error(), "absent.yaml") {
		t.Errorf("a missing file: got error %v, want one that names it", err)
	}
}
