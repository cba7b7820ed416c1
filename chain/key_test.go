package chain_test

import (
	"encoding/json"
	"testing"

	"github.com/bursar/bursar/chain"
)

func TestAKeyNamesItsEpoch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		index, place uint32
		epoch        chain.Epoch
	}{
		{0, 0, 0},
		{chain.EpochIndexes - 1, chain.EpochIndexes - 1, 0},
		{chain.EpochIndexes, 0, 1},
		{3*chain.EpochIndexes + 7, 7, 3},
		{1<<31 - 1, chain.EpochIndexes - 1, chain.MaxEpoch},
	} {
		ref := chain.KeyRef{Family: "f", Branch: chain.DepositBranch, Index: c.index}
		if ref.Epoch() != c.epoch || ref.Place().Index != c.place || ref.Place().In(c.epoch) != ref {
			t.Errorf("index %d: epoch %d, place %d, want %d, %d", c.index, ref.Epoch(), ref.Place().Index, c.epoch, c.place)
		}
	}
	if hot := chain.Hot("f").In(2); hot.Epoch() != 2 || hot.Place() != chain.Hot("f") {
		t.Errorf("the hot key of epoch 2 is %v", hot)
	}
}

// A request that an earlier release stored names no epoch.
func TestAnOldRequestIsOfTheFirstEpoch(t *testing.T) {
	t.Parallel()
	var ref chain.KeyRef
	if err := json.Unmarshal([]byte(`{"family":"evm","branch":1,"index":0}`), &ref); err != nil || ref != chain.Hot("evm") ||
		ref.Epoch() != 0 {
		t.Errorf("an old hot key reads as %v in epoch %d, %v; want the first epoch's", ref, ref.Epoch(), err)
	}
}

func TestWhereWalletsShareAnAddressItStays(t *testing.T) {
	t.Parallel()
	if got := chain.HotIn(chain.Capabilities{Family: "x", SharedAddress: true}, 3); got != chain.Hot("x") {
		t.Errorf("the hot key is %v, want the first seed's: its account has the address of all wallets", got)
	}
	if got := chain.HotIn(chain.Capabilities{Family: "y"}, 3); got.Epoch() != 3 {
		t.Errorf("the hot key is of epoch %d, want 3", got.Epoch())
	}
}
