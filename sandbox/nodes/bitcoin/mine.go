package bitcoin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/mining"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// Mine mines count blocks on the best chain with the transactions of the mempool, to the faucet's wallet, and returns
// their hashes, lowest first. On an error the blocks mined so far stay.
func (n *Node) Mine(count int) ([]chainhash.Hash, error) {
	return n.mineTo(count, n.wallet.scripts[0])
}

func (n *Node) mineTo(count int, script []byte) ([]chainhash.Hash, error) {
	hashes := make([]chainhash.Hash, 0, max(count, 0))
	for range count {
		hash, err := n.mineOne(script)
		if err != nil {
			return hashes, fmt.Errorf("mine block: %w", err)
		}
		hashes = append(hashes, hash)
	}
	return hashes, nil
}

func (n *Node) mineOne(script []byte) (chainhash.Hash, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.journal.Err(); err != nil {
		return chainhash.Hash{}, err
	}
	template, err := n.template.NewBlockTemplate(nil)
	if err != nil {
		return chainhash.Hash{}, err
	}
	block := template.Block
	block.Transactions[0].TxOut[0].PkScript = script
	nonce, err := n.extraNonce()
	if err != nil {
		return chainhash.Hash{}, err
	}
	if err := n.template.UpdateExtraNonce(block, template.Height, nonce); err != nil {
		return chainhash.Hash{}, err
	}
	return n.addMined(block)
}

// addMined solves a block, accepts it and writes it to the journal.
func (n *Node) addMined(block *wire.MsgBlock) (chainhash.Hash, error) {
	s, err := n.solveAndAccept(block)
	if err != nil {
		return chainhash.Hash{}, err
	}
	return block.BlockHash(), n.record(s)
}

func (n *Node) solveAndAccept(block *wire.MsgBlock) (step, error) {
	if err := n.solve(&block.Header); err != nil {
		return step{}, err
	}
	b := btcutil.NewBlock(block)
	raw, err := b.Bytes()
	if err != nil {
		return step{}, fmt.Errorf("encode block: %w", err)
	}
	return step{stepBlock, raw}, n.acceptBlock(b)
}

// solve finds a nonce, which takes two attempts on average at regtest's difficulty.
func (n *Node) solve(header *wire.BlockHeader) error {
	target := blockchain.CompactToBig(header.Bits)
	for nonce := range uint32(1 << 24) {
		header.Nonce = nonce
		hash := header.BlockHash()
		if blockchain.HashToBig(&hash).Cmp(target) <= 0 {
			return nil
		}
	}
	return errors.New("no nonce solves the block")
}

// extraNonce is random, so that no two blocks at one height are alike.
func (n *Node) extraNonce() (uint64, error) {
	var b [8]byte
	if _, err := io.ReadFull(n.cfg.Rand, b[:]); err != nil {
		return 0, fmt.Errorf("make extra nonce: %w", err)
	}
	return binary.LittleEndian.Uint64(b[:]) >> 1, nil
}

// blockDraft describes a block to build by hand, where the template generator, which knows only the best chain, does
// not help.
type blockDraft struct {
	parent *blockInfo
	txs    []*btcutil.Tx // in order, without the coinbase
	fees   int64         // of txs
	script []byte        // of the coinbase
}

func (n *Node) build(d blockDraft) (*wire.MsgBlock, error) {
	nonce, err := n.extraNonce()
	if err != nil {
		return nil, err
	}
	height := d.parent.height + 1
	sigScript, err := txscript.NewScriptBuilder().AddInt64(int64(height)).
		AddInt64(int64(nonce)).AddData([]byte(mining.CoinbaseFlags)).Script()
	if err != nil {
		return nil, fmt.Errorf("build coinbase: %w", err)
	}
	coinbase := wire.NewMsgTx(wire.TxVersion)
	coinbase.AddTxIn(wire.NewTxIn(wire.NewOutPoint(&chainhash.Hash{}, wire.MaxPrevOutIndex), sigScript, nil))
	coinbase.AddTxOut(wire.NewTxOut(blockchain.CalcBlockSubsidy(height, n.params)+d.fees, d.script))
	txs := append([]*btcutil.Tx{btcutil.NewTx(coinbase)}, d.txs...)
	mining.AddWitnessCommitment(txs[0], txs)
	txs[0] = btcutil.NewTx(coinbase) // its hash changed
	block := &wire.MsgBlock{Header: wire.BlockHeader{
		Version: d.parent.header.Version, PrevBlock: d.parent.hash, MerkleRoot: blockchain.CalcMerkleRoot(txs, false),
		Timestamp: n.blockTime(d.parent), Bits: n.params.PowLimitBits,
	}}
	if d.parent.parent == nil {
		block.Header.Version = 0x20000000 // version 1, as in the genesis block, has been refused for long
	}
	for _, tx := range txs {
		block.Transactions = append(block.Transactions, tx.MsgTx())
	}
	return block, nil
}

// blockTime is the present, or just after the median time past if blocks are mined faster than the clock runs.
func (n *Node) blockTime(parent *blockInfo) time.Time {
	return time.Unix(max(n.cfg.Now().Unix(), parent.medianTime()+1), 0)
}
