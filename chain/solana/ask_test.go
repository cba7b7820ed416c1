package solana

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// payment returns a transaction of a version that pays us.
func payment(name string, version int) object {
	return fakeTx{name: name, version: version, keys: []string{outsider, ours}, before: []uint64{9 * sol, 0},
		after: []uint64{8*sol - 5000, sol}}.object()
}

// A block with a transaction of an unknown future version is read like any other.
func TestEveryVersionIsRead(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := f.open(t, nil)
	f.add(101, payment("a", 0), payment("b", 1), payment("c", 2), payment("d", 127),
		fakeTx{name: "e", legacy: true, keys: []string{outsider, ours}, before: []uint64{9 * sol, 0},
			after: []uint64{8*sol - 5000, sol}}.object())
	blocks, err := c.After(t.Context(), at100(), 10, watching())
	if err != nil || len(blocks) != 1 || len(blocks[0].Transfers) != 5 {
		t.Fatalf("%+v, %v, want 1 of them and 5 of them", blocks, err)
	}
}

// gateway refuses requests like software in front of a node, before they reach the node.
func gateway(f *fake, highest float64, details ...string) {
	f.respond("getBlock", func(params []any) (any, error) {
		config := params[1].(object)
		f.asked[fmt.Sprint(config["transactionDetails"], config["maxSupportedTransactionVersion"])]++
		if config["maxSupportedTransactionVersion"].(float64) > highest {
			return nil, failure{code: -32602, message: "Invalid params: maxSupportedTransactionVersion is out of range"}
		}
		if which := config["transactionDetails"].(string); which != "none" && !slices.Contains(details, which) {
			return nil, failure{code: -32602, message: "Invalid params: unknown variant `" + which + "`"}
		}
		return f.usual("getBlock", params)
	})
}

// The requests that an endpoint refuses are detected once, and it is then asked in a way that it accepts.
func TestTheWayToAskIsLearned(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		highest float64
		details []string
		way     string
	}{
		"all":                 {255, []string{"accounts", "full"}, "accounts255"},
		"no accounts":         {255, []string{"full"}, "full255"},
		"no unknown versions": {1, []string{"accounts", "full"}, "accounts1"},
		"neither":             {1, []string{"full"}, "full1"},
		"before version 1":    {0, []string{"full"}, "full0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			adapter := f.open(t, nil)
			gateway(f, c.highest, c.details...)
			last := at100()
			for slot := uint64(101); slot <= 110; slot++ {
				f.add(slot, payment(fmt.Sprint(slot), 0))
				blocks, err := adapter.After(t.Context(), last, 10, watching())
				if err != nil || len(blocks) != 1 || len(blocks[0].Transfers) != 1 {
					t.Fatalf("%+v, %v, want 1 of them", blocks, err)
				}
				last = blocks[0].Ref
			}
			for which, n := range f.asked {
				if strings.HasPrefix(which, "accounts") || strings.HasPrefix(which, "full") {
					if which == c.way && n != 10 || which != c.way && n > 1 {
						t.Fatalf("asked %d times for %s: %v", n, which, f.asked)
					}
				}
			}
		})
	}
}

// An endpoint's refusal of a version is the endpoint's fault, is reported, and never makes a slot an empty one.
func TestARefusedVersionIsNotAnEmptySlot(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := f.open(t, nil)
	gateway(f, 0, "accounts", "full")
	f.add(101, payment("a", 1))
	f.add(102)
	blocks, err := c.After(t.Context(), at100(), 10, watching())
	if !errors.Is(err, rpc.ErrUnavailable) || errors.Is(err, chain.ErrOffChain) || len(blocks) > 0 ||
		!strings.Contains(err.Error(), "Transaction version (1)") {
		t.Fatalf("%+v, %v", blocks, err)
	}
	// Even a later block that skips the slot does not make it empty.
	f.blocks[102]["parentSlot"], f.blocks[102]["previousBlockhash"] = 100, hashOf("block 100")
	if blocks, err := f.open(t, nil).After(t.Context(), at100(), 10, watching()); err == nil {
		t.Fatalf("%+v, want an error", blocks)
	}
}

// An endpoint that returns a block without transactions although they were requested has not returned an empty block.
func TestOmittedDetailsAreNotAnEmptyBlock(t *testing.T) {
	t.Parallel()
	for _, always := range []bool{false, true} {
		f := newFake(t)
		c := f.open(t, nil)
		f.add(101, payment("a", 1))
		f.respond("getBlock", func(params []any) (any, error) {
			config := params[1].(object)
			if always || config["transactionDetails"] == "accounts" {
				config["transactionDetails"] = "none"
			}
			return f.usual("getBlock", params)
		})
		blocks, err := c.After(t.Context(), at100(), 10, watching())
		if always && !errors.Is(err, rpc.ErrUnavailable) || !always && (err != nil || len(blocks[0].Transfers) != 1) {
			t.Fatalf("always %v: %+v, %v", always, blocks, err)
		}
	}
}
