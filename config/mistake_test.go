package config_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar/config"
)

var wrongFiles = []struct{ name, text, want string }{
	{"not a number", "chains:\n  bitcoin:\n    rpc: http://a\n    confirmations: three",
		`bursar.yaml:4: chains.bitcoin.confirmations: "three" is not a whole number; allowed are 1 to 100`},
	{"out of range", "chains: {bitcoin: {rpc: http://a, confirmations: 0}}",
		`bursar.yaml:1: chains.bitcoin.confirmations: 0 is out of range; allowed are 1 to 100`},
	{"beyond 64 bits", "chains: {xrpl: {rpc: http://a, start_height: 99999999999999999999}}",
		`bursar.yaml:1: chains.xrpl.start_height: 99999999999999999999 is out of range; allowed are 0 to 4611686018427387904`},
	{"misspelt key", "chains:\n  bitcoin:\n    rpc: http://a\n    confimations: 3",
		`bursar.yaml:4: chains.bitcoin: unknown key "confimations" (did you mean confirmations?)`},
	{"misspelt key at the top", "listne: 127.0.0.1:80", `bursar.yaml:1: unknown key "listne" (did you mean listen?)`},
	{"unknown key", "webhooks: {retries: 3}",
		`bursar.yaml:1: webhooks: unknown key "retries"; allowed are allow_networks, allow_http`},
	{"a key of other chains", "chains: {tron: {rpc: http://a, finality: 19}}",
		`bursar.yaml:1: chains.tron: unknown key "finality"; allowed are rpc, solidity_rpc, headers, confirmations, credit_quorum, start_height, max_fee, cold, gas_from_customers, hourly_fees, daily_fees, weekly_fees, hourly_sweeps, daily_sweeps, weekly_sweeps, ` +
			`hourly_to_cold, daily_to_cold, weekly_to_cold, hourly_payments, daily_payments, weekly_payments, max_fee_percent, ` +
			`provider, quota, max_body, fetchers, window, pace, push`},
	{"misspelt chain", "chains:\n\n  bitcion: {rpc: http://a}",
		`bursar.yaml:3: chains: unknown chain "bitcion" (did you mean bitcoin?); another EVM chain needs a chain_id`},
	{"chain without a node", "chains:\n  bitcoin:",
		`bursar.yaml:2: chains.bitcoin: rpc is required: the URL of a node, or a list of them`},
	{"chain with an empty list", "chains: {tron: {rpc: []}}",
		`bursar.yaml:1: chains.tron: rpc is required: the URL of a node, or a list of them`},
	{"chain that is a URL", "chains: {tron: http://me:hunter2@h}",
		`bursar.yaml:1: chains.tron: this is a single value; a section is expected, such as {rpc: "http://127.0.0.1:8332"}`},
	{"other chain id", "chains: {ethereum: {rpc: http://a, chain_id: 5}}",
		`bursar.yaml:1: chains.ethereum.chain_id: 5 is not the chain id of ethereum on mainnet, which is 1; private chains need network: regtest`},
	{"solid URLs that do not fit", "chains:\n  tron:\n    rpc: [http://a, http://b]\n    solidity_rpc: http://c",
		`bursar.yaml:4: chains.tron.solidity_rpc: the list has 1 URLs for the 2 of rpc; write one for each, in the same order`},
	{"solid URLs of another chain", "chains: {bsc: {rpc: http://a, solidity_rpc: http://c}}",
		`bursar.yaml:1: chains.bsc: unknown key "solidity_rpc"; allowed are rpc, headers, confirmations, credit_quorum, chain_id, finality, start_height, max_fee, max_fee_rate, cold, gas_from_customers, hourly_fees, daily_fees, weekly_fees, hourly_sweeps, daily_sweeps, weekly_sweeps, ` +
			`hourly_to_cold, daily_to_cold, weekly_to_cold, hourly_payments, daily_payments, weekly_payments, max_fee_percent, ` +
			`provider, quota, max_body, fetchers, window, pace, push, trace, min_tip`},
	{"a bad header is not quoted", "chains: {tron: {rpc: http://a, headers: ['X-Key hunter2']}}",
		`bursar.yaml:1: chains.tron.headers: a header is not of the form "Name: value"`},
	{"a header twice", "chains: {tron: {rpc: http://a, headers: ['X-Key: hunter2', 'X-Key: hunter2']}}",
		`bursar.yaml:1: chains.tron.headers: the header X-Key is there twice`},
	{"less than rent", "currencies: {SOL: {minimum: 0.00089087}}",
		`bursar.yaml:1: currencies.SOL.minimum: a deposit below 0.00089088 SOL cannot stay on its own address: Solana charges rent below that`},
	{"a token on Solana", "currencies: {ABC: {chain: solana, contract: E, decimals: 6, minimum: 1}}",
		`bursar.yaml:1: currencies.ABC: tokens of solana are not supported`},
	{"a signer without an address", "signer: {ca: x}",
		`bursar.yaml:1: signer: address is required: unix:/path of a socket, or https://host:port`},
	{"a signer over plain http", "signer: {address: http://h:1}",
		`bursar.yaml:1: signer.address: "http://h:1" is not a signer's address: unix:/path of a socket, or https://host:port`},
	{"a signer without certificates", "signer: {address: https://h:1, ca: x}",
		`bursar.yaml:1: signer: https needs ca, cert and key: both sides authenticate with a certificate`},
	{"a socket with certificates", "signer: {address: unix:/s, ca: x}",
		`bursar.yaml:1: signer: a socket needs no ca, cert or key: its file permissions decide who may connect`},
	{"one chain twice", "chains:\n  bsc: {rpc: http://a}\n  other: {rpc: http://a, chain_id: 56}",
		`bursar.yaml:3: chains.other: the chain has the chain_id of bsc`},
	{"finality", "chains: {bsc: {rpc: http://a, finality: soon}}",
		`bursar.yaml:1: chains.bsc.finality: "soon" is not a finality; allowed are finalized, or a number of blocks from 1 to 10000`},
	{"fee rate", "chains: {bitcoin: {rpc: http://a, max_fee_rate: 10001}}",
		`bursar.yaml:1: chains.bitcoin.max_fee_rate: 10001 is out of range; allowed are 1 to 10000 satoshi for a vbyte`},
	{"a bad node URL is not quoted", "chains: {bitcoin: {rpc: ['http://a', 'ws://me:hunter2@h']}}",
		`bursar.yaml:1: chains.bitcoin.rpc: a URL is not of the form http://user:password@host:port (or https)`},
	{"a bad database URL is not quoted", "database: mysql://me:hunter2@h/db",
		`bursar.yaml:1: database: the database is not of the form sqlite:<file> or postgres://user@host/name`},
	{"a URL as a key is not quoted", "chains: {bitcoin: {http://me:hunter2@h}}",
		"bursar.yaml:1: chains.bitcoin: a key is expected here, made of letters, digits, _ and -\n" +
			`bursar.yaml:1: chains.bitcoin: rpc is required: the URL of a node, or a list of them`},
	{"network", "network: main", `bursar.yaml:1: network: "main" is unknown; allowed are mainnet, testnet, regtest`},
	{"listen", "listen: 8080",
		`bursar.yaml:1: listen: "8080" is not host:port, such as 127.0.0.1:8080 (port 0 picks a free one)`},
	{"empty value", "listen:", `bursar.yaml:1: listen: the value is empty: write a value, or leave the key out`},
	{"list for a value", "listen: [a]", `bursar.yaml:1: listen: this is a list; a single value is expected`},
	{"lease", "lease: 2m",
		`bursar.yaml:1: lease: "2m" is not a duration that is allowed: 0s, or 1s to 1m0s, such as 200ms`},
	{"duration", "poll_interval: 5",
		`bursar.yaml:1: poll_interval: "5" is not a duration that is allowed: 0s, or 10ms to 1h0m0s, such as 200ms`},
	{"CIDR", "webhooks: {allow_networks: [10.0.0.1]}",
		`bursar.yaml:1: webhooks.allow_networks: "10.0.0.1" is not a network, such as 10.0.0.0/8 or 127.0.0.1/32`},
	{"CIDR with host bits", "webhooks: {allow_networks: [10.0.0.1/8]}",
		`bursar.yaml:1: webhooks.allow_networks: "10.0.0.1/8" is not a network: did you mean 10.0.0.0/8?`},
	{"section expected", "chains: bitcoin",
		`bursar.yaml:1: chains: this is a single value; a section with keys below it is expected`},
	{"key twice", "listen: 127.0.0.1:1\nlisten: :2", `bursar.yaml:2: listen is there twice, first in line 1`},
	{"everybody hears keys", "listen: 0.0.0.0:1\n", `bursar.yaml:1: listen: on mainnet 0.0.0.0:1 serves other machines: ` +
		`set tls.certificate and tls.key, or name the proxies that end TLS in proxies; otherwise API keys cross the network unencrypted`},
	{"a proxy of this machine ends no TLS of others",
		"listen: 0.0.0.0:1\nproxies: [127.0.0.0/8, '::1/128', '::ffff:127.0.0.2/128']\n",
		`bursar.yaml:1: listen: on mainnet 0.0.0.0:1 serves other machines, and the proxies are on this one: listen on ` +
			`127.0.0.1, or set tls.certificate and tls.key; otherwise API keys cross the network unencrypted`},
	{"half of everybody", "proxies: [0.0.0.0/1]\n",
		`bursar.yaml:1: proxies: 0.0.0.0/1 is nearly everybody: any client could ` +
			`forge its address`},
	{"everybody reads balances", "admin_listen: :1\n",
		`bursar.yaml:1: admin_listen: on mainnet :1 serves other machines: ` +
			`set admin.tls.certificate and admin.tls.key, or listen on a loopback address`},
	{"nobody has to log in", "admin_listen: :1\nadmin: {tls: {certificate: a, key: b}}",
		`bursar.yaml:1: admin_listen: on ` +
			`mainnet :1 serves other machines: set admin.password_file, or admin.tls.clients; otherwise anybody there reads ` +
			`balances and payments`},
	{"half a pair", "tls: {certificate: a}", `bursar.yaml:1: tls: certificate and key are required`},
	{"a host with a port", "admin: {hosts: [\"a:1\"]}",
		`bursar.yaml:1: admin.hosts: "a:1" is not a host's name, such as ` +
			`bursar.internal, without a port`},
	{"not YAML", "listen: a: b", `bursar.yaml:1: this is not YAML: mapping values are not allowed in this context`},
	{"tab", "chains:\n\tbitcoin:", `bursar.yaml:2: this is not YAML: found character that cannot start any token`},
	{"two documents", "listen: :1\n---\nlisten: :2", `bursar.yaml:1: the file must contain one YAML document`},
	{"a list at the top", "- listen",
		"bursar.yaml:1: the file must contain keys and values, such as `listen: 127.0.0.1:8080`"},
	{"anchor", "listen: &a :1", `bursar.yaml:1: listen: anchors and aliases are not supported: write the value out`},
	{"alias", "seed_file: *hunter2",
		`bursar.yaml:1: this is not YAML: an unknown anchor is referred to: put a value that begins with * in quotes`},
	{"amount with an exponent", "currencies: {BTC: {minimum: 1e-4}}",
		`bursar.yaml:1: currencies.BTC.minimum: "1e-4" is not a plain decimal number, such as 0.015`},
	{"amount with too many decimals", "currencies: {BTC: {minimum: 0.000000001}}",
		`bursar.yaml:1: currencies.BTC.minimum: "0.000000001" has too many decimals; at most 8 are allowed`},
	{"amount of zero", "currencies: {BTC: {approval_above: 0}}",
		`bursar.yaml:1: currencies.BTC.approval_above: the value must be more than zero; leave the key out if it does not apply`},
	{"approvers without a number", "currencies: {BTC: {approvers: many}}",
		`bursar.yaml:1: currencies.BTC.approvers: "many": ` +
			`want the persons for any amount, and for larger ones, such as "1, 2 above 0.5, 3 above 5", 1 to 10 each`},
	{"fewer approvers for more", "currencies: {BTC: {approvers: '2, 1 above 5'}}",
		`bursar.yaml:1: currencies.BTC.approvers: ` +
			`"2, 1 above 5": each part has a larger amount and more persons than the one before`},
	{"maximum below the minimum", "currencies: {BTC: {withdrawal_maximum: 0.0001}}",
		`bursar.yaml:1: currencies.BTC: withdrawal_maximum is below withdrawal_minimum, which is 0.00050000`},
	{"a withdrawal that no hour allows", "currencies: {BTC: {withdrawal_maximum: 2, hourly_limit: 1}}",
		`bursar.yaml:1: currencies.BTC: hourly_limit is below withdrawal_maximum, which is 2.00000000: such a withdrawal would never be signed`},
	{"a withdrawal that no day allows", "currencies: {BTC: {withdrawal_maximum: 2, daily_limit: 1}}",
		`bursar.yaml:1: currencies.BTC: daily_limit is below withdrawal_maximum, which is 2.00000000: such a withdrawal would never be signed`},
	{"a day below an hour", "currencies: {BTC: {withdrawal_maximum: 0.1, hourly_limit: 3, daily_limit: 2}}",
		`bursar.yaml:1: currencies.BTC: daily_limit is below hourly_limit, which is 3.00000000`},
	{"a week below an hour", "currencies: {BTC: {withdrawal_maximum: 0.1, hourly_limit: 3, weekly_limit: 2}}",
		`bursar.yaml:1: currencies.BTC: weekly_limit is below hourly_limit, which is 3.00000000`},
	{"fees that allow no single fee", "chains: {bsc: {rpc: http://a, max_fee: 0.2, hourly_fees: 0.1}}",
		`bursar.yaml:1: chains.bsc: hourly_fees is below max_fee, which is 0.2: such a fee would never be signed`},
	{"fees of a week below those of a day", "chains: {bsc: {rpc: http://a, max_fee: 0.2, daily_fees: 2, weekly_fees: 1}}",
		`bursar.yaml:1: chains.bsc: weekly_fees is below daily_fees, which is 2`},
	{"no sweeps", "chains: {bsc: {rpc: http://a, hourly_sweeps: 0}}",
		`bursar.yaml:1: chains.bsc.hourly_sweeps: 0 is out of range; allowed are 1 to 1000000000`},
	{"fewer payments in a day", "chains: {bsc: {rpc: http://a, hourly_payments: 9, daily_payments: 8}}",
		`bursar.yaml:1: chains.bsc: daily_payments is below hourly_payments, which is 9`},
	{"a fee of nothing", "chains: {bsc: {rpc: http://a, max_fee_percent: 0}}",
		"bursar.yaml:1: chains.bsc.max_fee_percent: 0 is out of range; allowed are 1 to 10000"},
	{"fewer sweeps in a day", "chains: {bsc: {rpc: http://a, hourly_sweeps: 9, daily_sweeps: 8}}",
		`bursar.yaml:1: chains.bsc: daily_sweeps is below hourly_sweeps, which is 9`},
	{"fee", "currencies: {BTC: {withdrawal_fee: netwrok}}",
		`bursar.yaml:1: currencies.BTC.withdrawal_fee: "netwrok" is not a fee; allowed are network, an amount such as 0.5, a percentage such as 1%, or several with a + between`},
	{"fee twice", "currencies: {BTC: {withdrawal_fee: 1% + 2%}}",
		`bursar.yaml:1: currencies.BTC.withdrawal_fee: "1% + 2%" has a percentage twice`},
	{"whole fee", "currencies: {BTC: {deposit_fee: 100%}}",
		`bursar.yaml:1: currencies.BTC.deposit_fee: "100%" is not a percentage below 100% with at most 4 decimals`},
	{"network fee of a deposit", "currencies: {BTC: {deposit_fee: network}}",
		`bursar.yaml:1: currencies.BTC.deposit_fee: a deposit has no network fee; allowed are an amount, a percentage, or both with a + between`},
	{"network fee of a token", "currencies:\n  USDT: {withdrawal_fee: network + 1%}",
		`bursar.yaml:2: currencies.USDT.withdrawal_fee: the network fee of a token is paid in the chain's native asset by the operator; allowed are an amount, a percentage, or both with a + between`},
	{"own coin", "currencies: {BTC: {decimals: 9}}",
		`bursar.yaml:1: currencies.BTC.decimals: BTC is the native asset of bitcoin: its chain, contract and decimals are fixed`},
	{"misspelt currency", "currencies: {USDC-MATCI: {minimum: 2}}",
		`bursar.yaml:1: currencies.USDC-MATCI: unknown currency (did you mean USDC-MATIC?); a new one needs chain, decimals`},
	{"small letters", "currencies: {btc: {minimum: 2}}",
		`bursar.yaml:1: currencies.btc: a currency code consists of capitals and digits, such as BTC or USDT-MATIC`},
	{"unknown chain of a currency", "currencies: {ABC: {chain: tronn, contract: T, decimals: 6, minimum: 1}}",
		`bursar.yaml:1: currencies.ABC.chain: unknown chain "tronn" (did you mean tron?), or a chain of this file`},
	{"token without a contract", "currencies: {ABC: {chain: tron, decimals: 6, minimum: 1}}",
		`bursar.yaml:1: currencies.ABC: the asset is that of TRX: every token needs its own contract`},
	{"token where there are none", "currencies: {ABC: {chain: xrpl, contract: r, decimals: 6, minimum: 1}}",
		`bursar.yaml:1: currencies.ABC: tokens of xrpl are not supported`},
	{"token moved", "currencies: {USDT: {chain: bsc}}",
		`bursar.yaml:1: currencies.USDT.chain: USDT on another chain needs its contract and decimals on that chain`},
	{"more places than decimals", "currencies: {USDT: {places: 7}}",
		`bursar.yaml:1: currencies.USDT.places: 7 is out of range; allowed are 0 to 6`},
	{"an unknown way to trace", "chains: {bsc: {rpc: http://a, trace: erigon}}",
		`bursar.yaml:1: chains.bsc.trace: "erigon" is unknown; allowed are auto, geth, parity, none`},
	{"a size", "chains: {bsc: {rpc: http://a, max_body: 64MB}}",
		`bursar.yaml:1: chains.bsc.max_body: "64MB" is not a size that is allowed: 1048576 to 4294967296 bytes, such as 64MiB`},
	{"a size that overflows", "chains: {bsc: {rpc: http://a, max_body: 17179869185GiB}}",
		`bursar.yaml:1: chains.bsc.max_body: "17179869185GiB" is not a size that is allowed: 1048576 to 4294967296 bytes, such as 64MiB`},
	{"a misspelt quota", "chains:\n  bsc:\n    rpc: http://a\n    quota: {per_sec: 5}",
		`bursar.yaml:4: chains.bsc.quota: unknown key "per_sec"; allowed are per_second, per_day, batch`},
	{"a quota that is a number", "chains: {bsc: {rpc: http://a, quota: 5}}",
		`bursar.yaml:1: chains.bsc.quota: this is a single value; a section is expected, such as {per_second: 10, per_day: 100000, batch: 20}`},
	{"a provider's URL is not its name", "chains: {bsc: {rpc: http://a, provider: Alchemy Inc}}",
		`bursar.yaml:1: chains.bsc.provider: "Alchemy Inc" is not a provider's name, such as trongrid`},
	{"a bad push URL is not quoted", "chains: {bsc: {rpc: http://a, push: 'http://h/hunter2'}}",
		`bursar.yaml:1: chains.bsc.push: a URL is not of the form ws:// or wss://host:port`},
	{"a WebSocket of bitcoind", "chains: {bitcoin: {rpc: http://a, push: 'ws://h:1'}}",
		`bursar.yaml:1: chains.bitcoin.push: a URL is not of the form tcp://host:port`},
	{"ZMQ without a port", "chains: {bitcoin: {rpc: http://a, push: 'tcp://h'}}",
		`bursar.yaml:1: chains.bitcoin.push: a URL is not of the form tcp://host:port`},
	{"a WebSocket of java-tron", "chains: {tron: {rpc: http://a, push: 'ws://h:1'}}",
		`bursar.yaml:1: chains.tron.push: a URL is not of the form tcp://host:port`},
	{"fewer confirmations for more",
		"chains:\n  bitcoin:\n    rpc: http://a\n    confirmations:\n      default: 3\n      above: {'1': 6, '10': 5}",
		`bursar.yaml:4: chains.bitcoin.confirmations: above 10 it requires 5 confirmations, but smaller amounts require 6`},
	{"fewer confirmations than the chain's default",
		"chains: {litecoin: {rpc: http://a, confirmations: {above: {'1': 6}}}}",
		`bursar.yaml:1: chains.litecoin.confirmations: above 1 it requires 6 confirmations, but smaller amounts require 24`},
	{"more confirmations than are remembered", "chains: {bitcoin: {rpc: http://a, confirmations: {above: {'1': 101}}}}",
		`bursar.yaml:1: chains.bitcoin.confirmations.above.1: 101 is out of range; allowed are 1 to 100`},
	{"one amount twice", "chains: {bitcoin: {rpc: http://a, confirmations: {above: {'1': 6, '1.0': 7}}}}",
		`bursar.yaml:1: chains.bitcoin.confirmations.above.1.0: the amount is the same as 1`},
	{"an amount that is none", "chains: {bitcoin: {rpc: http://a, confirmations: {above: {x: 6}}}}",
		`bursar.yaml:1: chains.bitcoin.confirmations.above.x: "x" is not a plain decimal number, such as 0.015`},
	{"confirmations as a list", "chains: {bitcoin: {rpc: http://a, confirmations: [3]}}",
		`bursar.yaml:1: chains.bitcoin.confirmations: this is a list; a section is expected, such as {default: 3, above: {"1": 6, "10": 30}}, or a number`},
	{"an opinion that is no second one", "chains: {bitcoin: {rpc: http://a, credit_quorum: {endpoints: 1}}}",
		`bursar.yaml:1: chains.bitcoin.credit_quorum.endpoints: 1 is out of range; allowed are 2 to 16`},
	{"a quorum of nobody", "chains: {bitcoin: {rpc: http://a, credit_quorum: {above: '5'}}}",
		`bursar.yaml:1: chains.bitcoin.credit_quorum: endpoints is required: how many must report a deposit identically, such as 2`},
	{"an amount of a quorum", "chains: {bitcoin: {rpc: http://a, credit_quorum: {endpoints: 2, above: lots}}}",
		`bursar.yaml:1: chains.bitcoin.credit_quorum.above: "lots" is not a plain decimal number, such as 0.015`},
	{"another network of the XRP Ledger", "chains: {xrpl: {rpc: http://a, network_id: 21337}}",
		`bursar.yaml:1: chains.xrpl.network_id: the network id of mainnet is 0; another network needs network: testnet or regtest`},
	{"a form of Solana's", "chains: {solana: {rpc: http://a, format: v2}}",
		`bursar.yaml:1: chains.solana.format: "v2" is unknown; allowed are auto, legacy, v0, v1`},
	{"a tip above the cap", "chains: {bsc: {rpc: http://a, min_tip: 21}}",
		`bursar.yaml:1: chains.bsc.min_tip: the value is above max_fee_rate, which is 20 gwei`},
	{"a tip beyond reason", "chains: {bsc: {rpc: http://a, max_fee_rate: 9999999, min_tip: 1000001}}",
		`bursar.yaml:1: chains.bsc.min_tip: the value is out of range; allowed are up to 1000000 gwei`},
	{"all at once, in order", "nework: main\nlisten: x\nchains: {bitcoin: {}}\n",
		`bursar.yaml:1: unknown key "nework" (did you mean network?)` + "\n" +
			`bursar.yaml:2: listen: "x" is not host:port, such as 127.0.0.1:8080 (port 0 picks a free one)` + "\n" +
			`bursar.yaml:3: chains.bitcoin: rpc is required: the URL of a node, or a list of them`},
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, test := range wrongFiles {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Parse("bursar.yaml", []byte(test.text), nil)
			var list config.Mistakes
			if !errors.As(err, &list) {
				t.Fatalf("got %v", err)
			}
			if err.Error() != test.want {
				t.Errorf("got  %s\nwant %s", err, test.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("a secret is quoted, want no %q", "hunter2")
			}
		})
	}
}

