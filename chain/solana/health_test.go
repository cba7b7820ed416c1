package solana

import (
	"testing"
	"time"

	"github.com/bursar/bursar/chain/chaintest"
)

// Every check, with a node that passes it and one that does not.
func TestCheckHealth(t *testing.T) {
	t.Parallel()
	answer := func(method string, result any, err error) func(*fake) {
		return func(f *fake) { f.respond(method, func([]any) (any, error) { return result, err }) }
	}
	newest := func(ahead uint64) func(*fake) {
		return func(f *fake) {
			f.respond("getSlot", func(params []any) (any, error) {
				if params[0].(object)["commitment"] == "processed" {
					return f.final + ahead, nil
				}
				return f.final, nil
			})
		}
	}
	well := []string{"chain ok", "version ok: solana-core 3.0.4", "sync ok: at slot 20000",
		"finality ok: final is slot 20000, 32 behind", "history ok: from slot 2000 on", "clock ok"}
	but := func(at int, lines ...string) []string {
		return append(append(append([]string{}, well[:at]...), lines...), well[at+1:]...)
	}
	for name, c := range map[string]struct {
		change func(*fake)
		later  time.Duration
		want   []string
	}{
		"well": {want: well},
		"silent": {change: answer("getVersion", nil, failure{code: -32601, message: "Method not found"}),
			want: but(1, "version warning: Method not found")},
		"unwell": {change: answer("getHealth", nil, failure{code: -32603, message: "Node is behind by 42 slots"}),
			want: but(2, "sync failed: behind by 42 slots")},
		"standing":  {change: newest(200), want: but(3, "finality warning: 200 behind")},
		"forgetful": {change: answer("getFirstAvailableBlock", 19_000, nil), want: but(4, "history warning: 1000 back")},
		"whole":     {change: answer("getFirstAvailableBlock", 0, nil), want: but(4, "history ok: from slot 0 on")},
		"secretive": {change: answer("getFirstAvailableBlock", nil, failure{code: -32601, message: "Method not found"}),
			want: but(4, "history warning: Method not found")},
		"poor": {change: func(f *fake) {
			answer("getBlocksWithLimit", nil, failure{code: -32601, message: "Method not found"})(f)
			answer("simulateTransaction", nil, failure{code: -32600,
				message: "simulateTransaction is not available on the Free tier"})(f)
		}, want: but(5, "chain failed: getBlocksWithLimit", "clock ok")},
		"without history": {change: answer("getSignatureStatuses", nil,
			failure{code: -32011, message: "Transaction history is not available from this node"}),
			want: but(5, "history failed: keeps no transactions", "clock ok")},
		"in the past": {later: -time.Minute, want: but(5, "clock failed: 1m0s ahead")},
		"left behind": {later: time.Hour, want: append(well, "sync warning: 1h0m0s old")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.add(20_000)
			answer("getVersion", object{"solana-core": "3.0.4", "feature-set": 1}, nil)(f)
			answer("getFirstAvailableBlock", 2_000, nil)(f)
			newest(32)(f)
			if c.change != nil {
				c.change(f)
			}
			now := time.Unix(1_700_020_000, 0).Add(c.later)
			chaintest.Findings(t, f.open(t, nil).CheckHealth(t.Context(), now), c.want...)
		})
	}
}

// A node of another cluster is one finding.
func TestHealthCheckAnotherChain(t *testing.T) {
	t.Parallel()
	c := newFake(t).open(t, func(cfg *Config) { cfg.Genesis = GenesisTestnet })
	chaintest.Findings(t, c.CheckHealth(t.Context(), time.Now()), "chain failed: configured is "+GenesisTestnet)
}
