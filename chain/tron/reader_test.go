package tron

import (
	"errors"
	"reflect"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// Each endpoint is read separately, and returns the blocks that the follower reads.
func TestEndpointsAreReadOneByOne(t *testing.T) {
	t.Parallel()
	ahead, behind := newFake(t), newFake(t)
	for _, f := range []*fake{ahead, behind} {
		f.add(fakeTx{to: fakeOurs, sun: 7})
		f.add()
	}
	ahead.add(fakeTx{to: fakeOther, sun: 9})
	ahead.solid, behind.solid = 2, 1
	c, err := New(Config{}, rpc.Config{URLs: []string{ahead.url, behind.url}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	endpoints := c.Endpoints()
	if len(endpoints) != 2 || endpoints[0].Name == endpoints[1].Name || endpoints[0].Host != "127.0.0.1" {
		t.Fatalf("endpoints %+v", endpoints)
	}
	want, err := c.After(t.Context(), ahead.at(0), 10, fakeWatch())
	if err != nil || len(want) != 3 {
		t.Fatalf("read %+v, %v, want 3 of them", want, err)
	}
	for i, f := range []*fake{ahead, behind} {
		name := endpoints[i].Name
		top := len(f.blocks) - 1
		head, err := c.HeadOn(t.Context(), name)
		if err != nil || head.Latest != f.at(top) || head.Final != f.at(f.solid) {
			t.Errorf("head of %d: %+v, %v", i, head, err)
		}
		for height := 1; height <= top; height++ {
			got, err := c.BlockOn(t.Context(), name, uint64(height), fakeWatch())
			if err != nil || !reflect.DeepEqual(got, want[height-1]) {
				t.Errorf("block %d of %d: %+v, %v, want %+v", height, i, got, err, want[height-1])
			}
		}
		if _, err := c.BlockOn(t.Context(), name, uint64(top)+1, fakeWatch()); !errors.Is(err, chain.ErrNoBlock) {
			t.Errorf("above the head of %d: %v, want %v", i, err, chain.ErrNoBlock)
		}
	}
	if _, err := c.HeadOn(t.Context(), "another"); err == nil {
		t.Error("an endpoint that is not configured has a head")
	}
	behind.blocks[1].infos = nil
	if _, err := c.BlockOn(t.Context(), endpoints[1].Name, 1, fakeWatch()); err == nil ||
		errors.Is(err, chain.ErrNoBlock) {
		t.Errorf("a block without results: %v", err)
	}
}
