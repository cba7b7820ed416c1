package bitcoin_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/bitcoin/bitcoindtest"
	"github.com/bursar/bursar/chain/chaintest"
)

// A real bitcoind that has pruned the older blocks and has no index: the adapter follows the newest blocks, including
// one of our transactions with its fee; for an older block the error says what to do, and every block's hash is known.
func TestAPrunedBitcoind(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a real bitcoind")
	}
	t.Parallel()
	node, lowest := bitcoindtest.StartPruned(t)
	c := open(t, node)
	watch := chaintest.NewWatch()
	before, err := c.At(t.Context(), lowest-2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.After(t.Context(), before, 10, watch); err == nil || !strings.Contains(err.Error(), "start_height") {
		t.Errorf("after a pruned block: %v, want an error and %q in it", err, "start_height")
	}
	if _, err := c.BlockOn(t.Context(), c.Endpoints()[0].Name, lowest-1, watch); err == nil ||
		errors.Is(err, chain.ErrNoBlock) {
		t.Errorf("a pruned block: %v", err)
	}
	if faults := c.Stats()[0].Faults; faults != 0 {
		t.Errorf("the node counted as faulty %d times, want 0", faults)
	}
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ours := node.Outsider(t)
	paid := node.Pay(t, chain.Payment{Address: bursar.Address{Base: ours}, Amount: bursar.Units(100_000)})[0]
	node.Mine(t, 1)
	watch = chaintest.NewWatch(ours)
	watch.AddSent(paid)
	blocks, err := c.After(t.Context(), head.Latest, 10, watch)
	if err != nil || len(blocks) != 1 || len(blocks[0].Transfers) != 1 || len(blocks[0].Included) != 1 ||
		blocks[0].Included[0].Fee.IsZero() {
		t.Errorf("the newest block is %+v (%v), want 1 of them and not zero", blocks, err)
	}
}
