package tron

import (
	"encoding/json"
	"log/slog"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
)

// BenchmarkBlock reads a full block of mainnet's size: 300 transactions, two thirds of them token transfers.
func BenchmarkBlock(b *testing.B) {
	f := newFake(b)
	var txs []fakeTx
	for range 100 {
		log := func() []any { return []any{transferLog(fakeToken, fakeOutsider, fakeOther, 5)} }
		txs = append(txs, fakeTx{to: fakeContract, sun: 5}, fakeTx{kind: triggerType, to: fakeToken, logs: log()},
			fakeTx{kind: triggerType, to: fakeToken, logs: log()})
	}
	block := f.add(txs...)
	rawBlock, err1 := json.Marshal(block.block)
	rawInfos, err2 := json.Marshal(block.infos)
	if err1 != nil || err2 != nil {
		b.Fatal(err1, err2)
	}
	c := &Chain{Rules: rulesOf(b, fakeToken.String()), nodes: &chain.Nodes{Log: slog.New(slog.DiscardHandler)}}
	watch := chaintest.NewWatch(fakeOurs.String())
	b.SetBytes(int64(len(rawBlock) + len(rawInfos)))
	for b.Loop() {
		d := &delivered{}
		var list []execution
		if err := jsonv2.Unmarshal(rawBlock, &d.block); err != nil {
			b.Fatal(err)
		}
		if err := jsonv2.Unmarshal(rawInfos, &list); err != nil {
			b.Fatal(err)
		}
		var err error
		if d.executions, err = d.join(list); err != nil {
			b.Fatal(err)
		}
		if _, err := c.scan(d, watch); err != nil {
			b.Fatal(err)
		}
	}
}
