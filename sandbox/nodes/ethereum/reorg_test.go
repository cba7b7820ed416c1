package ethereum

import (
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
)

// reorg replaces blocks and checks what every reorg must do to the chain.
func reorg(t *testing.T, n *Node, depth int, drop ...string) {
	t.Helper()
	height := int(n.Height())
	ancestor, orphan, head := at(t, n, height-depth), at(t, n, height-depth+1), at(t, n, height)
	if err := n.Reorg(depth, drop); err != nil {
		t.Fatal(err)
	}
	if got := number(t, ask[string](t, n, "eth_blockNumber")); got != height+1 {
		t.Errorf("height %d, want %d", got, height+1)
	}
	if at(t, n, height-depth).Hash != ancestor.Hash {
		t.Errorf("the block below the replaced ones has changed, want %v", ancestor.Hash)
	}
	if replaced := at(t, n, height-depth+1); replaced.Hash == orphan.Hash || replaced.ParentHash != ancestor.Hash {
		t.Errorf("first replaced block %s on %s", replaced.Hash, replaced.ParentHash)
	}
	if at(t, n, height).Hash == head.Hash {
		t.Error("the last replaced block is still canonical")
	}
	// As on the real network, the orphan's header is still available by hash.
	if got := ask[block](t, n, "eth_getBlockByHash", head.Hash, false); got.Number != head.Number {
		t.Errorf("orphan %s is block %s, want %s", head.Hash, got.Number, head.Number)
	}
}

func TestReorgKeepsTransactions(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	a, b := n.NewAddress(), n.NewAddress()
	mine(t, n, 5)
	thirdParty := sign(t, n, 0, 2e9, &n.faucets[0].address, nil)
	first := []string{pay(t, n, a, 1), pay(t, n, b, 2)}
	mine(t, n, 1)
	ask[string](t, n, "eth_sendRawTransaction", thirdParty.raw)
	mine(t, n, 1)
	second := []string{pay(t, n, a, 3)}
	mine(t, n, 1)
	waiting := pay(t, n, b, 4) // in the pool during the reorg
	firstBefore := at(t, n, 6).Transactions

	reorg(t, n, 3)

	if got := at(t, n, 6).Transactions; !slices.Equal(got, firstBefore) || len(got) != len(first) {
		t.Errorf("block 6 has %v, want %v", got, firstBefore)
	}
	if got := at(t, n, 7).Transactions; !slices.Equal(got, []string{thirdParty.hash}) {
		t.Errorf("block 7 has %v, want the third party's %s", got, thirdParty.hash)
	}
	if got := at(t, n, 8).Transactions; !slices.Equal(got, second) {
		t.Errorf("block 8 has %v, want %v", got, second)
	}
	r := ask[receipt](t, n, "eth_getTransactionReceipt", first[0])
	if r.BlockHash != at(t, n, 6).Hash {
		t.Errorf("receipt is of block %s, want the new block 6", r.BlockHash)
	}
	wantBalance(t, n, a, 4)
	wantBalance(t, n, b, 2)
	mine(t, n, 1)
	if got := at(t, n, 10).Transactions; !slices.Equal(got, []string{waiting}) {
		t.Errorf("block 10 has %v, want the waiting %s", got, waiting)
	}
}

func TestReorgDrops(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	a, b := n.NewAddress(), n.NewAddress()
	mine(t, n, 5)
	dropped, kept := pay(t, n, a, 1), pay(t, n, b, 2)
	mine(t, n, 1)
	parent, child := sign(t, n, 0, 2e9, &n.faucets[0].address, nil), sign(t, n, 1, 2e9, &n.faucets[0].address, nil)
	ask[string](t, n, "eth_sendRawTransaction", parent.raw)
	ask[string](t, n, "eth_sendRawTransaction", child.raw)
	mine(t, n, 2)

	reorg(t, n, 3, dropped, parent.hash)

	wantBalance(t, n, a, 0)
	wantBalance(t, n, b, 2)
	if got := at(t, n, 6).Transactions; !slices.Equal(got, []string{kept}) {
		t.Errorf("block 6 has %v, want %s", got, kept)
	}
	for _, hash := range []string{dropped, parent.hash} {
		if gone := ask[any](t, n, "eth_getTransactionByHash", hash); gone != nil {
			t.Errorf("the dropped transaction is still known: %v", gone)
		}
		if gone := ask[any](t, n, "eth_getTransactionReceipt", hash); gone != nil {
			t.Errorf("the dropped transaction still has a receipt: %v", gone)
		}
	}
	// The child of a dropped transaction waits for its nonce: neither lost nor mined.
	if got := ask[map[string]string](t, n, "txpool_status"); got["pending"] != "0x0" || got["queued"] != "0x1" {
		t.Errorf("pool %v, want the child queued", got)
	}
	mine(t, n, 2)
	wantBalance(t, n, a, 0)
	ask[string](t, n, "eth_sendRawTransaction", parent.raw)
	mine(t, n, 1)
	if got := at(t, n, "latest").Transactions; !slices.Equal(got, []string{parent.hash, child.hash}) {
		t.Errorf("mined %v, want parent and child", got)
	}
}

