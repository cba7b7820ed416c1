package bitcoin

import (
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// unspentAt returns the answer of a fake scan.
func unspentAt(tip chain.BlockRef, outputs ...map[string]any) map[string]any {
	return map[string]any{"success": true, "height": tip.Height, "bestblock": tip.Hash, "unspents": outputs}
}

func unspent(script []byte, amount string, height int) map[string]any {
	return map[string]any{"scriptPubKey": hex.EncodeToString(script), "amount": raw(amount), "height": height}
}

// TestHoldingsAsOfABlock requests block 2. Block 3 spends a UTXO of block 1 and creates one; the node can only scan at
// 3.
func TestHoldingsAsOfABlock(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	ours, other := source(t, c, 0), source(t, c, 1)
	made := pays(1, wire.NewTxOut(1000, script(t, c, ours.Base)), wire.NewTxOut(70, script(t, c, ours.Base)))
	f.add(made)
	f.add(pays(2))
	spend := spends(t, c, wire.OutPoint{Hash: made.TxHash()}, ours)
	spend.AddTxOut(wire.NewTxOut(300, script(t, c, other.Base)))
	f.add(spend)
	f.say("scantxoutset", unspentAt(f.ref(3),
		unspent(script(t, c, ours.Base), "0.00000070", 1), unspent(script(t, c, other.Base), "0.00000300", 3)))
	bases := []string{other.Base, ours.Base, other.Base}
	for height, want := range map[int][]bursar.Amount{
		2: {{}, bursar.Units(1070), {}},
		3: {bursar.Units(300), bursar.Units(70), bursar.Units(300)},
	} {
		got, err := c.Holdings(t.Context(), bases, "", f.ref(height))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("at %d: %v (%v), want %v", height, got, err, want)
		}
	}
	at := f.ref(2)
	f.drop(2)
	f.add()
	f.add()
	f.say("scantxoutset", unspentAt(f.ref(3)))
	if got, err := c.Holdings(t.Context(), bases, "", at); !errors.Is(err, chain.ErrOffChain) {
		t.Errorf("at a reorged-out block: %v (%v), want %v", got, err, chain.ErrOffChain)
	}
}

func TestUnsoundScansAreErrors(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	ours, other := source(t, c, 0), source(t, c, 1)
	f.add()
	tip := f.ref(1)
	aborted := unspentAt(tip)
	aborted["success"] = false
	for why, answer := range map[string]any{
		"aborted":            aborted,
		"another's output":   unspentAt(tip, unspent(script(t, c, other.Base), "0.1", 1)),
		"an unknown script":  unspentAt(tip, unspent([]byte{opOne}, "0.1", 1)),
		"a tip below":        unspentAt(f.ref(0)),
		"another tip":        unspentAt(chain.BlockRef{Height: 1, Hash: strings.Repeat("ab", 32)}),
		"a tip out of sight": unspentAt(chain.BlockRef{Height: 5000, Hash: tip.Hash}),
		"too fine an amount": unspentAt(tip, unspent(script(t, c, ours.Base), "0.000000001", 1)),
		"busy": &rpc.Error{Code: codeParameter,
			Message: "Scan already in progress, use action \"abort\" or \"status\""},
		"null": nil,
	} {
		f.say("scantxoutset", answer)
		if got, err := c.Holdings(t.Context(), []string{ours.Base}, "", tip); err == nil {
			t.Errorf("%s: %v, want an error", why, got)
		}
	}
	f.say("scantxoutset", unspentAt(tip))
	for _, base := range []string{"", "2N3oefVeg6stiTb5Kh3ozCSkaqmx91FDbsm", strings.ToUpper(ours.Base)} {
		if got, err := c.Holdings(t.Context(), []string{base}, "", tip); err == nil {
			t.Errorf("%q holds %v, want an error", base, got)
		}
	}
	if _, err := c.Holdings(t.Context(), []string{ours.Base}, "token", tip); !errors.Is(err, bursar.ErrBadAddress) {
		t.Errorf("a contract: %v, want %v", err, bursar.ErrBadAddress)
	}
	if got, err := c.Holdings(t.Context(), []string{ours.Base}, "", tip); err != nil || got[0] != (bursar.Amount{}) {
		t.Errorf("holdings of no address are %v (%v)", got, err)
	}
}
