package solana

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// keeping returns a node at the tip that has deleted the blocks below a slot, as Agave does (4.2: the codes and texts
// of its answers).
func keeping(t *testing.T, from uint64) *fake {
	t.Helper()
	f := newFake(t)
	for slot := uint64(101); slot <= 300; slot++ {
		f.add(slot)
	}
	for slot := uint64(100); slot < from; slot++ {
		delete(f.blocks, slot)
	}
	f.respond("getFirstAvailableBlock", func([]any) (any, error) { return from, nil })
	return f
}

// A proof that a pruned node cannot give, another one may give. History is gone only if every endpoint answers and
// keeps too little; an unreachable endpoint may keep it.
func TestExpiryAsksTheNodeThatKeepsTheHistory(t *testing.T) {
	t.Parallel()
	young := newFake(t)
	unsigned, tx := signed(t, young, young.open(t, nil)) // with the hash of block 100
	for name, test := range map[string]struct {
		second uint64 // 0: unreachable
		in     uint64
		none   bool // the first keeps no transactions at all
		gone   bool
		pruned bool
		fails  bool
	}{
		"another keeps it":              {second: 100, gone: true},
		"the first keeps none":          {second: 100, none: true, gone: true},
		"all are pruned":                {second: 250, pruned: true, fails: true},
		"another is unreachable":        {fails: true},
		"it is included":                {second: 100, in: 150},
		"a first that keeps none alone": {second: 250, none: true, pruned: true, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := keeping(t, 200)
			if test.none {
				refuse := func([]any) (any, error) {
					return nil, failure{code: codeHistory, message: "Transaction history is not available from this node"}
				}
				first.respond("getSignatureStatuses", refuse)
				first.respond("getTransaction", refuse)
			}
			server := httptest.NewServer(http.NotFoundHandler())
			server.Close()
			url := server.URL
			if test.second > 0 {
				other := keeping(t, test.second)
				url = other.url
				if test.in > 0 {
					other.statuses[tx.TxID] = test.in
					other.respond("getTransaction", func([]any) (any, error) {
						return object{"slot": test.in, "transaction": object{"signatures": []string{tx.TxID}}}, nil
					})
				}
			}
			c, err := New(Mainnet(), rpc.Config{URLs: []string{first.url, url}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			gone, err := c.Expired(t.Context(), unsigned, tx.TxID)
			if gone != test.gone || (err != nil) != test.fails || errors.Is(err, chain.ErrPruned) != test.pruned {
				t.Fatalf("expired is %v (%v), want %v and %v and %v", gone, err, test.gone, test.fails, test.pruned)
			}
			if c.Stats()[0].State != rpc.StateUp {
				t.Fatalf("a pruned node got a cool-down, want %v", rpc.StateUp)
			}
			outcome, err := c.Outcome(t.Context(), unsigned, tx.TxID)
			want := chain.Outcome{Included: test.in > 0, Expired: test.gone}
			if test.in > 0 {
				want.Block = chain.BlockRef{Height: test.in, Hash: hashOf("block 150")}
			}
			if (err != nil) != test.fails || outcome != want {
				t.Fatalf("the outcome is %+v (%v), want %+v", outcome, err, want)
			}
		})
	}
}
