package tron

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// block is a block of the chain with the state after it.
type block struct {
	id, parent, txRoot [32]byte
	height             int
	time               int64 // milliseconds
	witness            common.Address
	txs                []included
	state              common.Hash
}

// included is a transaction in a block.
type included struct {
	*transaction
	*result
}

func (b *block) name() string { return hex.EncodeToString(b.id[:]) }

const blockVersion = 32

// seal computes the block's id: its height, then the end of its header's hash (BlockCapsule.generateBlockId).
func (b *block) seal() {
	b.txRoot = merkleRoot(b.txs)
	raw := message(nil).number(1, b.time).bytes(2, b.txRoot[:]).bytes(3, b.parent[:]).number(7, int64(b.height)).
		bytes(9, toBytes(b.witness)).number(10, blockVersion)
	b.id = sha256.Sum256(raw)
	binary.BigEndian.PutUint64(b.id[:8], uint64(b.height))
}

// merkleRoot is zero for a block without transactions.
func merkleRoot(txs []included) [32]byte {
	level := make([][32]byte, len(txs))
	for i, t := range txs {
		level[i] = sha256.Sum256(t.bytes)
	}
	for len(level) > 1 {
		var next [][32]byte
		for ; len(level) > 1; level = level[2:] {
			next = append(next, sha256.Sum256(append(level[0][:], level[1][:]...)))
		}
		level = append(next, level...)
	}
	if len(level) == 0 {
		return [32]byte{}
	}
	return level[0]
}

func (n *Node) head() *block { return n.blocks[len(n.blocks)-1] }

// stateAt opens the state after a block, for reading or to build upon.
func (n *Node) stateAt(b *block) (*state.StateDB, error) {
	st, err := state.New(b.state, n.states)
	if err != nil {
		return nil, fmt.Errorf("state of block %d: %w", b.height, err)
	}
	return st, nil
}

// Money of the faucet at genesis.
const (
	faucetSun  = 90_000_000_000_000_000 // sun: 90 billion TRX
	bankTokens = 1_000_000_000_000_000  // a billion USDT, and as much for the teller
)

// genesis makes block 0, the same at every start: the faucet's money, the token, and contracts that pass on TRX and
// tokens.
func (n *Node) genesis(context.Context) error {
	key := crypto.ToECDSAUnsafe(crypto.Keccak256([]byte("bursar sandbox tron faucet")))
	n.faucet, n.bank = key, crypto.PubkeyToAddress(key.PublicKey)
	st, err := state.New(types.EmptyRootHash, n.states)
	if err != nil {
		return fmt.Errorf("make the first state: %w", err)
	}
	m := newMachine(st, 0, 0)
	m.receive(n.bank, faucetSun)
	if n.token, err = m.deploy(n.bank, code(tokenCode)); err != nil {
		return fmt.Errorf("deploy the token: %w", err)
	}
	if n.purse, err = m.deploy(n.bank, code(purseCode)); err != nil {
		return fmt.Errorf("deploy the purse: %w", err)
	}
	if n.teller, err = m.deploy(n.bank, code(tellerCode)); err != nil {
		return fmt.Errorf("deploy the teller: %w", err)
	}
	for i, creation := range n.cfg.Contracts {
		at, err := m.deploy(n.bank, creation)
		if err != nil {
			return fmt.Errorf("deploy contract %d: %w", i, err)
		}
		n.more = append(n.more, at)
	}
	for _, holder := range []common.Address{n.bank, n.teller} {
		issue := callAddressAmount("issue(address,uint256)", holder, big.NewInt(bankTokens))
		if o := m.call(n.bank, n.token, issue, 0, constantEnergy, common.Hash{}); o.err != nil {
			return fmt.Errorf("issue tokens: %w", o.err)
		}
	}
	root, err := m.commit()
	if err != nil {
		return err
	}
	first := &block{witness: witness(0), state: root}
	first.seal()
	n.blocks = []*block{first}
	return n.refresh()
}

func (m *machine) commit() (common.Hash, error) {
	m.state.Finalise(m.rules)
	root, err := m.state.Commit(m.rules, m.height)
	if err != nil {
		return root, fmt.Errorf("commit the state of block %d: %w", m.height, err)
	}
	return root, nil
}

// witness signs the blocks of one branch, so that the blocks of another differ.
func witness(branch uint64) common.Address {
	return common.Address(crypto.Keccak256(fmt.Appendf(nil, "bursar sandbox tron witness %d", branch))[12:])
}

// refresh computes the state after the pool again; transactions that can be in no block any more leave the pool.
func (n *Node) refresh() error {
	head := n.head()
	st, err := n.stateAt(head)
	if err != nil {
		return err
	}
	n.pending = newMachine(st, uint64(head.height)+1, head.time)
	old := n.pool
	n.pool, n.pooled = nil, map[[32]byte]bool{}
	for _, t := range old {
		if n.timely(t, head) != nil {
			continue
		}
		if _, err := n.pending.execute(t); err == nil {
			n.pool = append(n.pool, t)
			n.pooled[t.id] = true
		}
	}
	return nil
}

const (
	// window is how many blocks a reference block may be back: as many as two bytes can number.
	window = 1 << 16
	// longest is how far ahead an expiration may lie (Constant.MAXIMUM_TIME_UNTIL_EXPIRATION).
	longest = day
)

// timely checks reference block and expiration for the block after parent.
func (n *Node) timely(t *transaction, parent *block) error {
	if t.expiration <= parent.time || t.expiration > parent.time+longest {
		return &refusal{"TRANSACTION_EXPIRATION_ERROR", fmt.Sprintf(
			"Transaction expired, transaction expiration time is %d, but headBlockTime is %d", t.expiration, parent.time)}
	}
	if !n.refers(t, parent.height) {
		return &refusal{"TAPOS_ERROR", "Tapos check error."}
	}
	return nil
}

// refers reports whether the reference block is on the chain up to a height.
func (n *Node) refers(t *transaction, head int) bool {
	if len(t.refBytes) != 2 || len(t.refHash) != 8 {
		return false
	}
	low := int(binary.BigEndian.Uint16(t.refBytes))
	height := head - (head-low)&(window-1)
	return height >= 0 && height < len(n.blocks) && bytes.Equal(n.blocks[height].id[8:16], t.refHash)
}

// accept adds a transaction to the pool, or refuses it in java-tron's order of checks (Manager.processTransaction).
func (n *Node) accept(t *transaction) error {
	if _, mined := n.places[t.id]; mined || n.pooled[t.id] {
		return &refusal{"DUP_TRANSACTION_ERROR", "Transaction already exists."}
	}
	if t.contracts != 1 {
		return invalid("this transaction has %d contracts, want one", t.contracts)
	}
	if len(t.bytes) > maxTransaction {
		return &refusal{"TOO_BIG_TRANSACTION_ERROR", "Transaction size is too big."}
	}
	if err := n.timely(t, n.head()); err != nil {
		return err
	}
	if len(n.pool) >= maxPool {
		return &refusal{"SERVER_BUSY", "Server busy."}
	}
	if _, err := n.pending.execute(t); err != nil {
		return err
	}
	if err := n.journal.Append(entry{Tx: hex.EncodeToString(t.bytes)}); err != nil {
		return errors.Join(err, n.refresh())
	}
	n.pool = append(n.pool, t)
	n.pooled[t.id] = true
	n.turn++
	return nil
}

const (
	maxTransaction = 500 * 1024 // bytes (Constant.TRANSACTION_MAX_BYTE_SIZE)
	maxPool        = 10_000     // transactions that wait
)
