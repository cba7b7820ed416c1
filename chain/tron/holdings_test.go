package tron

import (
	"errors"
	"reflect"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// movedBlocks adds two blocks to a chain of four, after which we have 1000 sun and 50 tokens.
func movedBlocks(t testing.TB) *fake {
	t.Helper()
	f := newFake(t)
	for range 4 {
		f.add()
	}
	f.add(
		fakeTx{to: fakeOurs, sun: 300},
		fakeTx{from: fakeOurs, to: fakeOutsider, sun: 40, fee: 6},
		fakeTx{from: fakeOurs, kind: triggerType, to: fakeToken, fee: 9,
			logs: []any{transferLog(fakeToken, fakeOurs, fakeOutsider, 20)}},
	)
	f.add(
		fakeTx{kind: triggerType, to: fakeContract, sun: 70,
			internal: []any{internalTx("call", fakeContract, fakeOurs, sunOf(70))}},
		fakeTx{kind: triggerType, to: fakeToken, logs: []any{transferLog(fakeToken, fakeOutsider, fakeOurs, 33)}},
		fakeTx{to: fakeOurs, sun: 5000, outcome: "FAILED", failed: true},
	)
	f.give(fakeOurs, 1000, 50)
	return f
}

// TestHoldingsRewind: the effects of later blocks are reversed, from the solidified state or from the newest.
func TestHoldingsRewind(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		solid, at      int
		native, tokens uint64
	}{
		"solidified":                  {6, 6, 1000, 50},
		"one block back":              {6, 5, 930, 17},
		"two blocks back":             {6, 4, 930 - 300 + 40 + 6 + 9, 37},
		"above the solidified":        {2, 6, 1000, 50},
		"above the solidified, older": {2, 4, 685, 37},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := movedBlocks(t)
			f.solid = test.solid
			c := f.open(t, nil)
			bases := []string{fakeOutsider.String(), fakeOurs.String()}
			f.give(fakeOutsider, 10_000, 10_000)
			got, err := c.Holdings(t.Context(), bases, "", f.at(test.at))
			if err != nil || len(got) != 2 || got[1] != bursar.Units(test.native) {
				t.Fatalf("TRX %v, %v, want %d", got, err, test.native)
			}
			got, err = c.Holdings(t.Context(), bases[1:], fakeToken.String(), f.at(test.at))
			if err != nil || !reflect.DeepEqual(got, []bursar.Amount{bursar.Units(test.tokens)}) {
				t.Fatalf("tokens %v, %v, want %d", got, err, test.tokens)
			}
		})
	}
}

func TestHoldingsRefuse(t *testing.T) {
	t.Parallel()
	f := movedBlocks(t)
	f.solid = 6
	c := f.open(t, nil)
	ours := []string{fakeOurs.String()}
	other := chain.BlockRef{Height: 5, Hash: fakeID(5)[:63] + "0"}
	if _, err := c.Holdings(t.Context(), ours, "", other); !errors.Is(err, chain.ErrOffChain) {
		t.Fatalf("another block: %v, want %v", err, chain.ErrOffChain)
	}
	if _, err := c.Holdings(t.Context(), ours, "", f.at(9)); !errors.Is(err, chain.ErrNoBlock) {
		t.Fatalf("above the head: %v, want %v", err, chain.ErrNoBlock)
	}
	if _, err := c.Holdings(t.Context(), []string{"x"}, "", f.at(6)); !errors.Is(err, bursar.ErrBadAddress) {
		t.Fatalf("no address: %v", err)
	}
	f.give(fakeOurs, 10, 0)
	if got, err := c.Holdings(t.Context(), ours, "", f.at(4)); err == nil {
		t.Fatalf("less than came in: %v, want an error", got)
	}
	for range rewindable + 1 {
		f.add()
	}
	f.solid = len(f.blocks) - 1
	if got, err := f.open(t, nil).Holdings(t.Context(), ours, "", f.at(6)); !errors.Is(err, errTooOld) {
		t.Fatalf("too old: %v, %v, want %v", got, err, errTooOld)
	}
}

// TestHoldingsOfAMovingChain: balances are read between two reads of the same head.
func TestHoldingsOfAMovingChain(t *testing.T) {
	t.Parallel()
	f := movedBlocks(t)
	f.solid = 5
	f.script["getaccount"] = func(object) any {
		f.solid = 6 // the block arrives while balances are read
		return f.accounts[fakeOurs]
	}
	got, err := f.open(t, nil).Holdings(t.Context(), []string{fakeOurs.String()}, "", f.at(5))
	if err != nil || got[0] != bursar.Units(930) || f.asked["walletsolidity/getaccount"] != 2 {
		t.Fatalf("got %v, %v after %d readings, want %v and 2", got, err, f.asked["walletsolidity/getaccount"],
			bursar.Units(930))
	}
}

// TestHoldingsOfMany reads more addresses than are requested concurrently, while blocks arrive that pay some of them.
func TestHoldingsOfMany(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	const many, at, later = 90, 3, 40
	bases, accounts := make([]string, many), make([]address, many)
	paid := map[address]int{}
	for i := range many {
		accounts[i] = fakeAddress(string(rune('a' + i)))
		bases[i] = accounts[i].String()
	}
	for height := 1; height <= later; height++ {
		f.add(fakeTx{to: accounts[height%many], sun: int64(height)})
	}
	f.solid = at
	asked := 0
	f.script["getaccount"] = func(ask object) any {
		a := addressFrom(t, ask["address"].(string))
		if asked++; asked%33 == 0 && f.solid+7 <= later {
			f.solid += 7
		}
		balance := 1000
		for height := 1; height <= f.solid; height++ {
			if accounts[height%many] == a {
				balance += height
			}
		}
		return object{"address": a.hex(), "balance": balance}
	}
	for height := 1; height <= at; height++ {
		paid[accounts[height%many]] += height
	}
	got, err := f.open(t, nil).Holdings(t.Context(), bases, "", f.at(at))
	if err != nil || len(got) != many {
		t.Fatalf("%d holdings, %v, want %v of them", len(got), err, many)
	}
	for i, a := range accounts {
		if got[i] != bursar.Units(uint64(1000+paid[a])) {
			t.Fatalf("the balance of %d is %s, want %d", i, got[i], 1000+paid[a])
		}
	}
	if f.solid == at {
		t.Fatal("no block arrived during the read")
	}
}
