package bitcoin

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/btcsuite/btcd/chainhash/v2"
)

// reader parses serialized blocks and transactions without copying them. The first failure sticks: every later read
// returns nothing. Of a transaction of a block it keeps only what block does, and of one alone everything.
type reader struct {
	raw     []byte
	pos     int
	err     error
	mweb    bool   // parse Litecoin's additions to blocks and transactions
	block   *block // nil: a transaction alone
	inputs  []input
	outputs []output

	coinbase bool   // the transaction that is being read is one
	first    []byte // the script of its first output
	bare     []bool // by input: it has no script, and so may spend a P2WPKH output
	body     []byte // what its id covers, if that is not in one piece
}

func (r *reader) take(n uint64) []byte {
	if r.err != nil {
		return nil
	}
	if n > uint64(len(r.raw)-r.pos) {
		r.err = errCutOff
		return nil
	}
	part := r.raw[r.pos : r.pos+int(n) : r.pos+int(n)]
	r.pos += int(n)
	return part
}

func (r *reader) uint32() uint32 {
	if part := r.take(4); part != nil {
		return binary.LittleEndian.Uint32(part)
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if part := r.take(8); part != nil {
		return binary.LittleEndian.Uint64(part)
	}
	return 0
}

// size reads a number in the compact form, of which only the shortest encoding is valid (Bitcoin Core, serialize.h).
func (r *reader) size() uint64 {
	first := r.take(1)
	if first == nil {
		return 0
	}
	if first[0] < 0xfd {
		return uint64(first[0])
	}
	width := 2 << (first[0] - 0xfd)
	part := r.take(uint64(width))
	if part == nil {
		return 0
	}
	var wide [8]byte
	copy(wide[:], part)
	n := binary.LittleEndian.Uint64(wide[:])
	if width == 2 && n < 0xfd || width > 2 && n>>(4*width) == 0 {
		r.err = errForm
		return 0
	}
	return n
}

// count reads the number of items that have at least so many bytes each, and fails if they cannot fit in the remaining
// bytes.
func (r *reader) count(least int) uint64 {
	n := r.size()
	if r.err == nil && n > uint64((len(r.raw)-r.pos)/least) {
		r.err = errCutOff
	}
	if r.err != nil {
		return 0
	}
	return n
}

// The flags of a transaction. They follow a zero byte in place of the number of inputs.
const (
	flagWitness = 0x01 // BIP 144
	flagMWEB    = 0x08 // Litecoin Core, primitives/transaction.h
)

// flags reads a transaction's flags, if it has any.
func (r *reader) flags() byte {
	if r.err != nil || r.pos+1 >= len(r.raw) || r.raw[r.pos] != 0 {
		return 0
	}
	known := byte(flagWitness)
	if r.mweb {
		known |= flagMWEB
	}
	flags := r.take(2)[1]
	if flags == 0 || flags&^known != 0 {
		r.err = errForm
	}
	return flags
}

// transaction reads a transaction with or without witnesses. Its id never covers the data that its flags announce. One
// of a block is added to the block, and nothing is returned.
func (r *reader) transaction() (tx transaction) {
	start := r.pos
	r.take(4) // version
	flags := r.flags()
	body := r.pos
	r.readInputs()
	r.readOutputs()
	end := r.pos
	if flags&flagWitness != 0 {
		r.readWitnesses()
	}
	hogEx := flags&flagMWEB != 0 && r.hogEx()
	lockTime := r.take(4)
	if r.err != nil {
		return tx
	}
	covered := r.raw[start:r.pos]
	if flags != 0 {
		r.body = append(append(append(r.body[:0], r.raw[start:start+4]...), r.raw[body:end]...), lockTime...)
		covered = r.body
	}
	id := hashOf(covered)
	if b := r.block; b != nil {
		b.ids = append(b.ids, id)
		b.places = append(b.places, place{start: start, end: r.pos, coinbase: r.coinbase, hogEx: hogEx})
		return tx
	}
	return transaction{id: id, body: covered, inputs: r.inputs, outputs: r.outputs, hogEx: hogEx}
}

// noKey marks an input that has a script of its own, and so spends no P2WPKH output.
var noKey = []byte{}

func (r *reader) readInputs() {
	count := r.count(minInput)
	r.coinbase, r.bare = false, r.bare[:0]
	for range count {
		tx, index := r.take(chainhash.HashSize), r.uint32()
		script := r.take(r.size())
		r.take(4) // sequence
		if r.err != nil {
			return
		}
		r.bare = append(r.bare, len(script) == 0)
		if r.block != nil {
			r.coinbase = count == 1 && index == 1<<32-1 && chainhash.Hash(tx) == chainhash.Hash{}
			continue
		}
		in := input{from: outpoint{chainhash.Hash(tx), index}}
		if len(script) > 0 {
			in.key = noKey
		}
		r.inputs = append(r.inputs, in)
	}
}

func (r *reader) readOutputs() {
	r.first = nil
	for i := range r.count(minOutput) {
		value := r.uint64()
		script := r.take(r.size())
		if r.err == nil && value > maxMoney {
			r.err = errForm
		}
		if r.err != nil {
			return
		}
		if i == 0 {
			r.first = script
		}
		switch {
		case r.block == nil:
			r.outputs = append(r.outputs, output{value, script})
		case isKeyHash(script):
			r.block.paid = append(r.block.paid, payee{tx: len(r.block.ids), at: r.pos - sizeKeyHash})
		}
	}
}

func (r *reader) readWitnesses() {
	for i, bare := range r.bare {
		items := r.count(1)
		var last []byte
		for range items {
			last = r.take(r.size())
			if r.err != nil {
				return
			}
		}
		if r.err != nil || !bare {
			continue
		}
		if items != 2 || len(last) != sizeKey {
			if r.block == nil {
				r.inputs[i].script = last
			}
			continue
		}
		if r.block == nil {
			r.inputs[i].key = last
		} else {
			r.block.keys = append(r.block.keys, signer{tx: len(r.block.ids), hash: fastHash160(last)})
		}
	}
}

// hashOf returns the double SHA-256.
func hashOf(data []byte) chainhash.Hash {
	once := sha256.Sum256(data)
	return sha256.Sum256(once[:])
}
