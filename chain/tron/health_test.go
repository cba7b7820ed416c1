package tron

import (
	"testing"
	"time"

	"github.com/bursar/bursar/chain/chaintest"
)

// Every check, with a node that passes it and one that does not.
func TestCheckHealth(t *testing.T) {
	t.Parallel()
	answer := func(method string, result any) func(*fake) {
		return func(f *fake) { f.script[method] = func(object) any { return result } }
	}
	well := []string{"chain ok: block 0", "sync ok: at block 101", "clock ok",
		"finality ok: solidified is block 83, 18 behind", "tracing ok: internal transactions", "tokens ok",
		"version ok: java-tron 4.8.1"}
	but := func(at int, lines ...string) []string {
		return append(append(append([]string{}, well[:at]...), lines...), well[at+1:]...)
	}
	quiet := func(calls int) func(*fake) {
		return func(f *fake) {
			for height := 81; height <= 83; height++ {
				f.blocks[height] = blockOf(height, calling(calls/3)...)
			}
		}
	}
	for name, c := range map[string]struct {
		change func(*fake)
		later  time.Duration
		want   []string
	}{
		"well":        {want: well},
		"in the past": {later: -time.Minute, want: but(2, "clock failed: 1m0s ahead")},
		"left behind": {later: time.Hour, want: but(2, well[2], "sync warning: 1h0m0s old")},
		"standing": {change: func(f *fake) {
			f.solid = 0
		}, want: append(append(well[:3:3], "finality warning: 101 behind", "tracing ok: cannot be determined"),
			well[5:]...)},
		"half a node": {change: answer("walletsolidity/getblock", object{"Error": "no such view"}),
			want: append(well[:3:3], "finality failed: no such view", "tokens warning", "version warning")},
		"silent": {change: answer("getnodeinfo", object{}), want: but(6, "version warning: the version is missing")},
		"secretive": {change: answer("gettransactioninfobyblocknum", object{"Error": "closed"}),
			want: append(well[:4:4], "tracing failed", "tokens warning", "version warning")},
		"without history": {change: answer("gettransactioninfobyblocknum", []any{}),
			want: but(4, "tracing failed: block 83")},
		"no internals": {change: quiet(90), want: but(4, "tracing warning: 90 contract calls")},
		"few calls":    {change: quiet(30), want: but(4, "tracing ok: cannot be determined")},
		"no constant call": {change: func(f *fake) {
			f.script["triggerconstantcontract"] = unsupported(f)
		}, want: but(5, "tokens warning: no constant calls")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			for height := range 101 {
				txs := calling(20)
				if height == 81 {
					txs[7].internal = []any{internalTx("call", fakeContract, fakeOutsider, sunOf(70))}
				}
				f.add(txs...)
			}
			f.solid = 83
			answer("getnodeinfo", object{"configNodeInfo": object{"codeVersion": "4.8.1"}})(f)
			if c.change != nil {
				c.change(f)
			}
			now := time.UnixMilli(fakeTime(101)).Add(c.later)
			chaintest.Findings(t, f.open(t, nil).CheckHealth(t.Context(), now), c.want...)
		})
	}
}

// calling returns transactions that call a contract.
func calling(count int) []fakeTx {
	txs := make([]fakeTx, count)
	for i := range txs {
		txs[i] = fakeTx{kind: triggerType, to: fakeContract}
	}
	return txs
}

// A node of another chain is one finding.
func TestHealthCheckAnotherChain(t *testing.T) {
	t.Parallel()
	c := newFake(t).open(t, func(cfg *Config) { cfg.Genesis = MainnetGenesis })
	chaintest.Findings(t, c.CheckHealth(t.Context(), time.Now()), "chain failed: configured is "+MainnetGenesis)
}
