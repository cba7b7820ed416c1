package bitcoin

import (
	"slices"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
)

func TestReorgDropsAndKeeps(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	kept, dropped, child := newAddress(t, n), newSpender(t, n, "dropped"), newAddress(t, n)
	var blocks []string
	keptID := pay(t, n, kept, 111_000)
	blocks = append(blocks, mine(t, n, 1)...)
	droppedID := pay(t, n, dropped.address, 222_000)
	blocks = append(blocks, mine(t, n, 1)...)
	childID := must[string](t, n, "sendrawtransaction", dropped.spend(t, dropped.utxo(t, droppedID), child, 1000, 0))
	blocks = append(blocks, mine(t, n, 1)...)
	waiting := pay(t, n, kept, 333_000)
	wantBalance(t, n, child, 221_000)
	height := n.Height()

	if err := n.Reorg(3, []string{droppedID}); err != nil {
		t.Fatal(err)
	}
	if n.Height() != height+1 {
		t.Errorf("height %d, want %d", n.Height(), height+1)
	}
	wantBalance(t, n, kept, 111_000)
	wantBalance(t, n, dropped.address, 0)
	wantBalance(t, n, child, 0)
	refused(t, n, codeAddressOrKey, "getrawtransaction", droppedID)
	refused(t, n, codeAddressOrKey, "getrawtransaction", childID)
	if got := must[[]string](t, n, "getrawmempool"); !slices.Equal(got, []string{waiting}) {
		t.Errorf("mempool %v, want only %s", got, waiting)
	}
	for i, hash := range blocks {
		b := must[struct{ Confirmations, Height int }](t, n, "getblock", hash)
		if b.Confirmations != -1 {
			t.Errorf("old block %d has %d confirmations, want %v", i, b.Confirmations, -1)
		}
		now := must[string](t, n, "getblockhash", b.Height)
		if coinbasePays(t, n, now) == coinbasePays(t, n, hash) {
			t.Errorf("block %d pays the same miner as before", b.Height)
		}
	}
	if got := must[struct{ Confirmations int }](t, n, "getrawtransaction", keptID, 1).Confirmations; got != 4 {
		t.Errorf("kept transaction has %d confirmations, want 4", got)
	}
	mine(t, n, 1)
	wantBalance(t, n, kept, 444_000)
	wantBalance(t, n, dropped.address, 0)
}

func coinbasePays(t *testing.T, n *Node, block string) string {
	t.Helper()
	b := must[struct {
		Tx []struct {
			Vout []struct{ ScriptPubKey struct{ Hex string } }
		}
	}](t, n, "getblock", block, 2)
	return b.Tx[0].Vout[0].ScriptPubKey.Hex
}

func TestReorgOf50Blocks(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	a := newAddress(t, n)
	var ids []string
	var want int64
	for i := range int64(50) {
		ids = append(ids, pay(t, n, a, 10_000+i))
		want += 10_000 + i
		mine(t, n, 1)
	}
	old := must[string](t, n, "getbestblockhash")
	if err := n.Reorg(50, ids[49:]); err != nil {
		t.Fatal(err)
	}
	wantBalance(t, n, a, want-10_049)
	for round := range 3 { // replace the replacements too
		if err := n.Reorg(50+round, nil); err != nil {
			t.Fatal(err)
		}
		wantBalance(t, n, a, want-10_049)
	}
	if must[string](t, n, "getbestblockhash") == old {
		t.Error("the best block did not change")
	}
	mine(t, n, 1)
	wantBalance(t, n, a, want-10_049)
}

// TestDeepReorg replaces blocks whose coinbases were spent: those payments cannot return to the mempool.
func TestDeepReorg(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	a := newAddress(t, n)
	pay(t, n, a, coinUnit)
	mine(t, n, 1)
	if err := n.Reorg(int(n.Height()), nil); err != nil {
		t.Fatal(err)
	}
	wantBalance(t, n, a, 0)
	if n.Height() != 112 {
		t.Errorf("height %d, want 112", n.Height())
	}
	pay(t, n, a, coinUnit)
	mine(t, n, 1)
	wantBalance(t, n, a, coinUnit)
}

func TestReorgRefuses(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	old := pay(t, n, newAddress(t, n), 1000)
	mine(t, n, 5)
	tip := must[string](t, n, "getbestblockhash")
	for name, err := range map[string]error{
		"no depth":            n.Reorg(0, nil),
		"beyond genesis":      n.Reorg(1000, nil),
		"no id":               n.Reorg(1, []string{"zz"}),
		"unknown transaction": n.Reorg(1, []string{(&chainhash.Hash{1}).String()}),
		"deeper transaction":  n.Reorg(2, []string{old}),
	} {
		if err == nil {
			t.Errorf("%s: accepted, want an error", name)
		}
	}
	if now := must[string](t, n, "getbestblockhash"); now != tip {
		t.Errorf("a refused reorg changed the chain, want %v", tip)
	}
}

// TestReadersNeverSeeBetween reads during reorgs: height and balance are those of one tip or the other.
func TestReadersNeverSeeBetween(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	a := newAddress(t, n)
	pay(t, n, a, 5_000)
	mine(t, n, 10)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for last := int64(0); ; {
				height := n.Height()
				balance, err := n.Balance(a)
				if height < last || balance != 5_000 || err != nil {
					t.Errorf("height %d after %d, balance %d, %v", height, last, balance, err)
				}
				last = height
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for range 10 {
		if err := n.Reorg(10, nil); err != nil {
			t.Error(err)
			break
		}
	}
	close(done)
	readers.Wait()
}

func TestInvalidateAndReconsider(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	a := newAddress(t, n)
	id := pay(t, n, a, 7_000)
	hashes := mine(t, n, 3)
	rpc(t, n, "invalidateblock", hashes[0])
	wantBalance(t, n, a, 0)
	if got := must[[]string](t, n, "getrawmempool"); !slices.Equal(got, []string{id}) {
		t.Errorf("mempool %v, want %s", got, id)
	}
	other := newAddress(t, n)
	mined := must[[]string](t, n, "generatetoaddress", 2, other)
	wantBalance(t, n, a, 7_000)
	if len(mined) != 2 || coinbasePays(t, n, mined[1]) == coinbasePays(t, n, hashes[1]) {
		t.Errorf("mined %v", mined)
	}
	rpc(t, n, "reconsiderblock", hashes[0])
	if got := must[string](t, n, "getbestblockhash"); got != hashes[2] {
		t.Errorf("best block %s, want %s", got, hashes[2])
	}
	wantBalance(t, n, a, 7_000)
	wantBalance(t, n, other, 0)
}
