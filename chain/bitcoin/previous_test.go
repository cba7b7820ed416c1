package bitcoin_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/bitcoin"
	"github.com/bursar/bursar/chain/bitcoin/bitcoindtest"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

func unconnected(t testing.TB) *bitcoin.Chain {
	t.Helper()
	network, err := bitcoin.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	c, err := bitcoin.New(bitcoin.Config{ID: bursar.Bitcoin, Network: network,
		Node: rpc.Config{URLs: []string{"http://127.0.0.1:1"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// A published transaction (BIP 143, native P2WPKH, signed): its ID, and what it pays, of its bytes without witnesses.
const signedBIP143 = "01000000000102fff7f7881a8099afa6940d42d1e7f6362bec38171ea3edf433541db4e4ad969f00000000494830450221008b" +
	"9d1dc26ba6a9cb62127b02742fa9d754cd3bebf337f7a55d114c8e5cdd30be022040529b194ba3f9281a99f2b1c0a19c0489bc22ede944ccf4ecb" +
	"ab4cc618ef3ed01eeffffffef51e1b804cc89d182d279655c3aa89e815b1b309fe287d9b2b55d57b90ec68a0100000000ffffffff02202cb20600" +
	"0000001976a9148280b37df378db99f66f85c95a783a76ac7a6d5988ac9093510d000000001976a9143bde42dbee7e4dbe6a21b2d50ce2f0167f" +
	"aa815988ac000247304402203609e17b84f6a7d30c80bfa610b5b4542f32a8a0d5447a12fb1366d7f01cc44a0220573a954c4518331561406f903" +
	"00e8f3358f51928d43c212a8caed02de67eebee0121025476c2e83188368da1ff3e292e7acafcdb3566bb0ad253f62fc70f07aeee635711000000"

func TestAPreviousTransactionIsReadWithoutItsWitnesses(t *testing.T) {
	t.Parallel()
	c := unconnected(t)
	raw, err := hex.DecodeString(signedBIP143)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.ReadPrevious(raw); err == nil {
		t.Error("it is read with its witnesses, want an error")
	}
	body, err := c.PreviousOf(raw)
	if err != nil {
		t.Fatal(err)
	}
	txID, outputs, err := c.ReadPrevious(body, 0, 1, 2)
	var tx wire.MsgTx
	if err := tx.Deserialize(bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	if err != nil || txID != tx.TxHash().String() || len(outputs) != 2 || outputs[0].Amount != bursar.Units(112_340_000) {
		t.Errorf("read %s with %v (%v)", txID, outputs, err)
	}
	if again, err := c.PreviousOf(body); err != nil || !bytes.Equal(again, body) {
		t.Errorf("without witnesses it becomes %x (%v)", again, err)
	}
}

// FuzzPrevious holds the parser against btcd's: what is read has one spelling, and that has the ID.
func FuzzPrevious(f *testing.F) {
	c := unconnected(f)
	raw, err := hex.DecodeString(signedBIP143)
	if err != nil {
		f.Fatal(err)
	}
	body, err := c.PreviousOf(raw)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add(body)
	f.Add(append(bytes.Clone(body), 0))
	f.Add(append(append(bytes.Clone(body[:4]), 0xfd, 2, 0), body[5:]...))
	f.Add(make([]byte, 64))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var every []uint32
		for n := range uint32(len(raw) / 9) {
			every = append(every, n)
		}
		txID, outputs, err := c.ReadPrevious(raw, every...)
		if err != nil {
			return
		}
		var tx wire.MsgTx
		if err := tx.DeserializeNoWitness(bytes.NewReader(raw)); err != nil {
			t.Fatalf("btcd does not read it: %v", err)
		}
		var again bytes.Buffer
		if err := tx.SerializeNoWitness(&again); err != nil || !bytes.Equal(again.Bytes(), raw) {
			t.Fatalf("written again it is %x (%v)", again.Bytes(), err)
		}
		if txID != tx.TxHash().String() || txID != chainhash.DoubleHashH(raw).String() || len(outputs) != len(tx.TxOut) {
			t.Fatalf("read %s with %d outputs, want %s with %d", txID, len(outputs), tx.TxHash(), len(tx.TxOut))
		}
		for i, out := range tx.TxOut {
			if got := outputs[uint32(i)]; got.Amount != bursar.Units(uint64(out.Value)) ||
				!bytes.Equal(got.Script, out.PkScript) {
				t.Fatalf("output %d is %v, want %v and %x", i, got, bursar.Units(uint64(out.Value)), out.PkScript)
			}
		}
	})
}

// A real bitcoind without an index gives a transaction from its block or its mempool. Of a pruned block it has none.
func TestABitcoindGivesPreviousTransactions(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a real bitcoind")
	}
	t.Parallel()
	node, lowest := bitcoindtest.StartPruned(t)
	c := open(t, node)
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ours := node.Outsider(t)
	txID := node.Pay(t, chain.Payment{Address: bursar.Address{Base: ours}, Amount: bursar.Units(100_000)})[0]
	waiting, err := c.Previous(t.Context(), txID, 0)
	if err != nil {
		t.Fatalf("from the mempool: %v", err)
	}
	node.Mine(t, 1)
	blocks, err := c.After(t.Context(), head.Latest, 10, chaintest.NewWatch(ours))
	if err != nil || len(blocks) != 1 || len(blocks[0].Previous) != 1 || blocks[0].Previous[0].TxID != txID {
		t.Fatalf("the block is %+v (%v), want 1 of them and %v", blocks, err, txID)
	}
	included, err := c.Previous(t.Context(), txID, blocks[0].Ref.Height)
	if err != nil || !bytes.Equal(included, waiting) || !bytes.Equal(included, blocks[0].Previous[0].Raw) {
		t.Errorf("from its block it is %x (%v), want %x and %x", included, err, waiting, blocks[0].Previous[0].Raw)
	}
	if got, _, err := c.ReadPrevious(included); err != nil || got != txID {
		t.Errorf("read %s (%v), want %v", got, err, txID)
	}
	if _, err := c.Previous(t.Context(), txID, blocks[0].Ref.Height-1); !errors.Is(err, chain.ErrNoPrevious) {
		t.Errorf("from another block: %v, want %v", err, chain.ErrNoPrevious)
	}
	if _, err := c.Previous(t.Context(), txID, blocks[0].Ref.Height+5); !errors.Is(err, chain.ErrNoPrevious) {
		t.Errorf("from a block that is not there: %v", err)
	}
	if _, err := c.Previous(t.Context(), txID, lowest-1); !errors.Is(err, chain.ErrPruned) {
		t.Errorf("from a pruned block: %v, want %v", err, chain.ErrPruned)
	}
	if _, err := c.Previous(t.Context(), "x", 1); !errors.Is(err, chain.ErrNoPrevious) {
		t.Errorf("of a wrong name: %v, want %v", err, chain.ErrNoPrevious)
	}
}
