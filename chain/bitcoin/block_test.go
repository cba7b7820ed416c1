package bitcoin

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// randomBlock returns a valid block of n transactions with all kinds of inputs and outputs.
func randomBlock(seed uint64, n int) *wire.MsgBlock {
	random := rand.New(rand.NewPCG(seed, 7))
	some := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return b
	}
	f := newFake()
	var txs []*wire.MsgTx
	for range n {
		tx := wire.NewMsgTx(2)
		for range 1 + random.IntN(3) {
			in := &wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: chainhash.Hash(some(32)), Index: random.Uint32N(5)},
				Sequence: txSequence}
			switch random.IntN(4) {
			case 0:
				in.SignatureScript = some(107)
			case 1:
				in.Witness = wire.TxWitness{some(64)}
			default:
				in.Witness = wire.TxWitness{some(71), append([]byte{2}, some(32)...)}
			}
			tx.AddTxIn(in)
		}
		for range 1 + random.IntN(3) {
			form := [][]byte{
				keyHashScript([20]byte(some(20))), keyHashScript([20]byte(some(20))), pubKeyHashScript([20]byte(some(20))),
				scriptHashScript([20]byte(some(20))), programScript(opOne, some(32)), append([]byte{0x6a}, some(300)...),
			}[random.IntN(6)]
			tx.AddTxOut(wire.NewTxOut(int64(random.Uint64N(1e12)), form))
		}
		txs = append(txs, tx)
	}
	return f.add(txs...)
}

// wholeBlock is a block of which every transaction was read whole.
type wholeBlock struct {
	*block
	txs []transaction
}

func readBlock(raw []byte) (wholeBlock, error) { return Network{}.readWhole(raw) }

func (n Network) readWhole(raw []byte) (wholeBlock, error) {
	b := wholeBlock{block: &block{}}
	if err := b.read(raw, n.mweb); err != nil {
		return b, err
	}
	for i := range b.places {
		tx, err := b.transaction(i)
		if err != nil {
			return b, err
		}
		b.txs = append(b.txs, tx)
	}
	return b, nil
}

// wantConsistent compares what a block keeps of its transactions with the transactions.
func wantConsistent(t *testing.T, b wholeBlock) {
	t.Helper()
	var keptPaid, paid, keys []signer // of outputs too: a transaction, and a key hash
	for _, kept := range b.paid {
		keptPaid = append(keptPaid, signer{kept.tx, [sizeKeyHash]byte(b.raw[kept.at:])})
	}
	for i, tx := range b.txs {
		if at := b.places[i]; b.ids[i] != tx.id || at.coinbase != tx.coinbase() || at.hogEx != tx.hogEx {
			t.Fatalf("transaction %d is %s at %+v, want %+v", i, b.ids[i], at, tx)
		}
		for _, in := range tx.inputs {
			if len(in.key) == sizeKey {
				keys = append(keys, signer{i, hash160(in.key)})
			}
		}
		for _, out := range tx.outputs {
			if isKeyHash(out.script) {
				paid = append(paid, signer{i, [sizeKeyHash]byte(out.script[2:])})
			}
		}
	}
	if !slices.Equal(keptPaid, paid) || !slices.Equal(b.keys, keys) {
		t.Fatalf("the block keeps %v and %v, want %v and %v", keptPaid, b.keys, paid, keys)
	}
}

// wantSame compares what the adapter read with what btcd reads from the same bytes.
func wantSame(t *testing.T, got wholeBlock, want *wire.MsgBlock) {
	t.Helper()
	wantConsistent(t, got)
	if got.hash != want.BlockHash() || got.parent != want.Header.PrevBlock || got.root != want.Header.MerkleRoot ||
		got.time.Unix() != want.Header.Timestamp.Unix() || len(got.txs) != len(want.Transactions) {
		t.Fatalf("header is %+v, want %+v", got, want.Header)
	}
	for i, tx := range want.Transactions {
		if got.txs[i].id != tx.TxHash() || len(got.txs[i].inputs) != len(tx.TxIn) ||
			len(got.txs[i].outputs) != len(tx.TxOut) {
			t.Fatalf("transaction %d is %s, want %s", i, got.txs[i].id, tx.TxHash())
		}
		for j, in := range tx.TxIn {
			var key []byte
			if len(in.SignatureScript) == 0 && len(in.Witness) == 2 && len(in.Witness[1]) == sizeKey {
				key = in.Witness[1]
			}
			mine := got.txs[i].inputs[j]
			if mine.from.tx != in.PreviousOutPoint.Hash || mine.from.index != in.PreviousOutPoint.Index ||
				!bytes.Equal(mine.key, key) {
				t.Fatalf("input %d of %d is %+v, want %+v", j, i, mine, in)
			}
		}
		for j, out := range tx.TxOut {
			if mine := got.txs[i].outputs[j]; mine.value != uint64(out.Value) || !bytes.Equal(mine.script, out.PkScript) {
				t.Fatalf("output %d of %d is %+v, want %+v", j, i, mine, out)
			}
		}
	}
}

