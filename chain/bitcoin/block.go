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

// block is what the adapter reads of a block: its ids, and where in the raw bytes is what may concern us. A transaction
// is read whole only where it does; nothing is allocated for any other one.
type block struct {
	hash, parent, root chainhash.Hash
	time               time.Time
	raw                []byte
	mweb               bool // raw has Litecoin's format

	ids     []chainhash.Hash // of the transactions
	places  []place          // of the transactions
	paid    []payee          // every output that has the form of ours
	keys    []signer         // every input that has the form of a spend from us
	scratch scratch
}

// place is a transaction's, in a raw block.
type place struct {
	start, end      int
	coinbase, hogEx bool
}

// payee is a P2WPKH output: the number of its transaction, and where its key hash begins.
type payee struct{ tx, at int }

// signer is an input with the form of a P2WPKH spend: the number of its transaction, and the hash of its public key.
type signer struct {
	tx   int
	hash [sizeKeyHash]byte
}

// scratch is memory that a block's slices leave to the next block.
type scratch struct {
	level   []chainhash.Hash // of the merkle tree
	texts   []byte           // that are asked of the watch at once
	touched []bool           // by transaction
}

type transaction struct {
	id      chainhash.Hash
	body    []byte // what the id is the hash of; it may be a part of what was read
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
	// script is what a P2WSH spend shows as its last witness item; nil for the form of a P2WPKH spend and without
	// witness.
	script []byte
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

// readTransaction parses one Bitcoin transaction and refuses anything else.
func readTransaction(raw []byte) (transaction, error) { return (&reader{raw: raw}).onlyTransaction() }

// read parses a whole block. It computes the ids of its transactions and the hashes of its inputs' keys, and verifies
// nothing. It uses the memory of the block that b was before.
func (b *block) read(raw []byte, mweb bool) error {
	*b = block{raw: raw, mweb: mweb, ids: b.ids[:0], places: b.places[:0], paid: b.paid[:0], keys: b.keys[:0],
		scratch: b.scratch}
	r := &reader{raw: raw, mweb: mweb, block: b}
	r.header(b)
	for range r.count(minTransaction) {
		if r.transaction(); r.err != nil {
			break
		}
	}
	if r.mweb {
		r.extension(b.places)
	}
	if r.err == nil && r.pos != len(r.raw) {
		r.err = errTrailing
	}
	if r.err != nil {
		return fmt.Errorf("read block of %d bytes: %w", len(r.raw), r.err)
	}
	return nil
}

// transaction reads one transaction of a block that was read.
func (b *block) transaction(i int) (transaction, error) {
	at := b.places[i]
	return (&reader{raw: b.raw[at.start:at.end:at.end], mweb: b.mweb}).onlyTransaction()
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
	switch root, ambiguous := b.merkleRoot(); {
	case b.hash.String() != hash:
		return fmt.Errorf("requested block %.64s, got %s", hash, b.hash)
	case len(b.places) == 0 || !b.places[0].coinbase:
		return fmt.Errorf("block %s does not begin with a coinbase", hash)
	case root != b.root || ambiguous:
		return fmt.Errorf("the transactions of block %s do not match its merkle root", hash)
	}
	return nil
}

func (b *block) merkleRoot() (root chainhash.Hash, ambiguous bool) {
	b.scratch.level = append(b.scratch.level[:0], b.ids...)
	return merkleRoot(b.scratch.level)
}

// merkleRoot computes the root over transaction ids, in their own memory. The root is ambiguous if two equal hashes are
// paired: repeating transactions at the end then gives the same root (CVE-2012-2459).
func merkleRoot(level []chainhash.Hash) (root chainhash.Hash, ambiguous bool) {
	if len(level) == 0 {
		return root, false
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
			level[i/2] = hashOf(pair[:])
		}
		level = level[:len(level)/2]
	}
	return level[0], ambiguous
}

func (r *reader) header(b *block) {
	raw := r.take(headerSize)
	if r.err != nil {
		return
	}
	b.hash = hashOf(raw)
	b.parent, b.root = chainhash.Hash(raw[4:36]), chainhash.Hash(raw[36:68])
	b.time = time.Unix(int64(binary.LittleEndian.Uint32(raw[68:72])), 0).UTC()
}
