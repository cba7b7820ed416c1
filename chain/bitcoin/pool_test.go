package bitcoin

import (
	"strings"
	"testing"

	"github.com/bursar/bursar/chain/rpc"
)

// fees31 is what Bitcoin Core 31 adds to an entry (rpc/mempool.cpp, entryToJSON): the chunk that a transaction is mined
// with.
func entry31(change func(e map[string]any)) map[string]any {
	e := map[string]any{
		"vsize": 140, "weight": 560, "descendantcount": 1, "descendantsize": 140, "ancestorcount": 2, "ancestorsize": 340,
		"chunkweight": 1360,
		"fees": map[string]any{"base": raw("0.00000700"), "modified": raw("0.00000700"), "ancestor": raw("0.00001000"),
			"descendant": raw("0.00000700"), "chunk": raw("0.00001000")},
		"depends": []string{strings.Repeat("ab", 32)}, "spentby": []string{},
	}
	change(e)
	return e
}

// without removes members that a node with clusters may omit.
func without(members ...string) func(e map[string]any) {
	return func(e map[string]any) {
		for _, m := range members {
			delete(e, m)
			delete(e["fees"].(map[string]any), strings.TrimPrefix(m, "fees."))
		}
	}
}

// A missing member of an entry is not zero: the value is found in another way, or nothing is built.
func TestMissingMembersOfAMempoolEntry(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	request := requestOf(t, c, []uint64{100_000}, 500_000)
	cheap, _ := mustBuild(t, c, request)
	request.Replaces = &cheap
	children := func(e map[string]any) { e["spentby"], e["descendantcount"] = []string{strings.Repeat("cd", 32)}, 2 }
	for name, test := range map[string]struct {
		change []func(e map[string]any)
		builds bool
	}{
		"nothing is missing":               {nil, true},
		"no count of descendants":          {[]func(map[string]any){without("descendantcount")}, true},
		"a child":                          {[]func(map[string]any){children}, false},
		"a child without a count":          {[]func(map[string]any){children, without("descendantcount")}, false},
		"neither a count nor the children": {[]func(map[string]any){without("descendantcount", "spentby")}, false},
	} {
		f.say("getmempoolentry", entry31(func(e map[string]any) {
			for _, change := range test.change {
				change(e)
			}
		}))
		if built, err := c.Build(t.Context(), request); (err == nil) != test.builds {
			t.Errorf("%s: %+v, %v, want %v", name, built, err, test.builds)
		}
	}
}

// The parents of an unconfirmed UTXO are paid for, in whichever way the node reports them.
func TestParentsArePaidForWithoutSums(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	candidates := []candidate{{from: outpoint{index: 1}}}
	bump := func() uint64 {
		t.Helper()
		candidates[0].bump = 0
		if err := c.addBumps(t.Context(), candidates, perByte(10)); err != nil {
			t.Fatal(err)
		}
		return candidates[0].bump
	}
	ancestors := map[string]any{strings.Repeat("ab", 32): map[string]any{"vsize": 200,
		"fees": map[string]any{"base": raw("0.00000300"), "modified": raw("0.00000300")}}}
	f.say("getmempoolancestors", ancestors)
	for name, lacks := range map[string][]string{
		"nothing": nil, "the size": {"ancestorsize"}, "the fees": {"fees.ancestor"},
		"both": {"ancestorsize", "fees.ancestor"},
	} {
		f.say("getmempoolentry", entry31(without(lacks...)))
		if got := bump(); got != 3400-1000 {
			t.Errorf("without %s the bump is %d, want 2400", name, got)
		}
	}
	f.say("getmempoolentry", entry31(without("ancestorsize", "vsize")))
	if err := c.addBumps(t.Context(), candidates, perByte(10)); err == nil {
		t.Error("an entry without any size was accepted")
	}
	f.say("getmempoolentry", entry31(without("ancestorsize")))
	f.say("getmempoolancestors", &rpc.Error{Code: codeNoSuch, Message: "Transaction not in mempool"})
	if got := bump(); got != 0 {
		t.Errorf("%d was paid for a parent that has been mined, want 0", got)
	}
}
