package outgoing

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// proving is a chain of UTXOs whose node knows every transaction, each of a size.
type proving struct {
	chain.Chain
	chain.Provable
	size int
}

func (p proving) Capabilities() chain.Capabilities {
	return chain.Capabilities{ID: bursar.Bitcoin, Model: chain.UTXOModel}
}

func (p proving) Previous(context.Context, string, uint64) ([]byte, error) {
	return make([]byte, p.size), nil
}

// What an outgoing transaction has reserved comes first though only what is read from the node makes all too large.
func TestWhatIsReservedFitsBesideWhatIsRead(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := proving{size: chain.MaxPrevious / 2}
		s := NewSender(Config{DB: db, Chain: c})
		request := bursar.OutgoingTx{ID: bursar.ID{4}, Chain: bursar.Bitcoin, Kind: "withdrawal", Currency: "BTC",
			Base:    "hot",
			Request: []byte("{}")}
		err := db.Do(t.Context(), func(tx *store.Tx) error {
			if _, err := tx.Outgoing().Insert(t.Context(), request); err != nil {
				return err
			}
			if err := tx.Reservations().Reserve(t.Context(), request, []string{"b:0"}); err != nil {
				return err
			}
			kept := store.PreviousTx{TxID: "a", Raw: make([]byte, chain.MaxPrevious-chain.MaxPrevious/4)}
			return tx.UTXOs().PutPrevious(t.Context(), bursar.Bitcoin, kept)
		})
		if err != nil {
			t.Fatal(err)
		}
		fitting, leftOut, err := s.provable(t.Context(), store.ChainState{}, request.ID,
			[]store.UTXO{{Outpoint: "a:0"}, {Outpoint: "b:0"}})
		if err != nil || !leftOut || len(fitting) != 1 || fitting[0].Outpoint != "b:0" {
			t.Errorf("got %v (left out: %v), %v, want b:0, which is reserved", fitting, leftOut, err)
		}
	})
}

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
