package config_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
)

const everyNodeSetting = `
network: regtest
chains:
  bitcoin:
    rpc: http://a
    push: ["tcp://127.0.0.1:28332", "tcp://me:hunter2@[::1]:28333"]
    confirmations: {default: 2, above: {"10": 30, "0.5": 6}}
    credit_quorum: {endpoints: 2, above: "5"}
  polygon:
    rpc: http://a
    provider: alchemy
    quota: {per_second: 25, per_day: 1000000, batch: 10}
    max_body: 128MiB
    fetchers: 8
    window: 32
    pace: 500ms
    push: wss://node.example/hunter2
    trace: parity
    min_tip: 0.5
  solana: {rpc: http://a, format: v0, confirmations: 40}
  xrpl: {rpc: http://a, network_id: 21337, max_body: 1048576}
`

func TestNodeSettings(t *testing.T) {
	t.Parallel()
	cfg := parse(t, everyNodeSetting)
	c := cfg.Chains["polygon"]
	if want := (config.Nodes{Provider: "alchemy", Quota: config.Quota{PerSecond: 25, PerDay: 1_000_000, Batch: 10},
		MaxBody: 128 << 20, Fetchers: 8, Window: 32,
		Pace: 500 * time.Millisecond}); c.Nodes != want {
		t.Errorf("polygon's nodes are asked so: %+v, want %v", c.Nodes, want)
	}
	if c.Trace != config.TraceParity || c.MinTip != bursar.Units(500_000_000) ||
		!slices.Equal(c.PushURLs(), []string{"wss://node.example/hunter2"}) {
		t.Errorf("polygon is %+v, want %v and %v and %+v", c, config.TraceParity, bursar.Units(500_000_000),
			[]string{"wss://node.example/hunter2"})
	}
	bitcoin, solana, xrpl := cfg.Chains["bitcoin"], cfg.Chains["solana"], cfg.Chains["xrpl"]
	if got := bitcoin.PushURLs(); !slices.Equal(got, []string{"tcp://127.0.0.1:28332", "tcp://me:hunter2@[::1]:28333"}) {
		t.Errorf("bitcoin listens to %v", got)
	}
	if solana.Format != config.FormatV0 || xrpl.NetworkID == nil || *xrpl.NetworkID != 21337 ||
		xrpl.Nodes.MaxBody != 1<<20 {
		t.Errorf("solana %+v, xrpl %+v", solana, xrpl)
	}
	encoded, err := json.Marshal(cfg.Chains)
	if err != nil || strings.Contains(string(encoded)+fmt.Sprintf("%v %+v %#v", cfg, cfg, cfg), "hunter2") {
		t.Errorf("a URL of push is printed, %v, want no %q", err, "hunter2")
	}
}

func TestConfirmationsOfADeposit(t *testing.T) {
	t.Parallel()
	cfg := parse(t, everyNodeSetting)
	bitcoin, solana := cfg.Chains["bitcoin"], cfg.Chains["solana"]
	want := config.Credit{Above: []config.CreditStep{{Amount: "0.5", Confirmations: 6}, {Amount: "10", Confirmations: 30}},
		Quorum: config.Quorum{Endpoints: 2, Above: "5"}}
	if bitcoin.Confirmations != 2 || !reflect.DeepEqual(bitcoin.Credit, want) {
		t.Errorf("bitcoin needs %d, %+v, want 2 and %+v", bitcoin.Confirmations, bitcoin.Credit, want)
	}
	if solana.Confirmations != 0 || solana.Credit.Confirmations != 40 {
		t.Errorf("solana needs %d, %+v, want 0 and 40", solana.Confirmations, solana.Credit)
	}
}