func TestReorgDropsPaymentsOfEveryFaucet(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	address := n.NewAddress()
	first := pay(t, n, address, 1)
	for range faucetCount { // the last of these uses the account of the first, with the next nonce
		pay(t, n, address, 1)
	}
	mine(t, n, 1)
	wantBalance(t, n, address, faucetCount+1)
	reorg(t, n, 1, first)
	wantBalance(t, n, address, faucetCount-1)
	for range faucetCount { // among them the one that fills the gap
		pay(t, n, address, 1)
	}
	mine(t, n, 1)
	wantBalance(t, n, address, 2*faucetCount)
}

func TestReorgPastFinality(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	address := n.NewAddress()
	mine(t, n, 4)
	credited := pay(t, n, address, 9)
	mine(t, n, 6)
	wantTags(t, n, 10, 8, 6)
	before := at(t, n, "finalized").Hash

	reorg(t, n, 7, credited)

	wantTags(t, n, 11, 8, 6)
	final := at(t, n, "finalized")
	if final.Hash == before || final.Hash != at(t, n, 6).Hash {
		t.Errorf("finalized is %s, want the new block 6", final.Hash)
	}
	wantBalance(t, n, address, 0)
	mine(t, n, 1)
	wantTags(t, n, 12, 10, 8)
}

func TestReorgWhileFinalityIsHeld(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	mine(t, n, 10)
	n.HoldFinality(true)
	mine(t, n, 10)
	final := at(t, n, "finalized")
	reorg(t, n, 14)
	wantTags(t, n, 21, 8, 6)
	if at(t, n, "finalized").Hash != final.Hash {
		t.Error("the finalized block changed although it was not replaced")
	}
}

func TestReorgOf256(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	address := n.NewAddress()
	mine(t, n, 1)
	var hashes []string
	for range 260 {
		hashes = append(hashes, pay(t, n, address, 1))
		mine(t, n, 1)
	}
	reorg(t, n, 256, hashes[100])
	wantBalance(t, n, address, 259)
	reorg(t, n, int(n.Height())) // down to genesis
	wantBalance(t, n, address, 259)
}

func TestReorgRefuses(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	address := n.NewAddress()
	old := pay(t, n, address, 1)
	mine(t, n, 3)
	head := at(t, n, "latest").Hash
	for name, try := range map[string]func() error{
		"nothing":                              func() error { return n.Reorg(0, nil) },
		"genesis":                              func() error { return n.Reorg(4, nil) },
		"drop of a block that is not replaced": func() error { return n.Reorg(1, []string{old}) },
		"drop of a text that is not a hash":    func() error { return n.Reorg(3, []string{"0x12"}) },
	} {
		if err := try(); err == nil {
			t.Errorf("%s: accepted, want an error", name)
		}
	}
	if at(t, n, "latest").Hash != head {
		t.Errorf("a refused reorg has changed the chain, want %v", head)
	}
}

func TestReorgDropsFromPool(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	address := n.NewAddress()
	mine(t, n, 2)
	pooled := pay(t, n, address, 1)
	reorg(t, n, 1, pooled)
	mine(t, n, 1)
	wantBalance(t, n, address, 0)
}

func TestFaucetsAreTheirKeys(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for i, f := range newFaucets() {
		if f.address != crypto.PubkeyToAddress(f.key.PublicKey) || seen[f.address.Hex()] {
			t.Fatalf("faucet %d has address %s", i, f.address)
		}
		seen[f.address.Hex()] = true
	}
}
