package xrpl

import (
	"errors"
	"reflect"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

// Each endpoint is read separately, and returns the ledgers that the follower reads.
func TestEndpointsAreReadOneByOne(t *testing.T) {
	t.Parallel()
	ahead, pruned := newFake(t), newFake(t)
	for _, f := range []*fake{ahead, pruned} {
		f.add(pay(nil, "7000000", root(ours, 20_000_000, 27_000_000)))
		f.add()
	}
	ahead.add()
	pruned.complete = "102-102"
	pruned.script["ledger"] = func(ask object) object {
		if ask["ledger_index"] == 101.0 {
			return object{"error": "lgrNotFound"}
		}
		return pruned.usual("ledger", ask)
	}
	c, err := New(Config{ID: bursar.XRPL, Network: Private}, rpc.Config{URLs: []string{ahead.url, pruned.url}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	endpoints := c.Endpoints()
	if len(endpoints) != 2 || endpoints[0].Name == endpoints[1].Name || endpoints[0].Host != "127.0.0.1" {
		t.Fatalf("endpoints %+v", endpoints)
	}
	watch := chaintest.NewWatch(ours)
	want, err := c.After(t.Context(), ahead.ref(0), 10, watch)
	if err != nil || len(want) != 3 || len(want[0].Transfers) != 1 {
		t.Fatalf("read %+v (%v), want 3 of them and 1 of them", want, err)
	}
	for height := first + 1; height <= first+3; height++ {
		got, err := c.BlockOn(t.Context(), endpoints[0].Name, uint64(height), watch)
		if err != nil || !reflect.DeepEqual(got, want[height-first-1]) {
			t.Errorf("ledger %d: %+v (%v), want %+v", height, got, err, want[height-first-1])
		}
	}
	if head, err := c.HeadOn(t.Context(), endpoints[1].Name); err != nil || head.Final != pruned.ref(2) {
		t.Errorf("head %+v (%v)", head, err)
	}
	if got, err := c.BlockOn(t.Context(), endpoints[1].Name, first+2, watch); err != nil || got.Ref != pruned.ref(2) {
		t.Errorf("the pruned node's ledger: %+v (%v)", got, err)
	}
	for _, height := range []uint64{first + 1, first + 3} {
		if _, err := c.BlockOn(t.Context(), endpoints[1].Name, height, watch); !errors.Is(err, chain.ErrNoBlock) {
			t.Errorf("ledger %d, which the pruned node lacks: %v, want %v", height, err, chain.ErrNoBlock)
		}
	}
	if _, err := c.HeadOn(t.Context(), "another"); err == nil {
		t.Error("an endpoint that is not configured has a head")
	}
}
