package solana

import (
	"errors"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// One endpoint is read in the same way as by the follower, whatever the others return.
func TestOneEndpointAlone(t *testing.T) {
	t.Parallel()
	short, long := newFake(t), newFake(t)
	for _, f := range []*fake{short, long} {
		f.add(101, payment("a", 1))
		f.add(104, payment("b", 2))
	}
	long.add(105)
	c, err := New(Mainnet(), rpc.Config{URLs: []string{short.url, long.url}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	endpoints := c.Endpoints()
	if len(endpoints) != 2 || endpoints[0].Host != "127.0.0.1" || endpoints[0].Name == endpoints[1].Name {
		t.Fatalf("%+v", endpoints)
	}
	for i, want := range []uint64{104, 105} {
		head, err := c.HeadOn(t.Context(), endpoints[i].Name)
		if err != nil || head.Final.Height != want || head.Latest != head.Final {
			t.Fatalf("endpoint %d: %+v, %v, want %v and %v", i, head, err, want, head.Final)
		}
		b, err := c.BlockOn(t.Context(), endpoints[i].Name, 104, watching())
		if err != nil || len(b.Transfers) != 1 || b.Ref.Hash != hashOf("block 104") || b.Parent != hashOf("block 101") {
			t.Fatalf("endpoint %d: %+v, %v", i, b, err)
		}
	}
	for _, slot := range []uint64{102, 105} { // empty, and above
		if b, err := c.BlockOn(t.Context(), endpoints[0].Name, slot, watching()); !errors.Is(err, chain.ErrNoBlock) {
			t.Fatalf("slot %d: %+v, %v, want %v", slot, b, err, chain.ErrNoBlock)
		}
	}
	short.oldest = 104
	if b, err := c.BlockOn(t.Context(), endpoints[0].Name, 101, watching()); err == nil ||
		errors.Is(err, chain.ErrNoBlock) {
		t.Fatalf("a deleted block: %+v, %v", b, err)
	}
	if _, err := c.BlockOn(t.Context(), "nobody", 101, watching()); err == nil {
		t.Fatal("an endpoint that is not configured was read")
	}
}
