package follow_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
)

// depositsAt returns the recorded deposits of the block at a height: amounts and statuses, in order.
func depositsAt(f *followtest.Harness, height uint64) string {
	f.T.Helper()
	var list []string
	f.Must(f.DB.View(ctx, func(tx *store.Tx) error {
		deposits, err := tx.Deposits().InBlock(ctx, bursar.Ethereum, height)
		for _, d := range deposits {
			list = append(list, fmt.Sprint(d.Amount, " ", d.Status))
		}
		return err
	}))
	slices.Sort(list)
	return fmt.Sprint(list)
}

// byContract is a payment that a contract made to a wallet inside a transaction.
func byContract(txID string, to bursar.Wallet, units uint64) chain.Transfer {
	return chain.Transfer{TxID: txID, Output: 1, Address: to.Address, Amount: bursar.Units(units), Internal: true}
}

// A payment that an adapter overlooked in a block is found by a second reading, whatever else of the block is recorded.
// The exception are payments by contracts to an address that has recorded payments by contracts in that block, because
// they may be the same sums split differently.
func TestASecondReadingFindsWhatWasOverlooked(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		other := bursar.Wallet{ID: bursar.ID{9}, Currency: "COIN", Address: bursar.Address{Base: f.Sim.Named("other")}}
		f.AddWallet(&other, nil)
		token := f.Sim.Named("token")
		plain := chain.Transfer{TxID: "plain", Address: f.Wallet.Address, Amount: bursar.Units(1001)}
		second := chain.Transfer{TxID: "second", Address: f.Wallet.Address, Amount: bursar.Units(1002)}
		sent, pieces := byContract("sent", f.Wallet, 2001), byContract("pieces", f.Wallet, 2002)
		elsewhere, gas := byContract("elsewhere", other, 2003), byContract("gas", f.Tokens, 4001)
		tokens := chain.Transfer{TxID: "tokens", Output: 1, Address: f.Tokens.Address, Contract: token,
			Amount: bursar.Units(3001)}
		list := func(transfers ...chain.Transfer) []chain.Transfer { return transfers }
		for name, tc := range map[string]struct {
			first, then []chain.Transfer
			want        string
		}{
			"a payment by a contract":                   {nil, list(sent), "[2001 pending]"},
			"the same sum split differently":            {list(sent), list(pieces), "[2001 pending]"},
			"a payment next to it":                      {list(sent), list(sent, second), "[1002 pending 2001 pending]"},
			"a payment by a contract next to a payment": {list(plain), list(plain, sent), "[1001 pending 2001 pending]"},
			"a payment by a contract to another wallet": {list(sent), list(pieces, elsewhere), "[2001 pending 2003 pending]"},
			"a payment by a contract next to a token":   {list(tokens), list(tokens, gas), "[3001 pending 4001 pending]"},
		} {
			write := map[uint64]func(b *chain.Block){}
			f.Chain = scripted{f.Sim, write}
			at := cursor(f) + 1
			named := func(transfers []chain.Transfer) func(b *chain.Block) {
				return func(b *chain.Block) {
					for _, x := range transfers {
						x.TxID += " " + name
						b.Transfers = append(b.Transfers, x)
					}
				}
			}
			write[at] = named(tc.first)
			mine(f, 1)
			write[at] = named(tc.then)
			if n, err := f.Rescan(ctx, at, at); n != 1 || err != nil {
				t.Errorf("%s: %d blocks were searched (%v), want 1", name, n, err)
			}
			if got := depositsAt(f, at); got != tc.want {
				t.Errorf("%s: recorded are %s, want %s", name, got, tc.want)
			}
		}
	})
}

// Deposits recorded from a block that was reorged out do not count as those of another block at its height.
func TestASecondReadingLooksAtItsOwnBlockAlone(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		sent := func(txID string, units uint64) func(b *chain.Block) {
			return func(b *chain.Block) { b.Transfers = []chain.Transfer{byContract(txID, f.Wallet, units)} }
		}
		c := scripted{f.Sim, map[uint64]func(b *chain.Block){1: sent("before", 2001)}}
		f.Chain = c
		mine(f, 1)
		delete(c.write, 1)
		f.Sim.Reorg(1)
		f.CatchUp()
		if got := depositsAt(f, 1); got != "[]" {
			t.Fatalf("recorded are %s, want %q", got, "[]")
		}
		c.write[1] = sent("after", 3001)
		if n, err := f.Rescan(ctx, 1, 1); n != 1 || err != nil {
			t.Errorf("%d blocks are searched (%v), want 1", n, err)
		}
		if got := depositsAt(f, 1); got != "[3001 pending]" {
			t.Errorf("recorded are %s, want %q", got, "[3001 pending]")
		}
	})
}

// RescanTx finds a transaction although its block was read before the transaction was noticed.
func TestARescanOfATransactionFindsIt(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		node := &blind{Chain: f.Sim}
		f.Chain = node
		mine(f, 1)
		id := f.Pay(5000)
		mine(f, 5)
		f.Want("block 6, 0 credited, map[], 0 events")
		node.sees = true
		if ref, err := f.RescanTx(ctx, id); err != nil || ref.Height != 2 {
			t.Errorf("the transaction is found in block %d (%v), want 2", ref.Height, err)
		}
		f.CatchUp()
		f.Want("block 6, 5000 credited, map[confirmed:1], 1 events")
	})
}

// A rescan reads no more blocks than it was asked to search, and ends at the chain's tip if that is lower.
func TestARescanAsksForNoMoreThanItSearches(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		mine(f, 128)
		c := &counted{Chain: f.Sim}
		f.Chain = c
		for _, tc := range []struct {
			from, to         uint64
			searched, afters int
		}{{1, 64, 64, 1}, {1, 65, 65, 2}, {7, 7, 1, 1}, {100, 128, 29, 1}, {100, 1000, 29, 2}} {
			c.afters = 0
			if n, err := f.Rescan(ctx, tc.from, tc.to); n != tc.searched || c.afters != tc.afters || err != nil {
				t.Errorf("from %d to %d, %d blocks were searched with %d requests (%v), want %d with %d",
					tc.from, tc.to, n, c.afters, err, tc.searched, tc.afters)
			}
		}
	})
}
