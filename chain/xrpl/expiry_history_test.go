package xrpl

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// keeping returns a node at the tip that keeps some ledgers, and searches them for a payment.
func keeping(t *testing.T, complete, txID string, includedIn int) *fake {
	t.Helper()
	f := paying(t, nil, object{})
	for range 70 {
		f.add()
	}
	f.complete = complete
	f.script["tx"] = func(params object) object {
		if includedIn > 0 {
			return object{"hash": txID, "validated": true, "ledger_index": includedIn}
		}
		return object{"error": "txnNotFound", "searched_all": params["min_ledger"] != nil &&
			strings.HasPrefix(complete, "100-")}
	}
	return f
}

// away returns an endpoint that is unreachable.
func away(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	return server.URL
}

func openAt(t *testing.T, urls ...string) *Chain {
	t.Helper()
	c, err := New(Config{ID: bursar.XRPL, Network: Private}, rpc.Config{URLs: urls})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// A proof that a pruned node cannot give, another one may give. History is gone only if every endpoint answers and
// keeps too little; an unreachable endpoint may keep it. None of that prevents following the chain through a pruned
// node.
func TestExpiryAsksTheNodeThatKeepsTheHistory(t *testing.T) {
	t.Parallel()
	unsigned, tx := signed(t, paying(t, nil, object{}).open(t))
	const pruned, whole = "140-170", "100-170"
	for name, test := range map[string]struct {
		second string
		in     int
		down   bool
		gone   bool
		pruned bool
		fails  bool
	}{
		"another keeps it":       {second: whole, gone: true},
		"all are pruned":         {second: "150-170", pruned: true, fails: true},
		"another is unreachable": {down: true, fails: true},
		"it is included":         {second: whole, in: 120},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, other := keeping(t, pruned, tx.TxID, 0), away(t)
			if !test.down {
				other = keeping(t, test.second, tx.TxID, test.in).url
			}
			c := openAt(t, first.url, other)
			gone, err := c.Expired(t.Context(), unsigned, tx.TxID)
			if gone != test.gone || (err != nil) != test.fails || errors.Is(err, chain.ErrPruned) != test.pruned {
				t.Fatalf("expired is %v (%v), want %v and %v and %v", gone, err, test.gone, test.fails, test.pruned)
			}
			if test.pruned && (!containsText(err, "100 to 160") || !containsText(err, pruned) ||
				!containsText(err, strings.TrimPrefix(first.url, "http://"))) {
				t.Fatalf("the error does not say which ledgers are needed, which are kept and where: %v", err)
			}
			if c.Stats()[0].State != rpc.StateUp {
				t.Fatalf("a pruned node got a cool-down, want %v", rpc.StateUp)
			}
			outcome, err := c.Outcome(t.Context(), unsigned, tx.TxID)
			want := chain.Outcome{Included: test.in > 0, Expired: test.gone}
			if test.in > 0 {
				want.Block = first.ref(test.in - 100)
			}
			if (err != nil) != test.fails || outcome != want {
				t.Fatalf("the outcome is %+v (%v), want %+v", outcome, err, want)
			}
		})
	}
}
