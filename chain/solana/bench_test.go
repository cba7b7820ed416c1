package solana

import (
	"encoding/json"
	"fmt"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/bursar/bursar/chain/chaintest"
)

// BenchmarkBlock decodes, checks and scans a block of 3,000 transactions with the members that nodes send and nobody here
// reads.
func BenchmarkBlock(b *testing.B) {
	txs := make([]object, 3000)
	for i := range txs {
		keys, before := make([]string, 12), make([]uint64, 12)
		for j := range keys {
			keys[j], before[j] = hashOf(fmt.Sprint(i, j)), sol
		}
		tx := fakeTx{name: fmt.Sprint(i), keys: keys, before: before, after: before}.object()
		logs := make([]string, 15)
		for j := range logs {
			logs[j] = "Program 11111111111111111111111111111111 invoke [1]"
		}
		tx["meta"].(object)["logMessages"] = logs
		tx["meta"].(object)["innerInstructions"] = []object{{"index": 1, "instructions": []object{{"accounts": []int{1, 2, 3}, "data": hashOf("x")}}}}
		txs[i] = tx
	}
	raw, err := json.Marshal(object{"blockhash": hashOf("b"), "previousBlockhash": hashOf("a"), "parentSlot": 99, "blockTime": 1, "transactions": txs})
	if err != nil {
		b.Fatal(err)
	}
	watch := chaintest.NewWatch(ours)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		var x block
		if err := jsonv2.Unmarshal(raw, &x); err != nil {
			b.Fatal(err)
		}
		if err := x.checkWhole(100); err != nil {
			b.Fatal(err)
		}
		if _, err := (held{100, &x}).scan(watch); err != nil {
			b.Fatal(err)
		}
	}
}
