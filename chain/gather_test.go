package chain

import (
	"reflect"
	"testing"

	"github.com/bursar/bursar"
)

func TestGatheredNamesEachReceiverAndAssetOnce(t *testing.T) {
	t.Parallel()
	pay := func(base, contract string, amount uint64) Payment {
		return Payment{Address: bursar.Address{Base: base}, Contract: contract, Amount: bursar.Units(amount)}
	}
	var g Gathered
	if g.List() != nil {
		t.Fatalf("an empty Gathered lists %+v, want nil", g.List())
	}
	tagged := pay("a", "", 5)
	tagged.Address.Memo, tagged.Address.HasMemo = 7, true
	for _, p := range []Payment{pay("a", "", 1), pay("b", "t", 2), pay("a", "t", 0), tagged, pay("a", "", 3),
		pay("b", "t", 4)} {
		g.Add(p)
	}
	if want := []Payment{pay("a", "", 4), pay("b", "t", 6), tagged}; !reflect.DeepEqual(g.List(), want) {
		t.Fatalf("gathered %+v, want %+v", g.List(), want)
	}
}

func TestGatheredKeepsAmountsThatWouldOverflowApart(t *testing.T) {
	t.Parallel()
	most := bursar.LargestAmount()
	var g Gathered
	for range 2 {
		g.Add(Payment{Address: bursar.Address{Base: "a"}, Amount: most})
	}
	if list := g.List(); len(list) != 2 || list[0].Amount != most || list[1].Amount != most {
		t.Fatalf("gathered %+v, want two items of the highest amount", list)
	}
}