func TestMistakesAreBounded(t *testing.T) {
	t.Parallel()
	_, err := config.Parse("f", []byte(manyUnknown(42)), nil)
	if lines := strings.Split(err.Error(), "\n"); len(lines) != 21 || lines[20] != "and 22 more" {
		t.Errorf("%d lines, the last %q, want 21 of them and %q", len(lines), lines[len(lines)-1], "and 22 more")
	}
}

func manyUnknown(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("unknown" + string(rune('a'+i/26)) + string(rune('a'+i%26)) + ": 1\n")
	}
	return b.String()
}

func FuzzParse(f *testing.F) {
	f.Add("listen: 127.0.0.1:8080\nchains: {bitcoin: {rpc: [http://a]}}", "BURSAR_CHAINS_BSC_RPC=http://a")
	f.Add("currencies: {BTC: {minimum: 1, withdrawal_fee: network + 1%}, A: {chain: bsc, contract: x, decimals: 9, "+
		"minimum: 1}}", "BURSAR_CURRENCIES_A_PLACES=3")
	f.Add("a: &a [*a]", "BURSAR_X=")
	f.Add("chains: {x: {chain_id: 5, rpc: http://a, finality: 0x5}}\nwebhooks: {allow_networks: ::/0}", "BURSAR_LISTEN=:0")
	f.Fuzz(func(t *testing.T, text, variable string) {
		cfg, err := config.Parse("f", []byte(text), []string{variable})
		if err != nil {
			var list config.Mistakes
			if !errors.As(err, &list) || len(list) == 0 {
				t.Fatalf("%T: %v", err, err)
			}
			for _, m := range list {
				if m.Place == "" || m.What == "" {
					t.Fatalf("a mistake without a place: %+v", m)
				}
			}
			return
		}
		for id, c := range cfg.Chains {
			if c.ID != id || len(c.RPC) == 0 || c.MaxFee.IsZero() {
				t.Fatalf("an incomplete chain passed: %+v, want %v and some and not zero", c, id)
			}
		}
		for _, c := range cfg.Registry.All() {
			if c.Minimum.IsZero() || c.WithdrawalMinimum.IsZero() || c.Places > c.Decimals {
				t.Fatalf("an incomplete currency passed: %+v, want not zero and at most %v", c, c.Decimals)
			}
		}
	})
}
