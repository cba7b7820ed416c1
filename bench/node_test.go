package main

import (
	"fmt"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/bitcoin"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

// The adapter, which checks hashes and merkle roots, follows the scripted node as it follows a real one.
func TestTheAdapterFollowsTheScriptedNode(t *testing.T) {
	t.Parallel()
	const address = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"
	script, err := scriptOf(address)
	if err != nil {
		t.Fatal(err)
	}
	ready, err := newReadyChain(7, 3)
	if err != nil {
		t.Fatal(err)
	}
	n, err := newNode(t.Context(), ready)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.close)
	for _, to := range [][]byte{script, nil, script} {
		if err := ready.add(to, true); err != nil {
			t.Fatal(err)
		}
	}
	network, err := bitcoin.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	c, err := bitcoin.New(bitcoin.Config{ID: "bitcoin", Network: network, Confirmations: 2,
		Node: rpc.Config{URLs: []string{n.url}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	watch := chaintest.NewWatch(address)
	genesis := chain.BlockRef{Height: 0, Hash: ready.blocks[0].hash}
	for _, test := range []struct {
		tip       int64
		transfers string
	}{{3, "[0 0 0]"}, {6, "[0 0 0 1 0 1]"}} {
		n.tip.Store(test.tip)
		head, err := c.Head(t.Context())
		if err != nil || int64(head.Latest.Height) != test.tip || int64(head.Final.Height) != test.tip-1 {
			t.Fatalf("the head is %+v, %v; want block %d", head, err, test.tip)
		}
		blocks, err := c.After(t.Context(), genesis, 10, watch)
		if err != nil {
			t.Fatal(err)
		}
		var transfers []int
		for _, b := range blocks {
			transfers = append(transfers, len(b.Transfers))
		}
		if got := fmt.Sprint(transfers); got != test.transfers {
			t.Errorf("the blocks up to %d have transfers %s, want %s", test.tip, got, test.transfers)
		}
	}
}
