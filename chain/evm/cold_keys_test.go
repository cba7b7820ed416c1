package evm

import (
	"strings"
	"testing"
)

// A proxy runs whatever stands in its first slot: on the chains where the authors deployed it, nothing but Safe 1.4.1
// is what a Safe should run.
func TestTheContractBehindASafeIsKnown(t *testing.T) {
	t.Parallel()
	slot := func(at string) text { return text(strings.Repeat("0", 24) + strings.TrimPrefix(at, "0x")) }
	thief := "0x" + strings.Repeat("5a", 20)
	for name, test := range map[string]struct {
		chainID uint64
		slot    text
		want    bool
	}{
		"Safe on Ethereum":            {1, slot(singletons[0]), true},
		"SafeL2 on Polygon":           {137, slot(singletons[1]), true},
		"another contract":            {56, slot(thief), false},
		"nothing":                     {1, slot("0x" + strings.Repeat("0", 40)), false},
		"no word":                     {31337, text("5a"), false},
		"a chain of which it is open": {31337, slot(thief), true},
	} {
		if runs, known := singleton(test.chainID, test.slot); known != test.want {
			t.Errorf("%s: got %s, %v, want %v", name, runs, known, test.want)
		}
	}
}

// What a node answers about modules is read as the contract's ABI writes it, and nothing else.
func TestModulesAreReadStrictly(t *testing.T) {
	t.Parallel()
	words := func(list ...string) text {
		var all string
		for _, w := range list {
			all += strings.Repeat("0", 64-len(w)) + w
		}
		return text(all)
	}
	module := strings.Repeat("5a", 20)
	for name, test := range map[string]struct {
		answer text
		want   int
		fails  bool
	}{
		"none":            {words("40", "1", "0"), 0, false},
		"one":             {words("40", "1", "1", module), 1, false},
		"fewer than said": {words("40", "1", "2", module), 0, true},
		"another place":   {words("60", "1", "0"), 0, true},
		"too many":        {words("40", "1", strings.Repeat("f", 64)), 0, true},
		"nothing":         {nil, 0, true},
	} {
		got, err := modulesOf(test.answer)
		if len(got) != test.want || (err != nil) != test.fails {
			t.Errorf("%s: got %v, %v, want %d and error: %v", name, got, err, test.want, test.fails)
		}
	}
}
