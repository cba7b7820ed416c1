package bitcoin

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"github.com/btcsuite/btcd/chainhash/v2"
)

// reader parses serialized blocks and transactions without copying them. The first failure sticks: every later read
// returns nothing. Inputs and outputs are in two slices for the whole block, so that a block costs few allocations.
type reader struct {
	raw     []byte
	pos     int
	err     error
	inputs  []input
	outputs []output
	sha     hash.Hash
	mweb    bool // parse Litecoin's additions to blocks and transactions
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

// transaction reads a transaction with or without witnesses. Its id never covers the data that its flags announce.
func (r *reader) transaction() transaction {
	start := r.pos
	r.take(4) // version
	flags := r.flags()
	body := r.pos
	firstInput, firstOutput := len(r.inputs), len(r.outputs)
	r.readInputs()
	r.readOutputs()
	end := r.pos
	inputs := r.inputs[firstInput:len(r.inputs):len(r.inputs)]
	if flags&flagWitness != 0 {
		r.readWitnesses(inputs)
	}
	tx := transaction{inputs: inputs, outputs: r.outputs[firstOutput:len(r.outputs):len(r.outputs)]}
	if flags&flagMWEB != 0 {
		tx.hogEx = r.hogEx(tx.outputs)
	}
	lockTime := r.take(4)
	if r.err != nil {
		return transaction{}
	}
	if flags != 0 {
		tx.id = r.hash(r.raw[start:start+4], r.raw[body:end], lockTime)
	} else {
		tx.id = r.hash(r.raw[start:r.pos])
	}
	return tx
}

// noKey marks an input that has a script of its own, and so spends no P2WPKH output, until the witnesses are read.
var noKey = []byte{}

func (r *reader) readInputs() {
	for range r.count(minInput) {
		var in input
		copy(in.from.tx[:], r.take(chainhash.HashSize))
		in.from.index = r.uint32()
		script := r.take(r.size())
		r.take(4) // sequence
		if len(script) > 0 {
			in.key = noKey
		}
		if r.err != nil {
			return
		}
		r.inputs = append(r.inputs, in)
	}
}

func (r *reader) readOutputs() {
	for range r.count(minOutput) {
		out := output{value: r.uint64()}
		out.script = r.take(r.size())
		if r.err == nil && out.value > maxMoney {
			r.err = errForm
		}
		if r.err != nil {
			return
		}
		r.outputs = append(r.outputs, out)
	}
}

func (r *reader) readWitnesses(inputs []input) {
	for i := range inputs {
		items := r.count(1)
		var last []byte
		for range items {
			last = r.take(r.size())
			if r.err != nil {
				return
			}
		}
		if items == 2 && len(last) == sizeKey && inputs[i].key == nil {
			inputs[i].key = last
		}
	}
}

// hash returns the double SHA-256 of the concatenated parts.
func (r *reader) hash(parts ...[]byte) chainhash.Hash {
	if len(parts) == 1 {
		once := sha256.Sum256(parts[0])
		return sha256.Sum256(once[:])
	}
	if r.sha == nil {
		r.sha = sha256.New()
	}
	r.sha.Reset()
	for _, part := range parts {
		r.sha.Write(part)
	}
	var once [sha256.Size]byte
	r.sha.Sum(once[:0])
	return sha256.Sum256(once[:])
}
