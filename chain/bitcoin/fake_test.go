package bitcoin

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

// fakeNode is a bitcoind without a network: it has blocks, and gives the answers that a test sets.
type fakeNode struct {
	mu     sync.Mutex
	blocks []*wire.MsgBlock // the best chain from height 0 on
	stale  map[string]int   // heights of blocks that were reorged out, by hash
	txs    map[string]string
	says   map[string]func(params []any) any // overrides the answer to a method; an *rpc.Error is an error
}

// raw is a JSON value written as it is.
type raw = json.RawMessage

func newFake() *fakeNode {
	f := &fakeNode{stale: map[string]int{}, txs: map[string]string{}, says: map[string]func([]any) any{}}
	f.add()
	return f
}

// say sets the answer to a method.
func (f *fakeNode) say(method string, answer any) {
	f.sayBy(method, func([]any) any { return answer })
}

func (f *fakeNode) sayBy(method string, answer func(params []any) any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.says[method] = answer
}

// add appends a block with a coinbase and the given transactions to the chain.
func (f *fakeNode) add(txs ...*wire.MsgTx) *wire.MsgBlock {
	f.mu.Lock()
	defer f.mu.Unlock()
	coinbase := wire.NewMsgTx(1)
	coinbase.AddTxIn(&wire.TxIn{
		PreviousOutPoint: wire.OutPoint{Index: math.MaxUint32},
		SignatureScript:  []byte{byte(len(f.blocks)), byte(len(f.stale)), 1},
	})
	coinbase.AddTxOut(wire.NewTxOut(50e8, []byte{opOne}))
	return f.append(append([]*wire.MsgTx{coinbase}, txs...))
}

func (f *fakeNode) append(txs []*wire.MsgTx) *wire.MsgBlock {
	b := wire.NewMsgBlock(&wire.BlockHeader{Version: 4, Timestamp: time.Unix(1_700_000_000, 0)})
	if len(f.blocks) > 0 {
		b.Header.PrevBlock = f.blocks[len(f.blocks)-1].BlockHash()
	}
	b.Transactions = txs
	b.Header.MerkleRoot = rootOf(txs)
	f.blocks = append(f.blocks, b)
	for _, tx := range txs {
		f.txs[tx.TxID()] = hexOf(tx)
	}
	return b
}

// rootOf computes the merkle root in the obvious, slow way.
func rootOf(txs []*wire.MsgTx) chainhash.Hash {
	var level []chainhash.Hash
	for _, tx := range txs {
		level = append(level, tx.TxHash())
	}
	for len(level) > 1 {
		var above []chainhash.Hash
		for i := 0; i < len(level); i += 2 {
			right := level[min(i+1, len(level)-1)]
			above = append(above, chainhash.DoubleHashH(slices.Concat(level[i][:], right[:])))
		}
		level = above
	}
	return level[0]
}

// drop removes the last blocks from the best chain.
func (f *fakeNode) drop(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for range n {
		last := len(f.blocks) - 1
		f.stale[f.blocks[last].BlockHash().String()] = last
		f.blocks = f.blocks[:last]
	}
}

func (f *fakeNode) ref(height int) chain.BlockRef {
	f.mu.Lock()
	defer f.mu.Unlock()
	return chain.BlockRef{Height: uint64(height), Hash: f.blocks[height].BlockHash().String()}
}

func serialise(t interface{ Serialize(io.Writer) error }) []byte {
	var b bytes.Buffer
	if err := t.Serialize(&b); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func hexOf(t interface{ Serialize(io.Writer) error }) string { return hex.EncodeToString(serialise(t)) }

// open returns an adapter for a fake node, whose first block is the network's.
func open(t testing.TB, f *fakeNode, change ...func(*Config)) *Chain {
	t.Helper()
	network, err := Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	network.Genesis = f.ref(0).Hash
	cfg := Config{
		ID: "bitcoin", Network: network,
		Node: rpc.Config{URLs: []string{"http://node.invalid"}, HTTP: f, MinPause: time.Nanosecond,
			MaxPause: time.Nanosecond},
	}
	for _, c := range change {
		c(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var keys = chaintest.Keys{Curve: chain.Secp256k1}

// source returns one of our keys with its address.
func source(t testing.TB, c *Chain, index uint32) chain.Source {
	t.Helper()
	ref := chain.KeyRef{Family: "bitcoin", Branch: chain.DepositBranch, Index: index}
	address, err := c.Address(keys.Public(ref), 0)
	if err != nil {
		t.Fatal(err)
	}
	return chain.Source{Key: ref, Base: address.Base}
}

// script returns the script that pays an address.
func script(t testing.TB, c *Chain, base string) []byte {
	t.Helper()
	s, err := c.network.script(base)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pays returns a transaction of an outsider with the given outputs.
func pays(salt byte, outputs ...*wire.TxOut) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: chainhash.Hash{salt, 1}},
		SignatureScript: []byte{1, salt}})
	tx.TxOut = outputs
	return tx
}