func TestConfirmationsInEachCurrency(t *testing.T) {
	t.Parallel()
	cfg := parse(t,
		"chains:\n  tron: {rpc: http://a, confirmations: {default: 20, above: {'0.0000019': 25, '100': 40}}, "+
			"credit_quorum: {endpoints: 2, above: 1.5}}\n"+
			"  bitcoin: {rpc: http://a, confirmations: {above: {'1': 6}}}\ncurrencies: {USDT: {minimum: 2}}")
	for code, deposit := range map[bursar.CurrencyCode]string{"TRX": "100", "USDT": "100"} {
		c := currency(t, cfg, code)
		exact := amount(t, deposit, c.Decimals)
		more, err := exact.Add(bursar.Units(1))
		if err != nil {
			t.Fatal(err)
		}
		if got := []int{c.Confirmations.For(bursar.Units(1)), c.Confirmations.For(bursar.Units(2)),
			c.Confirmations.For(exact), c.Confirmations.For(more)}; !slices.Equal(got, []int{20, 25, 25, 40}) {
			t.Errorf("%s needs %v, want %+v", code, got, []int{20, 25, 25, 40})
		}
		if c.CreditQuorum.Asks(bursar.Units(1_500_000)) || !c.CreditQuorum.Asks(bursar.Units(1_500_001)) {
			t.Errorf("%s has the quorum %+v", code, c.CreditQuorum)
		}
	}
	btc, eth := currency(t, cfg, "BTC"), currency(t, cfg, "ETH")
	if btc.Confirmations.For(bursar.Units(1e8)) != 0 || btc.Confirmations.For(bursar.Units(1e8+1)) != 6 ||
		btc.CreditQuorum.Asks(bursar.Units(1e10)) {
		t.Errorf("BTC needs %+v, %+v", btc.Confirmations, btc.CreditQuorum)
	}
	if eth.Confirmations.For(bursar.Units(1)) != 0 || eth.CreditQuorum.Endpoints != 0 {
		t.Errorf("ETH needs %+v, want 0", eth.Confirmations)
	}
}

func TestSettingsBelowAChainHaveVariables(t *testing.T) {
	t.Parallel()
	cfg := parse(t,
		"chains: {bitcoin: {rpc: http://a, confirmations: 2}, my-evm: {rpc: http://a, chain_id: 7, quota: {batch: 5}}}",
		"BURSAR_CHAINS_BITCOIN_CONFIRMATIONS_ABOVE=1=6, 10=30", "BURSAR_CHAINS_MY_EVM_QUOTA_PER_SECOND=3",
		"BURSAR_CHAINS_MY_EVM_QUOTA_PER_DAY=4",
		"BURSAR_CHAINS_LITECOIN_RPC=http://b", "BURSAR_CHAINS_LITECOIN_CREDIT_QUORUM_ENDPOINTS=3",
		"BURSAR_CHAINS_LITECOIN_CREDIT_QUORUM_ABOVE=0",
		"BURSAR_CHAINS_LITECOIN_CONFIRMATIONS_DEFAULT=12", "BURSAR_CHAINS_LITECOIN_PUSH=tcp://c:1,tcp://d:2")
	bitcoin, litecoin, mine := cfg.Chains["bitcoin"], cfg.Chains["litecoin"], cfg.Chains["my-evm"]
	if want := []config.CreditStep{{Amount: "1", Confirmations: 6},
		{Amount: "10", Confirmations: 30}}; bitcoin.Confirmations != 2 || !slices.Equal(bitcoin.Credit.Above, want) {
		t.Errorf("bitcoin needs %d, %+v, want 2 and %+v", bitcoin.Confirmations, bitcoin.Credit, want)
	}
	if mine.Nodes.Quota != (config.Quota{PerSecond: 3, PerDay: 4, Batch: 5}) {
		t.Errorf("the quota is %+v", mine.Nodes.Quota)
	}
	if litecoin.Confirmations != 12 || litecoin.Credit.Quorum != (config.Quorum{Endpoints: 3, Above: "0"}) ||
		len(litecoin.Push) != 2 {
		t.Errorf("litecoin is %+v, want 12 and %+v and 2 of them", litecoin, config.Quorum{Endpoints: 3, Above: "0"})
	}
}
