package evm

import (
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/chain/chaintest"
)

// Every check, with a node that passes it and one that does not.
func TestCheckHealth(t *testing.T) {
	t.Parallel()
	const born = 0x6b00f996 // the time of every block of the fake node
	now := time.Unix(born+5, 0)
	answer := func(method string, result any) func(*fake) {
		return func(f *fake) { f.script[method] = func([]any) (any, error) { return result, nil } }
	}
	refuse := func(code int, message string, methods ...string) func(*fake) {
		return func(f *fake) {
			for _, method := range methods {
				f.script[method] = refusal(code, message)
			}
		}
	}
	final := func(result any, err error) func(*fake) {
		return func(f *fake) {
			f.script["eth_getBlockByNumber"] = func(params []any) (any, error) {
				if params[0] == "finalized" {
					return result, err
				}
				return f.usual("eth_getBlockByNumber", params)
			}
		}
	}
	well := []string{"chain ok: chain id 1", "version ok: Geth/v1.17", "sync ok: at block 1", "clock ok",
		"finality ok: finalized is block 0, 1 behind", "tracing ok: by debug_traceBlockByHash", "history ok: at block 0",
		"queries ok: every query of the service", "tokens ok: 1 with the configured decimals"}
	but := func(at int, lines ...string) []string {
		return append(append(append([]string{}, well[:at]...), lines...), well[at+1:]...)
	}
	for name, c := range map[string]struct {
		change func(*fake)
		config func(*Config)
		later  time.Duration
		want   []string
	}{
		"well":   {want: well},
		"silent": {change: refuse(-32601, "no", "web3_clientVersion"), want: but(1, "version warning: -32601")},
		"syncing": {change: answer("eth_syncing", object{"currentBlock": "0x1", "highestBlock": "0x100"}),
			want: but(2, "sync failed: still syncing")},
		"in the past": {later: -time.Minute, want: but(3, "clock failed: 55s ahead")},
		"left behind": {later: time.Hour,
			want: append(but(3, well[3], "sync warning: 1h0m5s old")[:5], "finality warning: 1h0m5s old", well[5], well[6],
				well[7], well[8])},
		"never final": {change: final(nil, failure{code: -39001, message: "Unknown block"}),
			want: but(4, "finality failed: Unknown block")},
		"final by number": {change: final(nil, failure{code: -39001, message: "Unknown block"}), config: func(c *Config) {
			c.FinalityBlocks = 15
		}, want: but(4, "finality ok: 15 blocks")},
		"another tracer": {change: func(f *fake) {
			refuse(-32601, "the method does not exist", "debug_traceBlockByHash")(f)
			answer("trace_block", []any{})(f)
		}, want: but(5, "tracing ok: by trace_block")},
		"no tracer": {change: refuse(-32601, "the method does not exist", "debug_traceBlockByHash", "trace_block"),
			want: but(5, "tracing warning: the method does not exist")},
		"the wrong tracer": {change: refuse(-32601, "the method does not exist", "trace_block"), config: func(c *Config) {
			c.Trace = TraceParity
		}, want: but(5, "tracing warning: as configured")},
		"no tracer wanted": {change: refuse(-32601, "the method does not exist", "debug_traceBlockByHash"),
			config: func(c *Config) {
				c.Trace = TraceNone
			}, want: but(5, "tracing ok: by comparing balances")},
		"forgetful": {change: func(f *fake) {
			f.script["eth_getBalance"] = func(params []any) (any, error) {
				if params[1] == "0x0" {
					return nil, failure{-32000, "missing trie node"}
				}
				return "0x0", nil
			}
		}, want: but(6, "history warning: missing trie node")},
		"no state by hash": {change: func(f *fake) {
			f.script["eth_getBalance"] = func(params []any) (any, error) {
				if _, height := params[1].(string); !height {
					return nil, failure{-32602, "invalid argument 1: hex string without 0x prefix"}
				}
				return "0x0", nil
			}
		}, want: but(7,
			"queries warning: eth_getBalance by block hash (EIP-1898): call eth_getBalance: node answered error -32602")},
		"no receipts of blocks": {change: refuse(-32601, "no such method", "eth_getBlockReceipts"),
			want: but(7, "queries warning: eth_getBlockReceipts: ")},
		"it cannot estimate gas": {change: refuse(-32601, "no such method", "eth_estimateGas"),
			want: but(7, "queries failed: eth_estimateGas: ")},
		"another token": {change: answer("eth_call", "0x"+strings.Repeat("0", 62)+"12"),
			want: but(8, "tokens warning: the contract has 18 decimals and the configuration 6")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.add()
			answer("web3_clientVersion", "Geth/v1.17.2-stable/linux-amd64")(f)
			answer("debug_traceBlockByHash", []any{})(f)
			answer("eth_getBalance", "0x0")(f)
			answer("eth_getTransactionCount", "0x0")(f)
			answer("eth_estimateGas", "0x5208")(f)
			answer("eth_maxPriorityFeePerGas", "0x1")(f)
			final(object{"number": "0x0", "hash": f.blocks[0].block["hash"], "parentHash": f.blocks[0].block["parentHash"],
				"timestamp": quantity(born).hex()}, nil)(f)
			if c.change != nil {
				c.change(f)
			}
			chaintest.Findings(t, f.open(t, c.config).CheckHealth(t.Context(), now.Add(c.later)), c.want...)
		})
	}
}

// A node of another chain is one finding.
func TestHealthCheckAnotherChain(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.script["eth_chainId"] = func([]any) (any, error) { return "0x5", nil }
	chaintest.Findings(t, f.open(t, nil).CheckHealth(t.Context(), time.Now()),
		"chain failed: serves chain 5, configured is 1")
}
