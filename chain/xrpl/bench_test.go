package xrpl

import (
	"encoding/json"
	"testing"

	"github.com/bursar/bursar/chain/chaintest"
)

// busyLedger returns 250 transactions, one of which pays us.
func busyLedger() (txs []object) {
	for i := range 250 {
		nodes := []any{root(outsider, 9_000_000, 2_000_000), root(third, 1_000_000, 8_000_000)}
		for range 6 {
			nodes = append(nodes, object{"ModifiedNode": object{"LedgerEntryType": "RippleState",
				"LedgerIndex":    fakeHash("line"),
				"FinalFields":    object{"Balance": usd(), "HighLimit": usd(), "LowLimit": usd(), "Flags": 65536},
				"PreviousFields": object{"Balance": usd()}}})
		}
		tx := pay(object{"Destination": third}, "7000000", nodes...)
		if i == 100 {
			tx = pay(object{"DestinationTag": 7}, "7000000", root(ours, 20_000_000, 27_000_000))
		}
		txs = append(txs, tx)
	}
	return txs
}

// BenchmarkLedger reads a busy ledger.
func BenchmarkLedger(b *testing.B) {
	node := newFake(b)
	raw, err := json.Marshal(node.add(busyLedger()...))
	if err != nil {
		b.Fatal(err)
	}
	watch := chaintest.NewWatch(ours)
	if err := watch.Sync(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		var l ledger
		if err := unmarshal(raw, &l); err != nil {
			b.Fatal(err)
		}
		if err := l.sort(); err != nil {
			b.Fatal(err)
		}
		if block, err := scan(&l, watch); err != nil || len(block.Transfers) != 1 {
			b.Fatalf("%+v (%v), want 1 of them", block, err)
		}
	}
}
