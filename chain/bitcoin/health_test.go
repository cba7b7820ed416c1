package bitcoin

import (
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

// wellBitcoind returns the answers of a Bitcoin Core node without any problem.
func wellBitcoind(now time.Time) map[string]any {
	return map[string]any{
		"getnetworkinfo": map[string]any{"version": 290100, "subversion": "/Satoshi:29.1.0/", "connections": 10},
		"getblockchaininfo": map[string]any{"chain": "main", "blocks": 900_000, "headers": 900_000,
			"bestblockhash": strings.Repeat("0a", 32), "initialblockdownload": false, "pruned": false},
		"getblockheader": map[string]any{"time": now.Add(-10 * time.Minute).Unix()},
		"getindexinfo":   map[string]any{"txindex": map[string]any{"synced": true, "best_block_height": 900_000}},
	}
}

// Every check, with a node that passes it and one that does not.
func TestCheckHealth(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	with := func(method, member string, value any) func(map[string]any) {
		return func(says map[string]any) { says[method].(map[string]any)[member] = value }
	}
	well := []string{"chain ok: main", "version ok: /Satoshi:29.1.0/", "sync ok: at block 900000", "clock ok",
		"finality ok: 3 confirmations", "history ok: transactions are indexed"}
	but := func(at int, lines ...string) []string {
		return append(append(append([]string{}, well[:at]...), lines...), well[at+1:]...)
	}
	for name, c := range map[string]struct {
		change func(map[string]any)
		want   []string
	}{
		"well": {func(map[string]any) {}, well},
		"old":  {with("getnetworkinfo", "version", 200100), but(1, "version warning: Satoshi")},
		"silent": {func(s map[string]any) {
			s["getnetworkinfo"] = &rpc.Error{Code: -32601, Message: "Method not found"}
		}, but(1, "version warning: Method not found")},
		"alone": {with("getnetworkinfo", "connections", 0), but(1, well[1], "sync warning: no peers")},
		"downloading": {with("getblockchaininfo", "initialblockdownload", true), but(2,
			"sync failed: initial block download")},
		"behind":   {with("getblockchaininfo", "headers", 900_007), but(2, "sync failed: of 900007 known headers")},
		"a little": {with("getblockchaininfo", "headers", 900_006), well},
		"pruned": {func(s map[string]any) {
			with("getblockchaininfo", "pruned", true)(s)
			with("getblockchaininfo", "pruneheight", 800_000)(s)
		}, but(5, "history warning: blocks below 800000", well[5])},
		"without index": {func(s map[string]any) {
			s["getindexinfo"] = map[string]any{}
		}, but(5, "history warning: no transaction index")},
		"indexing": {func(s map[string]any) {
			s["getindexinfo"] = map[string]any{"txindex": map[string]any{"synced": false, "best_block_height": 7}}
		}, but(5, "history warning: is at block 7")},
		"from tomorrow": {with("getblockheader", "time", now.Add(3*time.Hour).Unix()),
			but(3, "clock failed: 3h0m0s ahead")},
		"ahead, as may be": {with("getblockheader", "time", now.Add(2*time.Hour).Unix()), well},
		"from yesterday": {with("getblockheader", "time", now.Add(-24*time.Hour).Unix()),
			but(3, well[3], "sync warning: 24h0m0s old")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, says := newFake(), wellBitcoind(now)
			c.change(says)
			for method, answer := range says {
				f.say(method, answer)
			}
			chaintest.Findings(t, open(t, f).CheckHealth(t.Context(), now), c.want...)
		})
	}
}

// A node that is unreachable, or serves another chain, is one finding; no finding contains its credentials.
func TestHealthCheckOfAnUnreachableNode(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f, func(cfg *Config) {
		cfg.Network.Genesis = strings.Repeat("0b", 32)
		cfg.Node.URLs = []string{"http://me:hunter2@node.example:8332"}
	})
	got := c.CheckHealth(t.Context(), time.Now())
	chaintest.Findings(t, got, "chain failed: configured is "+strings.Repeat("0b", 32))
	f.say("getblockhash", &rpc.Error{Code: -28, Message: "Loading block index… hunter2"})
	c = open(t, f, func(cfg *Config) {
		cfg.Network.Genesis = strings.Repeat("0b", 32)
		cfg.Node.URLs = []string{"http://me:hunter2@node.example:8332"}
	})
	got = c.CheckHealth(t.Context(), time.Now())
	chaintest.Findings(t, got, "chain failed: Loading block index")
	if strings.Contains(got[0].Detail+got[0].Node, "hunter2") {
		t.Errorf("a finding contains the password: %+v, want no %q", got, "hunter2")
	}
}
