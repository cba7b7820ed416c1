package tron

import (
	"testing"
	"time"

	"github.com/bursar/bursar/chain/chaintest"
)

// Every check, with a node that passes it and one that does not.
func TestExamine(t *testing.T) {
	t.Parallel()
	answer := func(method string, result any) func(*fake) {
		return func(f *fake) { f.script[method] = func(object) any { return result } }
	}
	well := []string{"chain ok", "sync ok: at block 101", "clock ok", "finality ok: solidified is block 83, 18 behind", "tracing ok: saveInternalTx", "version ok: java-tron 4.8.1"}
	but := func(at int, lines ...string) []string {
		return append(append(append([]string{}, well[:at]...), lines...), well[at+1:]...)
	}
	for name, c := range map[string]struct {
		change func(*fake)
		later  time.Duration
		want   []string
	}{
		"well":        {want: well},
		"in the past": {later: -time.Minute, want: but(2, "clock failed: 1m0s ahead")},
		"left behind": {later: time.Hour, want: but(2, well[2], "sync warning: 1h0m0s old")},
		"standing":    {change: func(f *fake) { f.solid = 0 }, want: but(3, "finality warning: 101 behind")},
		"half a node": {change: answer("walletsolidity/getblock", object{"Error": "no such view"}), want: append(well[:3:3], "finality failed: no such view", "tracing failed", "version warning")},
		"silent":      {change: answer("getnodeinfo", object{}), want: but(5, "version warning: its version")},
		"secretive":   {change: answer("gettransactioninfobyblocknum", object{"Error": "closed"}), want: append(well[:4:4], "tracing failed", "version warning")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			for range 101 {
				f.add()
			}
			f.solid = 83
			answer("getnodeinfo", object{"configNodeInfo": object{"codeVersion": "4.8.1"}})(f)
			if c.change != nil {
				c.change(f)
			}
			now := time.UnixMilli(fakeTime(101)).Add(c.later)
			chaintest.Findings(t, f.open(t, nil).Examine(t.Context(), now), c.want...)
		})
	}
}

// A node of another chain is one finding.
func TestExamineAnotherChain(t *testing.T) {
	t.Parallel()
	c := newFake(t).open(t, func(cfg *Config) { cfg.Genesis = MainnetGenesis })
	chaintest.Findings(t, c.Examine(t.Context(), time.Now()), "chain failed: configured is "+MainnetGenesis)
}
