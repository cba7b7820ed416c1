package bitcoin

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/database"
	"github.com/btcsuite/btcd/wire/v2"
)

// medianSpan is the number of blocks that the median time is taken over (BIP 113).
const medianSpan = 11

// blockRecordOverhead is what a block file adds to a block: network magic and length.
const blockRecordOverhead = 8

// blockInfo is what RPC answers about a block besides its bytes, for blocks of every branch.
type blockInfo struct {
	hash   chainhash.Hash
	parent *blockInfo // nil for the genesis block
	header wire.BlockHeader
	height int32
	work   *big.Int // transactions of the chain up to and with this block
	txs    int
	size   int64
}

// addBlock records a block whose parent is known.
func (n *Node) addBlock(block *wire.MsgBlock) {
	info := &blockInfo{
		hash: block.BlockHash(), parent: n.blocks[block.Header.PrevBlock], header: block.Header,
		work: blockchain.CalcWork(block.Header.Bits), txs: len(block.Transactions), size: int64(block.SerializeSize()),
	}
	if info.parent != nil {
		info.height = info.parent.height + 1
		info.work.Add(info.work, info.parent.work)
	}
	n.blocks[info.hash] = info
	n.diskSize += info.size + blockRecordOverhead
}

// medianTime is the median time past of the block itself, in Unix seconds.
func (b *blockInfo) medianTime() int64 {
	var times []int64
	for at := b; at != nil && len(times) < medianSpan; at = at.parent {
		times = append(times, at.header.Timestamp.Unix())
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// tip is the best block.
func (n *Node) tip() *blockInfo { return n.blocks[n.chain.BestSnapshot().Hash] }

// at is the block of the best chain at a height from 0 to the tip's.
func (n *Node) at(height int32) (*blockInfo, error) {
	hash, err := n.chain.BlockHashByHeight(height)
	if err != nil {
		return nil, fmt.Errorf("find block %d: %w", height, err)
	}
	return n.blocks[*hash], nil
}

// blockBytes reads a block of any branch.
func (n *Node) blockBytes(hash chainhash.Hash) ([]byte, error) {
	var raw []byte
	err := n.db.View(func(tx database.Tx) error {
		found, err := tx.FetchBlock(&hash)
		raw = bytes.Clone(found) // valid only within the database transaction
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read block %v: %w", hash, err)
	}
	return raw, nil
}

func (n *Node) block(hash chainhash.Hash) (*wire.MsgBlock, error) {
	raw, err := n.blockBytes(hash)
	if err != nil {
		return nil, err
	}
	var block wire.MsgBlock
	if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
		return nil, fmt.Errorf("decode block %v: %w", hash, err)
	}
	return &block, nil
}

// errDuplicate is returned for a block that is already known.
var errDuplicate = errors.New("duplicate")

// acceptBlock validates a block, adds it to its branch and updates mempool and UTXO index to the best chain.
func (n *Node) acceptBlock(block *btcutil.Block) error {
	if err := n.journal.Err(); err != nil {
		return err
	}
	if n.blocks[block.MsgBlock().Header.PrevBlock] == nil {
		return fmt.Errorf("accept block %v: unknown parent %v", block.Hash(), block.MsgBlock().Header.PrevBlock)
	}
	if n.blocks[*block.Hash()] != nil {
		return fmt.Errorf("accept block %v: %w", block.Hash(), errDuplicate)
	}
	n.addBlock(block.MsgBlock()) // before processing, which connects the block
	err := n.switchChain(func() error {
		_, _, err := n.chain.ProcessBlock(block, blockchain.BFNone)
		return err
	})
	if err != nil {
		n.diskSize -= n.blocks[*block.Hash()].size + blockRecordOverhead
		delete(n.blocks, *block.Hash())
		return fmt.Errorf("accept block %v: %w", block.Hash(), err)
	}
	return nil
}

// switchChain runs a change of the best chain and then settles the mempool: transactions that were reorged out return
// to it if they are still valid, and transactions that are confirmed or double-spent now are removed.
func (n *Node) switchChain(change func() error) error {
	if err := n.journal.Err(); err != nil {
		return err
	}
	n.detached = nil
	before := n.tip()
	err := change()
	if n.detached == nil {
		n.confirm(before, n.tip())
	} else {
		n.resettle()
	}
	n.detached = nil
	n.announce()
	return err
}

// confirm removes from the mempool what the blocks after from up to tip contain or double-spend.
func (n *Node) confirm(from, tip *blockInfo) {
	for at := tip; at != from && at.height > from.height; at = at.parent {
		for _, tx := range n.utxos.blockTxs(at.hash) {
			n.pool.RemoveTransaction(tx, false)
			n.pool.RemoveDoubleSpends(tx)
		}
	}
}
