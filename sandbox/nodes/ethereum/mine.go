package ethereum

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/miner"
)

// This package's own keys in go-ethereum's database.
const (
	headKey  = "bursar-head"  // hash of the block that is to become the head
	finalKey = "bursar-final" // number of the finalized block, 8 bytes big endian
)

// Mine makes count blocks with the transactions of the pool; an empty pool gives empty blocks. The finalized tag
// follows each block. On an error the blocks made so far stay.
func (n *Node) Mine(count int) error {
	for range count {
		if err := n.mineOne(); err != nil {
			return fmt.Errorf("mine block: %w", err)
		}
	}
	return nil
}

func (n *Node) mineOne() error {
	n.gate.Lock()
	defer n.gate.Unlock()
	if err := n.journal.Err(); err != nil {
		return err
	}
	pool := n.eth.TxPool()
	if err := pool.Sync(); err != nil { // transactions just accepted become executable
		return err
	}
	parent := n.chain.CurrentBlock()
	block, err := n.build(parent, n.clock(), contents{fromPool: true})
	if err != nil {
		return err
	}
	if err := n.adopt(block); err != nil {
		return err
	}
	if err := n.advanceFinality(); err != nil {
		return err
	}
	if err := pool.Sync(); err != nil { // mined transactions leave the pool
		return err
	}
	// The block first: what go-ethereum's database wrote is in the process's memory until then, and a kill would lose the
	// transactions of a block that the pool's journal no longer has. One that both have is refused by the pool.
	if err := n.eth.ChainDb().SyncKeyValue(); err != nil {
		return err
	}
	return n.keep(n.pooled())
}

// contents is what goes into a block: exactly txs, or everything in the pool.
type contents struct {
	fromPool bool
	txs      []*types.Transaction
}

// build makes a block on parent and stores it, with its state, next to the canonical chain. It fails if a requested
// transaction cannot be included. Fresh randomness makes every block different from all others.
func (n *Node) build(parent *types.Header, time uint64, c contents) (*types.Block, error) {
	block, err := n.buildBlock(parent, time, c)
	if err != nil {
		return nil, err
	}
	if _, err := n.chain.InsertBlockWithoutSetHead(context.Background(), block, false); err != nil {
		return nil, fmt.Errorf("store block %d: %w", block.NumberU64(), err)
	}
	return block, nil
}

func (n *Node) buildBlock(parent *types.Header, time uint64, c contents) (*types.Block, error) {
	var random, beaconRoot common.Hash
	rand.Read(random[:]) // never fails
	rand.Read(beaconRoot[:])
	args := &miner.BuildPayloadArgs{
		Parent:       parent.Hash(),
		Timestamp:    max(time, parent.Time+1),
		FeeRecipient: coinbase(),
		Random:       random,
		Withdrawals:  types.Withdrawals{}, // the list of validators' withdrawals must be present, and is empty
		BeaconRoot:   &beaconRoot,
	}
	empty := !c.fromPool && len(c.txs) == 0
	block, _, err := n.eth.Miner().BuildTestingPayload(args, c.txs, empty, []byte("bursar sandbox"))
	if err != nil {
		return nil, fmt.Errorf("build block %d: %w", parent.Number.Uint64()+1, err)
	}
	return block, nil
}

// adopt makes a stored block the head. The intention is written first, so that a change that an abrupt end interrupts
// is completed at the next start.
func (n *Node) adopt(block *types.Block) error {
	hash := block.Hash()
	if err := n.eth.ChainDb().Put([]byte(headKey), hash[:]); err != nil {
		return fmt.Errorf("record head %d: %w", block.NumberU64(), err)
	}
	if _, err := n.chain.SetCanonical(block); err != nil {
		return fmt.Errorf("set head %d: %w", block.NumberU64(), err)
	}
	return nil
}

// restoreHead completes a change of head that an abrupt end interrupted.
func (n *Node) restoreHead() error {
	hash, err := n.eth.ChainDb().Get([]byte(headKey))
	if err != nil {
		return nil // no block has been made yet: both databases report a missing key as an error
	}
	block := n.chain.GetBlockByHash(common.BytesToHash(hash))
	if block == nil || block.Hash() == n.chain.CurrentBlock().Hash() {
		return nil
	}
	return n.adopt(block)
}

// HoldFinality stops the finalized and safe tags, as when validators are offline, or lets them advance from the next
// block on.
func (n *Node) HoldFinality(hold bool) {
	n.gate.Lock()
	defer n.gate.Unlock()
	n.held = hold
}

// advanceFinality moves the tags forward to their distance behind the head; never backwards.
func (n *Node) advanceFinality() error {
	if n.held {
		return nil
	}
	head, depth := n.chain.CurrentBlock().Number.Uint64(), uint64(n.cfg.FinalityDepth)
	final := max(n.chain.CurrentFinalBlock().Number.Uint64(), behind(head, depth))
	safe := max(n.chain.CurrentSafeBlock().Number.Uint64(), behind(head, depth/2))
	return n.setTags(final, safe)
}

func behind(head, depth uint64) uint64 { return head - min(head, depth) }

// setTags points finalized and safe at canonical blocks. go-ethereum's own record of finality is erased at once: its
// freezer moves finalized blocks to where a reorg past finality cannot replace them. The record of this package is a
// number, so it always names a canonical block.
func (n *Node) setTags(final, safe uint64) error {
	n.chain.SetFinalized(n.chain.GetHeaderByNumber(final))
	rawdb.WriteFinalizedBlockHash(n.eth.ChainDb(), common.Hash{})
	n.chain.SetSafe(n.chain.GetHeaderByNumber(safe))
	if err := n.eth.ChainDb().Put([]byte(finalKey), binary.BigEndian.AppendUint64(nil, final)); err != nil {
		return fmt.Errorf("record finalized block %d: %w", final, err)
	}
	return nil
}

// restoreFinality sets the tags to what the last run reported, or to genesis.
func (n *Node) restoreFinality() error {
	head, final := n.chain.CurrentBlock().Number.Uint64(), uint64(0)
	if v, err := n.eth.ChainDb().Get([]byte(finalKey)); err == nil && len(v) == 8 {
		final = min(binary.BigEndian.Uint64(v), head)
	}
	safe := max(final, behind(head, uint64(n.cfg.FinalityDepth)/2))
	return n.setTags(final, safe)
}

// clock is the present in seconds.
func (n *Node) clock() uint64 { return uint64(max(n.cfg.Now().Unix(), genesisTime)) }
