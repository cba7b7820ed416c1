package bitcoin

import (
	"bytes"
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

func TestEveryOutputOfOursIsATransfer(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	ours, other, outsider := source(t, c, 0).Base, source(t, c, 1).Base, source(t, c, 2).Base
	tx := pays(1,
		wire.NewTxOut(1000, script(t, c, ours)), wire.NewTxOut(2000, script(t, c, outsider)),
		wire.NewTxOut(3000, script(t, c, other)), wire.NewTxOut(1000, script(t, c, ours)),
		wire.NewTxOut(0, script(t, c, ours)))
	f.add(tx)
	blocks, err := c.After(t.Context(), f.ref(0), 10, chaintest.NewWatch(ours, other))
	if err != nil || len(blocks) != 1 {
		t.Fatalf("%d blocks (%v)", len(blocks), err)
	}
	if ref := f.ref(1); blocks[0].Ref != ref || blocks[0].Parent != f.ref(0).Hash ||
		blocks[0].Time.Unix() != 1_700_000_000 {
		t.Fatalf("block is %+v, want %+v", blocks[0], ref)
	}
	id := tx.TxID()
	want := []chain.Transfer{
		{TxID: id, Output: 0, Address: bursar.Address{Base: ours}, Amount: bursar.Units(1000), UTXO: id + ":0"},
		{TxID: id, Output: 2, Address: bursar.Address{Base: other}, Amount: bursar.Units(3000), UTXO: id + ":2"},
		{TxID: id, Output: 3, Address: bursar.Address{Base: ours}, Amount: bursar.Units(1000), UTXO: id + ":3"},
	}
	if got := blocks[0].Transfers; len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Fatalf("transfers are %+v, want %+v", got, want)
	}
}

func TestLookAlikesAreNotOurs(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	ours := source(t, c, 0)
	key, right := keys.Public(ours.Key), script(t, c, ours.Base)
	hash := [20]byte(right[2:])
	nested := hash160(right)
	multisig := bytes.Join([][]byte{{opOne, sizeKey}, key, {opOne, 0xae}}, nil)
	lookAlikes := [][]byte{
		append(append([]byte{sizeKey}, key...), opCheckSig), // P2PK
		multisig,
		pubKeyHashScript(hash),
		scriptHashScript(hash),
		scriptHashScript(nested),                // P2SH-P2WPKH of the same key
		append([]byte{opOne, 20}, hash[:]...),   // witness version 1 with 20 bytes
		append([]byte{0x60, 20}, hash[:]...),    // witness version 16
		append([]byte{0, 0x4c, 20}, hash[:]...), // the push in another encoding
		append(bytes.Clone(right), 0x61),        // and a no-op
		append([]byte{0x61}, right...),
		right[:21],
		append([]byte{0x6a, 22}, right...), // data
		{},
	}
	var outputs []*wire.TxOut
	for _, script := range lookAlikes {
		outputs = append(outputs, wire.NewTxOut(5000, script))
	}
	f.add(pays(1, outputs...))
	blocks, err := c.After(t.Context(), f.ref(0), 10, everything{})
	if err != nil || len(blocks) != 1 || len(blocks[0].Transfers) != 0 {
		t.Fatalf("blocks are %+v (%v)", blocks, err)
	}
}

// everything is a watch that considers every address ours and no transaction sent by us.
type everything struct{}

func (everything) Sync(context.Context) error { return nil }
func (everything) Pays(string) bool           { return true }
func (everything) Sent(string) bool           { return false }

func TestCoinbaseCountsFromHundredConfirmations(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	ours := source(t, c, 0).Base
	f.add()
	b := f.add()
	b.Transactions[0].TxOut[0].PkScript = script(t, c, ours)
	b.Header.MerkleRoot = rootOf(b.Transactions)
	blocks, err := c.After(t.Context(), f.ref(1), 1, chaintest.NewWatch(ours))
	if err != nil || len(blocks) != 1 || len(blocks[0].Transfers) != 1 {
		t.Fatalf("blocks are %+v (%v)", blocks, err)
	}
	// The coinbase in block 2 has 100 confirmations when the chain is at 101.
	if got := blocks[0].Transfers[0].CountsFrom; got != 101 {
		t.Fatalf("it counts from %d, want 101", got)
	}
}

