package bitcoin

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

// oneByOne is a watch that can be asked one question at a time, so that every transaction is read whole.
type oneByOne struct{ chain.Watch }

// likeOurs are transactions whose input shows a key in a form that is, or is not, that of a spend from a P2WPKH
// address.
func likeOurs(random *rand.Rand) (txs []*wire.MsgTx) {
	some := func(first byte, n int) []byte {
		b := []byte{first}
		for len(b) < n {
			b = append(b, byte(random.Uint32()))
		}
		return b
	}
	signature := some(0x30, 71)
	forms := []*wire.TxIn{
		{Witness: wire.TxWitness{signature, some(2, sizeKey)}},
		{Witness: wire.TxWitness{signature, some(3, sizeKey)}},
		{Witness: wire.TxWitness{signature, some(4, 65)}},                                        // not compressed
		{Witness: wire.TxWitness{signature, some(2, sizeKey), some(0, 9)}},                       // a script behind it
		{Witness: wire.TxWitness{signature, some(0, 1), some(2, sizeKey)}},                       // a third item
		{Witness: wire.TxWitness{some(2, sizeKey)}},                                              // alone
		{Witness: wire.TxWitness{signature, some(2, sizeKey)}, SignatureScript: some(22, 23)},    // P2SH around it
		{SignatureScript: append(append([]byte{71}, signature...), some(sizeKey, sizeKey+1)...)}, // P2PKH
	}
	for i, in := range forms {
		in.PreviousOutPoint = wire.OutPoint{Hash: [32]byte(some(1, 32)), Index: random.Uint32N(3)}
		tx := pays(byte(i), wire.NewTxOut(900, []byte{opOne}))
		tx.TxIn = []*wire.TxIn{in}
		txs = append(txs, tx)
	}
	return txs
}

// undoOfAnything makes a node report that every input spent an output of its own key.
func undoOfAnything(f *fakeNode) {
	f.sayBy("getrawtransaction", func(params []any) any {
		for _, b := range f.blocks {
			for _, tx := range b.Transactions {
				if tx.TxID() != params[0] {
					continue
				}
				var inputs []any
				for _, in := range tx.TxIn {
					from := in.PreviousOutPoint
					var key []byte
					if n := len(in.Witness); n > 0 {
						key = in.Witness[n-1]
					}
					inputs = append(inputs, undoOf(from.Hash.String(), int(from.Index), "30000", keyHashScript(hash160(key))))
				}
				return map[string]any{"vin": inputs}
			}
		}
		return nil
	})
}

// What is read of a block when only the transactions that may concern us are read whole is what is read when all are.
func TestReadingWhatConcernsUsMissesNothing(t *testing.T) {
	t.Parallel()
	var transfers, included, external int
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 21))
		f := newFake()
		c := open(t, f, func(cfg *Config) {
			if seed%2 == 1 {
				cfg.Network = litecoin(t, "regtest")
				cfg.Network.Genesis = ""
			}
		})
		bases := newBaseEncoder(c.network.HRP)
		watch := chaintest.NewWatch()
		for n := range 4 {
			txs := randomBlock(seed*10+uint64(n), random.IntN(150)).Transactions[1:]
			txs = append(txs, likeOurs(random)...)
			for _, tx := range txs {
				for _, in := range tx.TxIn {
					if n := len(in.Witness); n > 0 && random.IntN(8) == 0 {
						watch.Add(bases.encode(hash160(in.Witness[n-1])))
					}
				}
				for _, out := range tx.TxOut {
					if base, err := c.network.base(out.PkScript); err == nil && random.IntN(8) == 0 {
						watch.Add(base)
					}
				}
				if random.IntN(20) == 0 {
					watch.AddSent(tx.TxID())
				}
			}
			f.add(txs...)
		}
		undoOfAnything(f)
		read := func(watch chain.Watch) []chain.Block {
			blocks, err := c.After(t.Context(), f.ref(0), 10, watch)
			if err != nil || len(blocks) != 4 {
				t.Fatalf("seed %d: %d blocks (%v), want 4 of them", seed, len(blocks), err)
			}
			return blocks
		}
		got, want, again := read(watch), read(oneByOne{watch}), read(watch) // each in the memory that the one before has left
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(again, want) {
			t.Fatalf("seed %d: read %+v\nand %+v\nwant %+v", seed, got, again, want)
		}
		for _, b := range want {
			transfers, included, external = transfers+len(b.Transfers), included+len(b.Included),
				external+len(b.ExternalSpends)
		}
	}
	if transfers < 100 || included < 20 || external < 100 {
		t.Errorf("%d transfers, %d transactions of ours and %d external spends prove little, "+
			"want at least 100 and at least 20", transfers, included, external)
	}
}