func TestReadBlockAgainstBtcd(t *testing.T) {
	t.Parallel()
	blocks := []*wire.MsgBlock{chaincfg.MainNetParams.GenesisBlock, chaincfg.TestNet4Params.GenesisBlock}
	for n := range 12 {
		blocks = append(blocks, randomBlock(uint64(n), n*n))
	}
	blocks = append(blocks, newFake().add(likeOurs(rand.New(rand.NewPCG(1, 9)))...))
	for _, want := range blocks {
		got, err := readBlock(serialise(want))
		if err != nil {
			t.Fatal(err)
		}
		wantSame(t, got, want)
		if err := got.verify(want.BlockHash().String()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReadBlockRefusesIncompleteBlocks(t *testing.T) {
	t.Parallel()
	whole := serialise(randomBlock(1, 5))
	for n := range whole {
		if _, err := readBlock(whole[:n]); err == nil {
			t.Fatalf("%d of %d bytes are read as a block, want an error", n, len(whole))
		}
	}
	if _, err := readBlock(append(slices.Clone(whole), 0)); err == nil {
		t.Fatal("a byte too many is accepted, want an error")
	}
	// The number of transactions takes three bytes although one is enough.
	long := slices.Concat(whole[:80], []byte{0xfd, whole[80], 0}, whole[81:])
	if _, err := readBlock(long); err == nil {
		t.Fatal("a count that is not in its shortest form was accepted")
	}
	huge := slices.Concat(whole[:80], []byte{0xff}, binary.LittleEndian.AppendUint64(nil, 1<<62), whole[81:])
	if _, err := readBlock(huge); err == nil {
		t.Fatal("2^62 transactions are accepted, want an error")
	}
}

func TestVerifyRefusesForgedBlocks(t *testing.T) {
	t.Parallel()
	honest := randomBlock(3, 6)
	hash := honest.BlockHash().String()
	forge := func(change func(b *wire.MsgBlock)) wholeBlock {
		forged := honest.Copy()
		change(forged)
		b, err := readBlock(serialise(forged))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if err := forge(func(*wire.MsgBlock) {}).verify(hash); err != nil {
		t.Fatalf("the honest block is refused: %v", err)
	}
	for why, change := range map[string]func(b *wire.MsgBlock){
		"another header":     func(b *wire.MsgBlock) { b.Header.Nonce++ },
		"a changed value":    func(b *wire.MsgBlock) { b.Transactions[2].TxOut[0].Value++ },
		"a transaction less": func(b *wire.MsgBlock) { b.Transactions = b.Transactions[:6] },
		"others in another order": func(b *wire.MsgBlock) {
			b.Transactions[1], b.Transactions[2] = b.Transactions[2], b.Transactions[1]
		},
		"no transactions": func(b *wire.MsgBlock) { b.Transactions = nil },
		"the last transaction twice": func(b *wire.MsgBlock) {
			b.Transactions = append(b.Transactions,
				b.Transactions[6])
		},
	} {
		if err := forge(change).verify(hash); err == nil {
			t.Errorf("%s: accepted, want an error", why)
		}
	}
}

func TestMerkleRootOfAMainnetBlock(t *testing.T) {
	t.Parallel()
	// Block 170, the first with a payment: its header and its two transaction ids are well known.
	root, err := chainhash.NewHashFromStr("7dac2c5666815c17a3b36427de37bb9d2e2c5ccec3f8633eb91a4205cb4c10ff")
	if err != nil {
		t.Fatal(err)
	}
	var ids []chainhash.Hash
	for _, id := range []string{
		"b1fea52486ce0c62bb442b530a3f0132b826c74e473d1f2c220bfa78111c5082",
		"f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16",
	} {
		hash, err := chainhash.NewHashFromStr(id)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, *hash)
	}
	if got, ambiguous := merkleRoot(ids); got != *root || ambiguous {
		t.Fatalf("root is %s, want %s", got, root)
	}
}

func TestReadTransactionOfBIP143(t *testing.T) {
	t.Parallel()
	for _, v := range readVectors(t).Transactions {
		raw, err := hex.DecodeString(v.Signed)
		if err != nil {
			t.Fatal(err)
		}
		var want wire.MsgTx
		if err := want.Deserialize(bytes.NewReader(raw)); err != nil {
			t.Fatal(err)
		}
		got, err := readTransaction(raw)
		if err != nil || got.id != want.TxHash() || len(got.inputs[1].key) != sizeKey || got.inputs[0].key == nil {
			t.Fatalf("transaction is %+v (%v) [%s]", got, err, v.Source)
		}
	}
}

// FuzzReadBlock compares with btcd, which must accept everything that the adapter accepts, and read the same from it.
func FuzzReadBlock(f *testing.F) {
	for n := range 4 {
		f.Add(serialise(randomBlock(uint64(n), n)))
	}
	f.Add(serialise(chaincfg.MainNetParams.GenesisBlock))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := readBlock(raw)
		if err != nil {
			return
		}
		var want wire.MsgBlock
		if err := want.Deserialize(bytes.NewReader(raw)); err != nil {
			t.Fatalf("btcd refuses: %v", err)
		}
		wantSame(t, got, &want)
		root, _ := got.merkleRoot()
		if len(want.Transactions) > 0 && root != rootOf(want.Transactions) {
			t.Fatalf("root is %s, want %s", root, rootOf(want.Transactions))
		}
	})
}
