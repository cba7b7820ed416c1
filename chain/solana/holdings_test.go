package solana

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// A node has current balances only; the effects of the blocks since then are reversed.
func TestHoldingsAreThoseOfTheRequestedBlock(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := f.open(t, nil)
	move := func(name string, before, after []uint64, err any) object {
		return fakeTx{name: name, keys: []string{outsider, ours, other}, before: before, after: after,
			err: err}.object()
	}
	f.add(101, move("a", []uint64{9 * sol, 5, 7}, []uint64{8 * sol, 6, 7}, nil))
	f.add(103, move("b", []uint64{8 * sol, 6, 7}, []uint64{7 * sol, 9, 0}, nil),
		move("c", []uint64{8 * sol, 9, 0}, []uint64{7 * sol, 9, 0}, "x"))
	f.accounts[ours] = plainAccount(9)
	for at, want := range map[uint64][]uint64{100: {5, 0, 7, 5}, 101: {6, 0, 7, 6}, 103: {9, 0, 0, 9}} {
		balances, err := c.Holdings(t.Context(), []string{ours, outsider2(), other, ours}, "",
			chain.BlockRef{Height: at, Hash: hashOf(fmt.Sprint("block ", at))})
		if err != nil {
			t.Fatal(err)
		}
		for i, amount := range balances {
			if amount != bursar.Units(want[i]) {
				t.Fatalf("at %d: %v, want %v", at, balances, want)
			}
		}
	}
	if _, err := c.Holdings(t.Context(), []string{ours}, "",
		chain.BlockRef{Height: 100, Hash: hashOf("another")}); err == nil {
		t.Fatal("holdings as of a block of another chain, want an error")
	}
	if _, err := c.Holdings(t.Context(), []string{ours}, hashOf("mint"), at100()); err == nil {
		t.Fatal("holdings of a token, want an error")
	}
	if _, err := c.Holdings(t.Context(), []string{"x"}, "", at100()); err == nil {
		t.Fatal("holdings of no address")
	}
	if _, err := f.open(t, nil).Holdings(t.Context(), []string{ours}, "", chain.BlockRef{Height: 500}); err == nil {
		t.Fatal("holdings of the future, want an error")
	}
}

func outsider2() string { return hashOf("outsider 2") }

// Balances of many addresses are requested a hundred at a time.
func TestHoldingsOfMany(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := f.open(t, nil)
	var bases []string
	for i := range 250 {
		bases = append(bases, hashOf(fmt.Sprint("wallet ", i)))
		f.accounts[bases[i]] = plainAccount(uint64(i + 1))
	}
	balances, err := c.Holdings(t.Context(), bases, "", at100())
	if err != nil || len(balances) != 250 {
		t.Fatalf("%d, %v, want 250 of them", len(balances), err)
	}
	for i, amount := range balances {
		if amount != bursar.Units(uint64(i+1)) {
			t.Fatalf("the balance of address %d is %s, want %v", i, amount, bursar.Units(uint64(i+1)))
		}
	}
	if asked := maps.Clone(f.asked); asked["getMultipleAccounts"] != 3 || asked["getBlock"] != 0 {
		t.Fatalf("it took %v, want 3 and 0", asked)
	}
}

// Present balances are never given out as those of a block that is too far back to reverse what came after it: a
// service that is behind would take a difference of a sweep's fee for missing money.
func TestHoldingsOfABlockTooFarBack(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.add(100+maxRewind, fakeTx{
		name: "a", keys: []string{outsider, ours}, before: []uint64{9 * sol, 5}, after: []uint64{8 * sol, 6},
	}.object())
	f.accounts[ours] = plainAccount(6)
	c := f.open(t, nil)
	balances, err := c.Holdings(t.Context(), []string{ours}, "", at100())
	if err != nil || balances[0] != bursar.Units(5) {
		t.Fatalf("at the farthest block: %v, %v, want 5", balances, err)
	}
	f.add(100 + maxRewind + 1)
	if balances, err := c.Holdings(t.Context(), []string{ours}, "", at100()); !errors.Is(err, errFarBehind) {
		t.Fatalf("one slot farther: %v, %v, want %v", balances, err, errFarBehind)
	}
}
