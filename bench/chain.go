package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// readyChain is a Bitcoin chain of full blocks that is made in advance. The blocks share all transactions but the
// first, so that thousands of them fit in memory: each costs its header and its coinbase.
type readyChain struct {
	blocks []readyBlock
	height map[string]int // by hash
	shared []byte         // the shared transactions, in hexadecimal
	count  int            // of them
	branch []chainhash.Hash
}

type readyBlock struct {
	hash   string
	begins []byte // header, number of transactions and coinbase, in hexadecimal
	full   bool   // the shared transactions follow
}

// newReadyChain makes a chain that begins with regtest's first block and some blocks with a coinbase only.
func newReadyChain(transactions, small int) (*readyChain, error) {
	genesis := chaincfg.RegressionNetParams.GenesisHash.String()
	c := &readyChain{blocks: []readyBlock{{hash: genesis}}, height: map[string]int{genesis: 0}, count: transactions - 1}
	random := rand.New(rand.NewPCG(5, 7))
	hashes := []chainhash.Hash{{}} // the coinbase's, which differs
	var all bytes.Buffer
	for range c.count {
		tx := randomTransaction(random)
		if err := tx.Serialize(&all); err != nil {
			return nil, err
		}
		hashes = append(hashes, tx.TxHash())
	}
	c.shared, c.branch = []byte(hex.EncodeToString(all.Bytes())), branchOf(hashes)
	for range small {
		if err := c.add(nil, false); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// add appends a block whose coinbase pays a script; nil: nobody's.
func (c *readyChain) add(script []byte, full bool) error {
	if script == nil {
		script = []byte{txscript.OP_TRUE}
	}
	height := len(c.blocks)
	coinbase := wire.NewMsgTx(1)
	coinbase.AddTxIn(&wire.TxIn{
		PreviousOutPoint: wire.OutPoint{Index: 1<<32 - 1},
		SignatureScript:  binary.LittleEndian.AppendUint32([]byte{4}, uint32(height)),
	})
	coinbase.AddTxOut(wire.NewTxOut(1_000_000, script))
	before, err := chainhash.NewHashFromStr(c.blocks[height-1].hash)
	if err != nil {
		return err
	}
	root, count := coinbase.TxHash(), 1
	if full {
		count += c.count
		for _, right := range c.branch {
			root = chainhash.DoubleHashH(append(root[:], right[:]...))
		}
	}
	header := wire.BlockHeader{
		Version:    4,
		PrevBlock:  *before,
		MerkleRoot: root,
		Timestamp:  time.Unix(1_700_000_000, 0).Add(time.Duration(height) * 10 * time.Minute),
		Bits:       chaincfg.RegressionNetParams.PowLimitBits,
	}
	var b bytes.Buffer
	for _, write := range []func(io.Writer) error{
		header.Serialize,
		func(w io.Writer) error { return wire.WriteVarInt(w, 0, uint64(count)) },
		coinbase.Serialize,
	} {
		if err := write(&b); err != nil {
			return err
		}
	}
	hash := header.BlockHash().String()
	c.height[hash] = height
	c.blocks = append(c.blocks, readyBlock{hash, []byte(hex.EncodeToString(b.Bytes())), full})
	return nil
}

// branchOf returns what the first leaf's hash is combined with on its way to the merkle root.
func branchOf(level []chainhash.Hash) (branch []chainhash.Hash) {
	for len(level) > 1 {
		if len(level)%2 == 1 {
			level = append(level, level[len(level)-1])
		}
		branch = append(branch, level[1])
		above := make([]chainhash.Hash, 0, len(level)/2)
		for i := 0; i < len(level); i += 2 {
			above = append(above, chainhash.DoubleHashH(append(level[i][:], level[i+1][:]...)))
		}
		level = above
	}
	return branch
}

// randomTransaction has one to three inputs and outputs of the usual kinds.
func randomTransaction(random *rand.Rand) *wire.MsgTx {
	some := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return b
	}
	tx := wire.NewMsgTx(2)
	for range 1 + random.IntN(3) {
		in := &wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: chainhash.Hash(some(32)), Index: random.Uint32N(5)}}
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
		script := append([]byte{txscript.OP_0, 20}, some(20)...) // P2WPKH, the most usual
		switch random.IntN(6) {
		case 0:
			script = append(append([]byte{txscript.OP_DUP, txscript.OP_HASH160, 20}, some(20)...),
				txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG)
		case 1:
			script = append(append([]byte{txscript.OP_HASH160, 20}, some(20)...), txscript.OP_EQUAL)
		case 2:
			script = append([]byte{txscript.OP_1, 32}, some(32)...)
		case 3:
			script = append([]byte{txscript.OP_RETURN}, some(75)...)
		}
		tx.AddTxOut(wire.NewTxOut(random.Int64N(1e12), script))
	}
	return tx
}

// scriptOf is the script that pays an address of regtest.
func scriptOf(text string) ([]byte, error) {
	to, err := address.DecodeAddress(text, &chaincfg.RegressionNetParams)
	if err != nil {
		return nil, fmt.Errorf("address %s: %w", text, err)
	}
	return txscript.PayToAddrScript(to)
}
