package outgoing

import (
	"maps"
	"slices"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// What one request can prove is bounded: the first UTXOs that fit, what is reserved before others, and one transaction
// with many outputs counts once. The largest transaction that a block can have fits alone.
func TestWhatFitsInOneRequest(t *testing.T) {
	t.Parallel()
	all := []store.UTXO{{Outpoint: "a:0"}, {Outpoint: "a:1"}, {Outpoint: "b:0"}, {Outpoint: "c:0"}, {Outpoint: "d:0"}}
	none := func(store.UTXO) bool { return false }
	for name, test := range map[string]struct {
		sizes    map[string]int
		required func(store.UTXO) bool
		want     []string
	}{
		"all":           {map[string]int{"a": 1, "b": 2, "c": 3, "d": 4}, none, []string{"a", "b", "c", "d"}},
		"the first":     {map[string]int{"a": chain.MaxPrevious - 3, "b": 2, "c": 3, "d": 1}, none, []string{"a", "b", "d"}},
		"one not known": {map[string]int{"a": 1, "c": 3, "d": 4}, none, []string{"a", "c", "d"}},
		"a huge one":    {map[string]int{"a": chain.MaxPrevious, "b": 1, "c": 1, "d": 1}, none, []string{"a"}},
		"a reserved one": {map[string]int{"a": chain.MaxPrevious, "b": 1, "c": 1, "d": 1},
			func(c store.UTXO) bool { return c.Outpoint == "c:0" }, []string{"b", "c", "d"}},
		"the largest of a block": {map[string]int{"a": 1_000_000}, none, []string{"a"}},
	} {
		if got := slices.Sorted(maps.Keys(fitInRequest(all, test.sizes, test.required))); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
