package bitcoin

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"
	ltc "github.com/ltcsuite/ltcd/wire"

	"github.com/bursar/bursar/chain/chaintest"
)

func litecoin(t testing.TB, name string) Network {
	t.Helper()
	n, err := Litecoin(name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// litecoinBlocks are blocks of a real node, 431 to 435.
func litecoinBlocks(t testing.TB) [][]byte {
	t.Helper()
	file, err := os.Open("testdata/litecoin-blocks.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var blocks [][]byte
	lines := bufio.NewScanner(file)
	for lines.Buffer(nil, 1<<20); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		raw, err := hex.DecodeString(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, raw)
	}
	if lines.Err() != nil || len(blocks) != 5 {
		t.Fatalf("%d blocks (%v), want nil and 5 of them", len(blocks), lines.Err())
	}
	return blocks
}

func readLitecoinBlock(raw []byte) (wholeBlock, error) { return Network{mweb: true}.readWhole(raw) }

func TestReadLitecoinBlockAgainstLtcd(t *testing.T) {
	t.Parallel()
	hogExes := 0
	for i, raw := range litecoinBlocks(t) {
		got, err := readLitecoinBlock(raw)
		if err != nil {
			t.Fatal(err)
		}
		var want ltc.MsgBlock
		rest := bytes.NewReader(raw)
		if err := want.Deserialize(rest); err != nil || rest.Len() != 0 {
			t.Fatalf("ltcd reads all but %d bytes (%v), want 0", rest.Len(), err)
		}
		if hash := want.BlockHash(); got.hash.String() != hash.String() {
			t.Fatalf("block is %s, want %s", got.hash, hash)
		}
		if err := got.verify(got.hash.String()); err != nil {
			t.Fatal(err)
		}
		wantSameTransactions(t, got, want.Transactions)
		if extended := got.txs[len(got.txs)-1].hogEx; extended != (i > 0) {
			t.Fatalf("block %d ends with a HogEx: %v", 431+i, extended)
		} else if extended {
			hogExes++
		}
		if _, err := readBlock(raw); (err != nil) != (i > 0) {
			t.Fatalf("Bitcoin's parser says of block %d: %v", 431+i, err)
		}
	}
	if hogExes != 4 {
		t.Fatalf("%d blocks have extensions, want 4", hogExes)
	}
}

func wantSameTransactions(t *testing.T, got wholeBlock, want []*ltc.MsgTx) {
	t.Helper()
	wantConsistent(t, got)
	if len(got.txs) != len(want) {
		t.Fatalf("%d transactions, want %d", len(got.txs), len(want))
	}
	for i, tx := range want {
		mine := got.txs[i]
		if hash := tx.TxHash(); mine.id.String() != hash.String() || mine.hogEx != tx.IsHogEx ||
			len(mine.inputs) != len(tx.TxIn) || len(mine.outputs) != len(tx.TxOut) {
			t.Fatalf("transaction %d is %+v, want %s (%v)", i, mine, hash, tx.IsHogEx)
		}
		for j, in := range tx.TxIn {
			if from := in.PreviousOutPoint; mine.inputs[j].from.String() != from.String() {
				t.Fatalf("input %d of %d spends %s, want %s", j, i, mine.inputs[j].from, from)
			}
		}
		for j, out := range tx.TxOut {
			if o := mine.outputs[j]; o.value != uint64(out.Value) || !bytes.Equal(o.script, out.PkScript) {
				t.Fatalf("output %d of %d is %+v, want %+v", j, i, o, out)
			}
		}
	}
}

// TestPegOutsAreTransfers watches every address that the blocks pay, and any address that the extension's balance would
// be paid to.
func TestPegOutsAreTransfers(t *testing.T) {
	t.Parallel()
	c := open(t, newFake(), func(cfg *Config) { cfg.Network = litecoin(t, "regtest") })
	bases := newBaseEncoder(c.network.HRP)
	found := 0
	for i, raw := range litecoinBlocks(t) {
		b, err := readLitecoinBlock(raw)
		if err != nil {
			t.Fatal(err)
		}
		watch := chaintest.NewWatch()
		for _, tx := range b.txs {
			for _, out := range tx.outputs {
				if base, err := c.network.base(out.script); err == nil {
					watch.Add(base)
				}
			}
		}
		last := &b.txs[len(b.txs)-1]
		if !last.hogEx {
			continue
		}
		forms := (&Chain{}).forms(bases, watch)
		transfers := appendTransfers(nil, last, uint64(431+i), forms, watch)
		for _, transfer := range transfers {
			found++
			if transfer.Output == 0 || transfer.CountsFrom != uint64(431+i+5) {
				t.Errorf("block %d: %+v, want not 0 and %v", 431+i, transfer, uint64(431+i+5))
			}
		}
		forged := *last
		forged.outputs = slices.Clone(last.outputs)
		forged.outputs[0].script = keyHashScript([20]byte{1})
		watch.Add(bases.encode([20]byte{1}))
		if again := appendTransfers(nil, &forged, 1, forms, watch); len(again) != len(transfers) {
			t.Errorf("the balance of the extension is credited: %+v, want %v of them", again, len(transfers))
		}
	}
	if found != 2 { // the third pays a P2SH address
		t.Errorf("%d peg-outs pay P2WPKH addresses, want 2", found)
	}
}

func TestReadLitecoinBlockRefusesIncompleteBlocks(t *testing.T) {
	t.Parallel()
	blocks := litecoinBlocks(t)
	whole := blocks[3]
	b, err := readLitecoinBlock(whole)
	if err != nil {
		t.Fatal(err)
	}
	if b.txs[1].hogEx || !b.txs[len(b.txs)-1].hogEx {
		t.Fatal("a transaction other than the last is the HogEx")
	}
	for n := range bytes.LastIndex(whole, []byte{opEight, opPush32}) { // to within the HogEx
		if _, err := readLitecoinBlock(whole[:n]); err == nil {
			t.Fatalf("%d of %d bytes are read as a block, want an error", n, len(whole))
		}
	}
	plain := blocks[0]
	for n := range plain {
		if _, err := readLitecoinBlock(plain[:n]); err == nil {
			t.Fatalf("%d of %d bytes are read as a block, want an error", n, len(plain))
		}
	}
	if _, err := readLitecoinBlock(append(slices.Clone(plain), 1, 2)); err == nil {
		t.Error("an extension without a HogEx is accepted")
	}
}

// TestHogExIsBelievedOnlyInItsPlace marks transactions as no honest node does: no hash covers the mark.
func TestHogExIsBelievedOnlyInItsPlace(t *testing.T) {
	t.Parallel()
	balance := wire.NewTxOut(5, append([]byte{opEight, opPush32}, make([]byte, 32)...))
	paid := wire.NewTxOut(7, keyHashScript([20]byte{1}))
	const extension = "\x01whatever"
	marked := func(out ...*wire.TxOut) string { return withFlags(pays(1, out...), flagMWEB, "\x00") }
	ordinary := string(serialise(pays(2, paid)))
	coinbase := string(serialise(newFake().add().Transactions[0]))
	for why, test := range map[string]struct {
		body string
		good bool
	}{
		"the valid form":                {coinbase + marked(balance, paid) + extension, true},
		"after an ordinary transaction": {coinbase + ordinary + marked(balance) + extension, true},
		"no extension":                  {coinbase + marked(balance, paid), false},
		"an absent extension":           {coinbase + marked(balance, paid) + "\x00", false},
		"an empty extension":            {coinbase + marked(balance, paid) + "\x01", false},
		"an extension of another kind":  {coinbase + marked(balance, paid) + "\x02whatever", false},
		"before another transaction":    {coinbase + marked(balance, paid) + ordinary, false},
		"two of them":                   {coinbase + marked(balance) + marked(balance) + extension, false},
		"without the balance":           {coinbase + marked(paid) + extension, false},
		"the balance in the second":     {coinbase + marked(paid, balance) + extension, false},
		"without outputs":               {coinbase + marked() + extension, false},
		"extension data of its own":     {coinbase + withFlags(pays(1, balance), flagMWEB, "\x01whatever"), false},
		"unknown flags": {coinbase + withFlags(pays(1, balance), flagMWEB|2, "\x00") + extension,
			false},
		"no flags": {coinbase + withFlags(pays(1, balance), 0, "") + extension, false},
	} {
		count := byte(2)
		if strings.Contains(test.body, ordinary) || why == "two of them" {
			count = 3
		}
		raw := append(append(make([]byte, headerSize), count), test.body...)
		b, err := readLitecoinBlock(raw)
		if (err == nil) != test.good {
			t.Errorf("%s: %v, want %v", why, err, test.good)
		}
		if err == nil && !b.txs[count-1].hogEx {
			t.Errorf("%s: the last transaction is %+v", why, b.txs[count-1])
		}
	}
}

// withFlags serializes a transaction with flags, and data before its lock time.
func withFlags(tx *wire.MsgTx, flags byte, data string) string {
	raw := serialise(tx)
	end := len(raw) - 4
	return string(raw[:4]) + string([]byte{0, flags}) + string(raw[4:end]) + data + string(raw[end:])
}

// FuzzReadLitecoinBlock compares with ltcd; the header's version makes ltcd ignore the extension.
func FuzzReadLitecoinBlock(f *testing.F) {
	for _, raw := range litecoinBlocks(f) {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := readLitecoinBlock(raw)
		if err != nil {
			return
		}
		blind := slices.Clone(raw)
		blind[3] &^= 0x20
		var want ltc.MsgBlock
		if err := want.Deserialize(bytes.NewReader(blind)); err != nil {
			t.Fatalf("ltcd refuses: %v", err)
		}
		wantSameTransactions(t, got, want.Transactions)
	})
}
