package evm

import (
	"testing"

	"github.com/bursar/bursar/chain"
)

// How many nonces an address has used is asked of the state of the very block, by its hash where the node takes that:
// a node on another branch, or one that lags, has no answer.
func TestANonceIsReadInTheStateOfItsBlock(t *testing.T) {
	t.Parallel()
	for name, hashes := range map[string]bool{"by hash": true, "by height": false} {
		f := newFake(t)
		f.add()
		byHeight := 0
		f.script["eth_getTransactionCount"] = func(params []any) (any, error) {
			if state, is := params[1].(object); is {
				if !hashes {
					return nil, failure{-32602, "invalid params"}
				}
				if state["blockHash"] != f.at(1).Hash || state["requireCanonical"] != true {
					return nil, failure{-32000, "header not found"}
				}
				return "0x7", nil
			}
			if byHeight++; params[1] != "0x1" {
				t.Errorf("%s: asked in the state of %v, want 0x1", name, params[1])
			}
			return "0x7", nil
		}
		c := f.open(t, nil)
		if got, err := c.NonceAt(t.Context(), base(fakeOurs), f.at(1)); got != 7 || err != nil {
			t.Errorf("%s: got nonce %d, %v, want 7", name, got, err)
		}
		if hashes != (byHeight == 0) {
			t.Errorf("%s: %d questions by height", name, byHeight)
		}
		replaced := chain.BlockRef{Height: 1, Hash: fakeHash("x")}
		if got, err := c.NonceAt(t.Context(), base(fakeOurs), replaced); err == nil {
			t.Errorf("%s: got nonce %d in a block that is not canonical, want an error", name, got)
		}
		if got, err := c.NonceAt(t.Context(), "0x12", f.at(1)); err == nil {
			t.Errorf("%s: got nonce %d of no address, want an error", name, got)
		}
	}
}
