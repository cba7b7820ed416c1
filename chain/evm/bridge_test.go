package evm

import (
	"reflect"
	"testing"

	"github.com/bursar/bursar/chain"
)

// TestStateSync reads a Polygon block whose bridge pays tokens to us, in all the forms that nodes give it.
func TestStateSync(t *testing.T) {
	t.Parallel()
	const zero = "0x0000000000000000000000000000000000000000"
	bridge := fakeTx{kind: "0x7f", from: zero, to: zero, logs: []object{transferLog(fakeOurs, 9)}}
	pay := fakeTx{to: fakeOurs, value: "0x7"}
	paid := transfer(fakeHash("tx", 1, 0), 0, fakeOurs, 7)
	bridged := transfer(fakeHash("tx", 1, 1), 0, fakeOurs, 9)
	bridged.Contract = base(fakeToken)
	drop := func(list *[]any) { *list = (*list)[:len(*list)-1] }
	cases := map[string]struct {
		spoil func(f *fake, b *fakeBlock)
		want  []chain.Transfer
	}{
		"everywhere":       {func(*fake, *fakeBlock) {}, []chain.Transfer{paid, bridged}},
		"not traced":       {func(_ *fake, b *fakeBlock) { drop(&b.traces) }, []chain.Transfer{paid, bridged}},
		"in receipts only": {func(_ *fake, b *fakeBlock) { b.block["transactions"] = b.block["transactions"].([]any)[:1] }, []chain.Transfer{paid, bridged}},
		"its receipt by itself": {func(f *fake, b *fakeBlock) {
			keep := b.receipts[1]
			drop(&b.receipts)
			f.script["eth_getTransactionReceipt"] = constant(keep)
		}, []chain.Transfer{paid, bridged}},
		"its receipt nowhere": {func(f *fake, b *fakeBlock) { drop(&b.receipts) }, []chain.Transfer{paid}},
		"its receipt an error": {func(f *fake, b *fakeBlock) {
			drop(&b.receipts)
			f.script["eth_getTransactionReceipt"] = refusal(-32000, "no")
		}, []chain.Transfer{paid}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			b := f.add(pay, bridge)
			b.block["logsBloom"] = nil
			test.spoil(f, b)
			blocks := f.after(t, f.open(t, func(cfg *Config) { cfg.StateSync = true }))
			if !reflect.DeepEqual(blocks[0].Transfers, test.want) {
				t.Fatalf("got %+v, want %+v", blocks[0].Transfers, test.want)
			}
		})
	}
}

// TestOnlyStateSync reads a block that holds nothing but the bridge's transaction, which is in no root of the header.
func TestOnlyStateSync(t *testing.T) {
	t.Parallel()
	const zero = "0x0000000000000000000000000000000000000000"
	f := newFake(t)
	b := f.add(fakeTx{kind: "0x0", from: zero, to: zero, logs: []object{transferLog(fakeOurs, 9)}})
	b.block["transactionsRoot"], b.block["logsBloom"] = emptyRoot.String(), nil
	blocks := f.after(t, f.open(t, func(cfg *Config) { cfg.StateSync = true }))
	if len(blocks[0].Transfers) != 1 {
		t.Fatalf("got %+v", blocks[0])
	}
}