// Blocks of a real node, with every address in them watched, one after the other and all at once.
func TestReadingWhatConcernsUsInRecordedBlocks(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.say("getrawtransaction", &rpc.Error{Code: codeNoSuch, Message: "No such mempool transaction. Use -txindex"})
	c := open(t, f, func(cfg *Config) { cfg.Network = litecoin(t, "regtest"); cfg.Network.Genesis = "" })
	s, err := c.nodes.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	bases := newBaseEncoder(c.network.HRP)
	found := 0
	for i, raw := range litecoinBlocks(t) {
		b, err := readLitecoinBlock(raw)
		if err != nil {
			t.Fatal(err)
		}
		everything := chaintest.NewWatch()
		watches := []*chaintest.Watch{everything}
		watched := func(base string) {
			everything.Add(base)
			watches = append(watches, chaintest.NewWatch(base))
		}
		for _, tx := range b.txs {
			for _, in := range tx.inputs {
				if len(in.key) == sizeKey {
					watched(bases.encode(hash160(in.key)))
				}
			}
			for _, out := range tx.outputs {
				if base, err := c.network.base(out.script); err == nil {
					watched(base)
				}
			}
		}
		at := chain.BlockRef{Height: uint64(431 + i), Hash: b.hash.String()}
		for n, watch := range watches {
			got, err := c.scan(t.Context(), s, at, b.block, watch)
			want, slow := c.scan(t.Context(), s, at, b.block, oneByOne{watch})
			if err != nil || slow != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("block %d, watch %d: %+v (%v), want %+v (%v)", at.Height, n, got, err, want, slow)
			}
			found += len(got.Transfers) + len(got.ExternalSpends)
		}
	}
	if found < 10 {
		t.Errorf("%d effects prove little, want at least 10", found)
	}
}

// Who spends an output that the watch asks about need not concern us otherwise.
func TestWhoSpendsAnOutputThatIsAskedAbout(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	spender := randomBlock(6, 100).Transactions[50]
	f.add(randomBlock(6, 100).Transactions[1:]...)
	asked := spender.TxIn[0].PreviousOutPoint.String()
	watch := chaintest.NewWatch(source(t, c, 0).Base)
	watch.Ask(asked)
	want := []chain.Spent{{Outpoint: asked, TxID: spender.TxID()}}
	if b := afterBlock(t, f, c, 0, watch); !slices.Equal(b.Spent, want) {
		t.Errorf("spent is %+v, want %+v", b.Spent, want)
	}
}

// Only what concerns us costs a request.
func TestABlockThatDoesNotConcernUsCostsNoRequest(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	f.add(randomBlock(4, 200).Transactions[1:]...)
	f.sayBy("getrawtransaction", func(params []any) any { panic(fmt.Sprint("asked for ", params)) })
	if b := afterBlock(t, f, c, 0, chaintest.NewWatch(source(t, c, 0).Base)); len(b.Transfers)+len(b.ExternalSpends) > 0 {
		t.Errorf("it is %+v, want none", b)
	}
}
