package bitcoin

import (
	"bytes"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

// mention returns a transaction of an outsider that shows one of our keys as the last of two witness items, as our
// outgoing transactions do.
func mention(from wire.OutPoint, key []byte) *wire.MsgTx {
	tx := pays(7, wire.NewTxOut(600, []byte{opOne}))
	tx.TxIn = []*wire.TxIn{{PreviousOutPoint: from, Witness: wire.TxWitness{{1}, key}}}
	return tx
}

// afterBlock returns the block that follows a height.
func afterBlock(t *testing.T, f *fakeNode, c *Chain, height int, watch chain.Watch) chain.Block {
	t.Helper()
	blocks, err := c.After(t.Context(), f.ref(height), 1, watch)
	if err != nil || len(blocks) != 1 {
		t.Fatalf("%d blocks (%v), want 1 of them", len(blocks), err)
	}
	return blocks[0]
}

// By consensus a witness of any content can spend an output of a witness version that has no rules yet (BIP 141) and a
// taproot leaf of an unknown version (BIP 342): our public key in one proves nothing.
func TestAWitnessThatMentionsOurKeyIsNotASpendOfOurs(t *testing.T) {
	t.Parallel()
	key := bytes.Repeat([]byte{7}, 32)
	for name, strange := range map[string][]byte{
		"an unknown witness version": append([]byte{0x52, 32}, key...),
		"a version of 20 bytes":      append([]byte{0x60, 20}, key[:20]...),
		"an unknown taproot leaf":    programScript(opOne, key),
		"a witness script":           programScript(opZero, key),
		"another key's hash":         keyHashScript([20]byte{9}),
	} {
		for _, by := range []string{"by the index", "by undo data"} {
			t.Run(name+" "+by, func(t *testing.T) {
				f := newFake()
				c := open(t, f)
				hot := source(t, c, 0)
				made := pays(1, wire.NewTxOut(1000, strange))
				spend := mention(wire.OutPoint{Hash: made.TxHash()}, keys.Public(hot.Key))
				f.add(made)
				f.add(spend)
				if by == "by undo data" {
					f.say("getrawtransaction", map[string]any{"vin": []any{undoOf(made.TxID(), 0, "0.00001000", strange)}})
				}
				if b := afterBlock(t, f, c, 1, chaintest.NewWatch(hot.Base)); len(b.ExternalSpends) != 0 {
					t.Errorf("it counts as a spend from our address: %+v, want none", b.ExternalSpends)
				}
			})
		}
	}
}

func undoOf(id string, output int, value string, script []byte) map[string]any {
	return map[string]any{"txid": id, "vout": output, "prevout": map[string]any{
		"height": 1, "value": raw(value), "scriptPubKey": map[string]any{"hex": hex.EncodeToString(script)},
	}}
}

// An external spend contains everything that is needed to adopt it: what it spent, whom it paid, and its fee.
func TestAnExternalSpendShowsItsContents(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	hot, wallet := source(t, c, 0), source(t, c, 1)
	made := pays(1, wire.NewTxOut(1000, script(t, c, hot.Base)), wire.NewTxOut(5000, script(t, c, wallet.Base)))
	outsider := pays(2, wire.NewTxOut(300, []byte{opOne}))
	spend := spends(t, c, wire.OutPoint{Hash: made.TxHash()}, hot, wallet)
	spend.TxIn = append(spend.TxIn, &wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: outsider.TxHash()}})
	outside := source(t, c, 9).Base
	spend.TxOut = []*wire.TxOut{
		wire.NewTxOut(4000, script(t, c, outside)), wire.NewTxOut(2000, script(t, c, hot.Base)),
		wire.NewTxOut(0, []byte{0x6a}),
	}
	f.add(made, outsider)
	f.add(spend)
	b := afterBlock(t, f, c, 1, chaintest.NewWatch(hot.Base, wallet.Base))
	if len(b.ExternalSpends) != 1 {
		t.Fatalf("external spends are %+v, want 1 of them", b.ExternalSpends)
	}
	got := b.ExternalSpends[0]
	if got.TxID != spend.TxID() || got.Base != hot.Base || got.Fee != bursar.Units(300) || got.Inferred || got.Failed {
		t.Errorf("it is %+v", got)
	}
	if want := []string{made.TxID() + ":0", made.TxID() + ":1",
		outsider.TxID() + ":0"}; !slices.Equal(got.Reservations, want) {
		t.Errorf("it used %q, want %q", got.Reservations, want)
	}
	if want := []chain.Payment{
		{Address: bursar.Address{Base: outside}, Amount: bursar.Units(4000)},
		{Address: bursar.Address{Base: hot.Base}, Amount: bursar.Units(2000)},
	}; !slices.Equal(got.Payments, want) {
		t.Errorf("it paid %+v, want %+v", got.Payments, want)
	}
}

// A node that cannot return the outputs does not stop the chain: an input that has the form of one of ours is left to
// the core, which knows our UTXOs.
func TestAnExternalSpendThatNoNodeCanProve(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	hot := source(t, c, 0)
	spend := mention(wire.OutPoint{Hash: pays(1).TxHash()}, keys.Public(hot.Key))
	f.add(spend)
	f.say("getrawtransaction", &rpc.Error{Code: codeNoSuch,
		Message: "No such mempool transaction. Use -txindex or provide a block hash"})
	b := afterBlock(t, f, c, 0, chaintest.NewWatch(hot.Base))
	if len(b.ExternalSpends) != 1 || !b.ExternalSpends[0].Inferred || len(b.ExternalSpends[0].Reservations) != 1 ||
		!b.ExternalSpends[0].Fee.IsZero() {
		t.Errorf("it is %+v", b.ExternalSpends)
	}
}

// A transfer comes with the UTXOs that funded it, and a block with the spenders of outputs that the core asks about.
func TestATransferShowsItsFundingAndABlockTheSpentOutputs(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	ours := source(t, c, 0)
	from := pays(1, wire.NewTxOut(9000, []byte{opOne}))
	funding := pays(2, wire.NewTxOut(4000, script(t, c, ours.Base)))
	funding.TxIn[0].PreviousOutPoint = wire.OutPoint{Hash: from.TxHash()}
	f.add(from)
	f.add(funding)
	asked := from.TxID() + ":0"
	watch := chaintest.NewWatch(ours.Base)
	if b := afterBlock(t, f, c, 1, watch); len(b.Spent) != 0 {
		t.Errorf("a watch that does not ask got %+v", b.Spent)
	}
	watch.Ask(asked)
	b := afterBlock(t, f, c, 1, watch)
	if len(b.Funding) != 1 || b.Funding[0].TxID != funding.TxID() || !slices.Equal(b.Funding[0].Inputs, []string{asked}) {
		t.Errorf("funding is %+v", b.Funding)
	}
	if want := []chain.Spent{{Outpoint: asked, TxID: funding.TxID()}}; !slices.Equal(b.Spent, want) {
		t.Errorf("spent is %+v, want %+v", b.Spent, want)
	}
}
