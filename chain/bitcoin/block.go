package bitcoin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
)

// maxMoney exceeds all satoshi that will ever exist (Bitcoin Core, consensus/amount.h). Litecoin has four times as many
// as Bitcoin.
const maxMoney = 84_000_000 * 100_000_000

// block is what the adapter reads of a block. Scripts and keys point into the raw bytes and are valid as long as those
// are.
type block struct {
	hash, parent, root chainhash.Hash
	time               time.Time
	txs                []transaction
}

type transaction struct {
	id      chainhash.Hash
	inputs  []input
	outputs []output
	hogEx   bool // it links a Litecoin block to its extension
}

// outpoint identifies an output.
type outpoint struct {
	tx    chainhash.Hash
	index uint32
}

// String returns the name of a UTXO, "<txid>:<output>".
func (o outpoint) String() string { return fmt.Sprintf("%s:%d", o.tx, o.index) }

type input struct {
	from outpoint
	key  []byte // the public key if the input has the form of a P2WPKH spend, else nil
}

type output struct {
	value  uint64
	script []byte
}

const (
	headerSize = 80
	// The smallest possible encodings. They bound counts before memory is allocated for them.
	minTransaction = 4 + 1 + 41 + 1 + 9 + 4
	minInput       = 41
	minOutput      = 9
)

var (
	errCutOff   = errors.New("the data ends early")
	errTrailing = errors.New("there are extra bytes after the end")
	errForm     = errors.New("unknown format")
)

// readBlock parses a Bitcoin block.
func readBlock(raw []byte) (*block, error) { return (&reader{raw: raw}).block() }

// readTransaction parses one Bitcoin transaction and refuses anything else.
func readTransaction(raw []byte) (transaction, error) { return (&reader{raw: raw}).onlyTransaction() }

// block parses a whole block. It computes the ids of its transactions and verifies nothing.
func (r *reader) block() (*block, error) {
	b := r.header()
	count := r.count(minTransaction)
	b.txs = make([]transaction, 0, count)
	for range count {
		b.txs = append(b.txs, r.transaction())
		if r.err != nil {
			break
		}
	}
	if r.mweb {
		r.extension(b.txs)
	}
	if r.err == nil && r.pos != len(r.raw) {
		r.err = errTrailing
	}
	if r.err != nil {
		return nil, fmt.Errorf("read block of %d bytes: %w", len(r.raw), r.err)
	}
	return b, nil
}

func (r *reader) onlyTransaction() (transaction, error) {
	tx := r.transaction()
	if r.err == nil && r.pos != len(r.raw) {
		r.err = errTrailing
	}
	if r.err != nil {
		return transaction{}, fmt.Errorf("read transaction of %d bytes: %w", len(r.raw), r.err)
	}
	return tx, nil
}

// coinbase reports whether a transaction is a coinbase.
func (tx transaction) coinbase() bool {
	return len(tx.inputs) == 1 && tx.inputs[0].from == outpoint{index: 1<<32 - 1}
}

// verify checks that the bytes are the requested block, complete: its header has the hash, and the header's merkle root
// covers its transactions.
func (b *block) verify(hash string) error {
	switch root, ambiguous := merkleRoot(b.txs); {
	case b.hash.String() != hash:
		return fmt.Errorf("requested block %.64s, got %s", hash, b.hash)
	case len(b.txs) == 0 || !b.txs[0].coinbase():
		return fmt.Errorf("block %s does not begin with a coinbase", hash)
	case root != b.root || ambiguous:
		return fmt.Errorf("the transactions of block %s do not match its merkle root", hash)
	}
	return nil
}

// merkleRoot computes the root over the transaction ids. The root is ambiguous if two equal hashes are paired:
// repeating transactions at the end then gives the same root (CVE-2012-2459).
func merkleRoot(txs []transaction) (root chainhash.Hash, ambiguous bool) {
	if len(txs) == 0 {
		return root, false
	}
	level := make([]chainhash.Hash, len(txs), len(txs)+1)
	for i := range txs {
		level[i] = txs[i].id
	}
	for len(level) > 1 {
		for i := 0; i+1 < len(level); i += 2 {
			ambiguous = ambiguous || level[i] == level[i+1]
		}
		if len(level)%2 == 1 {
			level = append(level, level[len(level)-1])
		}
		for i := 0; i < len(level); i += 2 {
			var pair [2 * chainhash.HashSize]byte
			copy(pair[:], level[i][:])
			copy(pair[chainhash.HashSize:], level[i+1][:])
			level[i/2] = chainhash.DoubleHashH(pair[:])
		}
		level = level[:len(level)/2]
	}
	return level[0], ambiguous
}

func (r *reader) header() *block {
	raw := r.take(headerSize)
	if r.err != nil {
		return &block{}
	}
	return &block{
		hash:   chainhash.DoubleHashH(raw),
		parent: chainhash.Hash(raw[4:36]),
		root:   chainhash.Hash(raw[36:68]),
		time:   time.Unix(int64(binary.LittleEndian.Uint32(raw[68:72])), 0).UTC(),
	}
}