// spends returns a transaction that shows keys of ours in its inputs.
func spends(t *testing.T, c *Chain, from wire.OutPoint, by ...chain.Source) *wire.MsgTx {
	t.Helper()
	tx := pays(9, wire.NewTxOut(700, []byte{opOne}))
	tx.TxIn = nil
	for i, s := range by {
		tx.AddTxIn(&wire.TxIn{
			PreviousOutPoint: wire.OutPoint{Hash: from.Hash, Index: from.Index + uint32(i)},
			Witness:          wire.TxWitness{make([]byte, 71), keys.Public(s.Key)},
		})
	}
	return tx
}

func TestOwnAndExternalSpends(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	ours, other := source(t, c, 0), source(t, c, 1)
	made := pays(1, wire.NewTxOut(1000, script(t, c, ours.Base)), wire.NewTxOut(2000, script(t, c, ours.Base)),
		wire.NewTxOut(40, script(t, c, other.Base)))
	spend := spends(t, c, wire.OutPoint{Hash: made.TxHash()}, ours, ours, other)
	f.add(made)
	f.add(spend)
	watch := chaintest.NewWatch(ours.Base)
	after := func() chain.Block {
		t.Helper()
		blocks, err := c.After(t.Context(), f.ref(1), 10, watch)
		if err != nil || len(blocks) != 1 {
			t.Fatalf("%d blocks (%v)", len(blocks), err)
		}
		return blocks[0]
	}
	external := after()
	if len(external.Included) != 0 || len(external.ExternalSpends) != 1 ||
		external.ExternalSpends[0].TxID != spend.TxID() ||
		external.ExternalSpends[0].Base != ours.Base {
		t.Fatalf("block is %+v", external)
	}
	watch.AddSent(spend.TxID())
	want := chain.Inclusion{TxID: spend.TxID(), Fee: bursar.Units(3040 - 700)}
	if own := after(); len(own.ExternalSpends) != 0 || len(own.Included) != 1 ||
		!reflect.DeepEqual(own.Included[0], want) {
		t.Fatalf("by the index, block is %+v, want %+v", own, want)
	}
	f.say("getrawtransaction", map[string]any{"vin": []any{
		undo(made.TxID(), 0, "0.00001000"), undo(made.TxID(), 1, "0.00002000"), undo(made.TxID(), 2, "0.00000041"),
	}})
	want.Fee = bursar.Units(3041 - 700)
	if own := after(); len(own.Included) != 1 || !reflect.DeepEqual(own.Included[0], want) {
		t.Fatalf("by undo data, block is %+v, want %+v", own, want)
	}
}

func undo(id string, output int, value string) map[string]any {
	return map[string]any{"txid": id, "vout": output, "prevout": map[string]any{
		"height": 1, "value": raw(value), "scriptPubKey": map[string]any{"hex": "51"},
	}}
}

func TestFeeNeedsTheUTXOs(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	ours := source(t, c, 0)
	spend := spends(t, c, wire.OutPoint{Hash: pays(1).TxHash()}, ours)
	f.add(spend)
	watch := chaintest.NewWatch(ours.Base)
	watch.AddSent(spend.TxID())
	f.say("getrawtransaction", &rpc.Error{Code: codeNoSuch,
		Message: "No such mempool transaction. Use -txindex or provide a block hash"})
	_, err := c.After(t.Context(), f.ref(0), 10, watch)
	if err == nil || !strings.Contains(err.Error(), "txindex=1") {
		t.Fatalf("without index and undo data: %v", err)
	}
}
