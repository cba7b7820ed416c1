package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
)

func parse(t *testing.T, text string, env ...string) config.Config {
	t.Helper()
	cfg, err := config.Parse("bursar.yaml", []byte(text), env)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func amount(t *testing.T, decimal string, decimals int) bursar.Amount {
	t.Helper()
	a, err := bursar.ParseDecimal(decimal, decimals)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func currency(t *testing.T, cfg config.Config, code bursar.CurrencyCode) bursar.Currency {
	t.Helper()
	c, err := cfg.Registry.Get(code)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAnEmptyFileGivesTheDefaults(t *testing.T) {
	t.Parallel()
	cfg := parse(t, "")
	if cfg.Listen != "127.0.0.1:8080" || cfg.AdminListen != "127.0.0.1:8081" || cfg.Network != config.Mainnet ||
		cfg.PollInterval != 0 {
		t.Errorf("the defaults are %+v, want %q and %q and %v and 0", cfg, "127.0.0.1:8080", "127.0.0.1:8081", config.Mainnet)
	}
	if cfg.Database.Reveal() != "sqlite:bursar.db" || cfg.SeedFile != "seed.age" {
		t.Errorf("the files are %s and %s, want %q and %q", cfg.Database.Reveal(), cfg.SeedFile, "sqlite:bursar.db",
			"seed.age")
	}
	if !reflect.DeepEqual(withoutLinks(cfg.Registry.All()), bursar.Standard()) {
		t.Error("the registry is not the standard one")
	}
	if len(cfg.Chains) != 0 || len(cfg.Off) != len(bursar.Standard()) ||
		cfg.Off["BTC"] != "its chain bitcoin is not configured" {
		t.Errorf("chains %v, off %v", cfg.Chains, cfg.Off)
	}
}

func TestDefaultsOfChains(t *testing.T) {
	t.Parallel()
	const all = "chains: {bitcoin: {rpc: 'http://a'}, litecoin: {rpc: 'http://a'}, ethereum: {rpc: 'http://a'}, bsc: " +
		"{rpc: 'http://a'}, polygon: {rpc: 'http://a'}, tron: {rpc: 'http://a'}, solana: {rpc: 'http://a'}, xrpl: {rpc: " +
		"'http://a'}}\nnetwork: "
	for _, test := range []struct {
		network string
		ids     [3]uint64
		off     []bursar.CurrencyCode
	}{
		{"mainnet", [3]uint64{1, 56, 137}, nil},
		{"testnet", [3]uint64{11155111, 97, 80002}, []bursar.CurrencyCode{"USDC-MATIC", "USDT", "USDT-MATIC"}},
		{"regtest", [3]uint64{0, 0, 0}, []bursar.CurrencyCode{"USDC-MATIC", "USDT", "USDT-MATIC"}},
	} {
		t.Run(test.network, func(t *testing.T) {
			t.Parallel()
			cfg := parse(t, all+test.network)
			if got := [3]uint64{cfg.Chains["ethereum"].ChainID, cfg.Chains["bsc"].ChainID,
				cfg.Chains["polygon"].ChainID}; got != test.ids {
				t.Errorf("chain ids are %v, want %v", got, test.ids)
			}
			var off []bursar.CurrencyCode
			for code := range cfg.Off {
				off = append(off, code)
			}
			if slices.Sort(off); !slices.Equal(off, test.off) {
				t.Errorf("off are %v, want %+v", off, test.off)
			}
			btc, ltc, eth := cfg.Chains["bitcoin"], cfg.Chains["litecoin"], cfg.Chains["ethereum"]
			if btc.Confirmations != 3 || ltc.Confirmations != 24 || eth.FinalityBlocks != 0 || eth.StartHeight != nil {
				t.Errorf("finality is %+v, %+v, %+v, want 3 and 24 and 0 and nil", btc, ltc, eth)
			}
			if btc.MaxFeeRate != bursar.Units(500) || eth.MaxFeeRate != amount(t, "300", 9) ||
				btc.MaxFee != amount(t, "0.05", 8) {
				t.Errorf("caps are %v, %v, %v", btc.MaxFeeRate, eth.MaxFeeRate, btc.MaxFee)
			}
			for id, c := range cfg.Chains {
				if c.ID != id || c.Family == "" || c.MaxFee.IsZero() || len(c.RPC) != 1 {
					t.Errorf("%s is incomplete: %+v", id, c)
				}
			}
		})
	}
}

func TestTheExampleFile(t *testing.T) {
	t.Parallel()
	cfg, err := config.Load("testdata/bursar.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Database.Reveal() != "sqlite:testdata/bursar.db" || cfg.SeedFile != filepath.Join("testdata", "seed.age") {
		t.Errorf("files are not beside the configuration: %s, %s", cfg.Database.Reveal(), cfg.SeedFile)
	}
	if got := cfg.Chains["bsc"].URLs(); !slices.Equal(got, []string{"http://127.0.0.1:8546", "https://bsc.example/key"}) {
		t.Errorf("bsc's URLs are %v", got)
	}
	if got := cfg.Chains["polygon"].URLs(); !slices.Equal(got, []string{"http://127.0.0.1:8547"}) {
		t.Errorf("polygon's URLs are %v, want %+v", got, []string{"http://127.0.0.1:8547"})
	}
	added := bursar.Currency{Code: "USDC-BSC", Chain: "bsc", Contract: "0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d",
		Decimals: 18, Places: 2,
		Minimum: amount(t, "1", 18), WithdrawalMinimum: amount(t, "1", 18),
		WithdrawalFee: bursar.Fee{Fixed: amount(t, "0.5", 18)},
		Link:          bursar.WalletLink{Form: "ethereum:{contract}@56/transfer?address={address}&uint256={units}"}}
	if got := currency(t, cfg, "USDC-BSC"); !reflect.DeepEqual(got, added) {
		t.Errorf("the new currency is %+v, want %+v", got, added)
	}
	if len(cfg.Registry.All()) != 12 || len(cfg.Off) != 0 || len(cfg.Chains) != 8 {
		t.Errorf("%d currencies, off %v, %d chains, want 12 of them and none and 8 of them", len(cfg.Registry.All()), cfg.Off,
			len(cfg.Chains))
	}
}

func TestWhatCurrenciesMayChange(t *testing.T) {
	t.Parallel()
	cfg := parse(t, `
network: regtest
chains:
  polygon: {rpc: http://a}
  avalanche: {rpc: http://a, chain_id: 43114, finality: 12, start_height: 7, max_fee: 1.5, max_fee_rate: 0.5}
currencies:
  BTC: {minimum: 0.00020000, withdrawal_maximum: 2, approval_above: 1.5, deposit_fee: 0.5%, approvers: "1, 2 above 0.5",
    withdrawal_fee: network + 1% + 0.0001}
  USDT: {chain: bsc, contract: "0x55d398326f99059fF775485246999027B3197955", decimals: 18}
  USDT-MATIC: {contract: "0x01"}
  AVAX: {chain: avalanche, decimals: 18, minimum: 0.1}
`)
	btc := currency(t, cfg, "BTC")
	if btc.Minimum != bursar.Units(20000) || btc.WithdrawalMaximum != bursar.Units(2_0000_0000) ||
		btc.ApprovalAbove != bursar.Units(1_5000_0000) {
		t.Errorf("BTC's limits are %+v, want %v and %v and %v", btc, bursar.Units(20000), bursar.Units(2_0000_0000),
			bursar.Units(1_5000_0000))
	}
	if cfg.Approvers("BTC", bursar.Units(5000_0000)) != 1 || cfg.Approvers("BTC", bursar.Units(5000_0001)) != 2 {
		t.Errorf("BTC's bands of approvers are %+v, want 2 above 0.5", cfg.Bands["BTC"])
	}
	if btc.DepositFee != (bursar.Fee{Millionths: 5000}) ||
		btc.WithdrawalFee != (bursar.Fee{Network: true, Millionths: 10_000, Fixed: bursar.Units(10_000)}) {
		t.Errorf("BTC's fees are %+v and %+v", btc.DepositFee, btc.WithdrawalFee)
	}
	if usdt := currency(t, cfg, "USDT"); usdt.Chain != "bsc" || usdt.Decimals != 18 || usdt.Places != 2 ||
		usdt.Minimum != amount(t, "1", 18) {
		t.Errorf("USDT on another chain is %+v", usdt)
	}
	if _, off := cfg.Off["USDT-MATIC"]; off || cfg.Off["USDC-MATIC"] != "its contract on this network is not configured" {
		t.Errorf("off are %v", cfg.Off)
	}
	avax := currency(t, cfg, "AVAX")
	if avax.Places != 8 || !avax.WithdrawalFee.Network || avax.WithdrawalMinimum != avax.Minimum {
		t.Errorf("AVAX is %+v", avax)
	}
	c := cfg.Chains["avalanche"]
	if c.Family != "evm" || c.ChainID != 43114 || c.FinalityBlocks != 12 || *c.StartHeight != 7 ||
		c.MaxFee != amount(t, "1.5", 18) || c.MaxFeeRate != bursar.Units(5e8) {
		t.Errorf("the added chain is %+v", c)
	}
}

func TestOtherSettings(t *testing.T) {
	t.Parallel()
	cfg := parse(t,
		"webhooks: {allow_networks: [127.0.0.1/32, 'fd00::/8']}\npoll_interval: 200ms\n"+
			"admin_listen: off\nadmin_pprof: on\nlisten: "+
			"'[::1]:0'\ndatabase: postgres://u:p@h/db\nseed_file: /run/seed\ndatabase_failover: synchronous\nlease: 12s")
	if want := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"),
		netip.MustParsePrefix("fd00::/8")}; !slices.Equal(cfg.Webhooks.AllowNetworks, want) {
		t.Errorf("networks are %v, want %+v", cfg.Webhooks.AllowNetworks, want)
	}
	if cfg.PollInterval != 200*time.Millisecond || cfg.AdminListen != "" || !cfg.AdminPprof || cfg.Listen != "[::1]:0" ||
		cfg.Database.Reveal() != "postgres://u:p@h/db?sslmode=verify-full" || cfg.SeedFile != "/run/seed" {
		t.Errorf("the rest is %+v", cfg)
	}
	if none := parse(t, ""); cfg.Lease != 12*time.Second || none.Lease != 0 {
		t.Errorf("leases are %s, and %s where nothing is said", cfg.Lease, none.Lease)
	}
	if none := parse(t, ""); cfg.Failover != config.FailoverSynchronous || none.Failover != config.FailoverUnknown {
		t.Errorf("failovers are %q, and %q where nothing is said", cfg.Failover, none.Failover)
	}
	if got := parse(t, "webhooks: {allow_networks: 10.0.0.0/8}").Webhooks.AllowNetworks; len(got) != 1 {
		t.Errorf("a single network is %v, want 1 of them", got)
	}
}

func TestLoadReportsWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "none.yaml")
	if _, err := config.Load(missing, nil); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), missing) ||
		!strings.Contains(err.Error(), "--config") {
		t.Errorf("a missing file gives %v", err)
	}
	large := filepath.Join(t.TempDir(), "large.yaml")
	if err := os.WriteFile(large, make([]byte, 1<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(large, nil); err == nil || !strings.Contains(err.Error(), "more than 1048576 bytes") {
		t.Errorf("a large file gives %v, want an error and %q in it", err, "more than 1048576 bytes")
	}
}

func TestNoURLIsEverPrinted(t *testing.T) {
	t.Parallel()
	cfg := parse(t, "database: postgres://me:hunter2@h/db\nchains: {bitcoin: {rpc: 'http://me:hunter2@h'}}")
	holder := struct{ inner config.Config }{cfg}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "a", cfg, "b", cfg.Database, "c", holder)
	encoded, err := json.Marshal(cfg.Chains)
	if err != nil {
		t.Fatal(err)
	}
	all := fmt.Sprintf("%v %+v %#v %q %x %d %v %+v %#v", cfg, cfg, cfg, cfg.Database, cfg.Database, cfg.Database, holder,
		holder, &holder) + log.String() + string(encoded)
	if strings.Contains(all, "hunter2") || strings.Contains(all, fmt.Sprintf("%x", "hunter2")) {
		t.Errorf("a password is printed: %s, want no %q and no %v", all, "hunter2", fmt.Sprintf("%x", "hunter2"))
	}
	if !strings.Contains(string(encoded), "[secret]") {
		t.Errorf("encoded to %s, want %q in it", encoded, "[secret]")
	}
	if zero := (config.Secret{}); zero.Reveal() != "" {
		t.Error("the zero secret is not empty")
	}
}
