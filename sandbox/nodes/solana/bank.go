package solana

import (
	"crypto/sha256"
	"maps"
	"math"
)

const (
	// blockhashLife is how many blocks after its own a blockhash is accepted (Agave: MAX_PROCESSING_AGE).
	blockhashLife = 150
	// lamportsPerSignature is the base fee.
	lamportsPerSignature = 5000
)

// rentMinimum is the least balance of an account of a size (Agave: Rent::minimum_balance, default parameters).
func rentMinimum(size int) uint64 { return (128 + uint64(size)) * 3480 * 2 }

// account is one account; values are never changed in place. An account without lamports does not exist, unless it is
// closed.
type account struct {
	lamports   uint64
	owner      key // the zero key is the system program
	data       []byte
	executable bool
}

// isClosed reports that an account refuses lamports; see eventClose.
func (a account) isClosed() bool { return a.executable && a.owner == systemProgram() }

// block is one produced block of the chain.
type block struct {
	slot, height uint64
	hash         key
	time         int64
	salt         []byte // makes hashes of blocks with the same contents differ
	events       []event
	txs          []*included
	undo         map[key]account // accounts as they were before the block
}

// included is a transaction in a block, with its outcome.
type included struct {
	*transaction
	outcome
	slot uint64
}

// bank is the chain and its newest state.
type bank struct {
	accounts map[key]account
	blocks   []*block // the canonical chain from genesis; the index is the height
	bySlot   map[uint64]*block
	byHash   map[key]uint64 // heights
	byID     map[signature]*included
	final    int // index of the newest finalized block
}

// newBank is a chain of one block, whose hash depends on the salt, on a machine with these programs.
func newBank(builtins map[key]account, salt []byte, time int64) *bank {
	b := &bank{
		accounts: map[key]account{},
		bySlot:   map[uint64]*block{},
		byHash:   map[key]uint64{},
		byID:     map[signature]*included{},
	}
	maps.Copy(b.accounts, builtins)
	b.accounts[faucetKey()] = account{lamports: faucetLamports}
	b.push(&block{hash: sha256.Sum256(append([]byte("bursar sandbox genesis"), salt...)), time: time, salt: salt})
	return b
}

func (b *bank) head() *block { return b.blocks[len(b.blocks)-1] }

func (b *bank) push(x *block) {
	b.blocks = append(b.blocks, x)
	b.bySlot[x.slot], b.byHash[x.hash] = x, x.height
	for _, t := range x.txs {
		b.byID[t.id()] = t
	}
}

// pop removes the newest block and its effects.
func (b *bank) pop() *block {
	x := b.head()
	for k, a := range x.undo {
		b.put(k, a)
	}
	b.blocks = b.blocks[:len(b.blocks)-1]
	delete(b.bySlot, x.slot)
	delete(b.byHash, x.hash)
	for _, t := range x.txs {
		delete(b.byID, t.id())
	}
	b.final = min(b.final, len(b.blocks)-1)
	return x
}

func (b *bank) put(k key, a account) {
	if a.lamports == 0 && !a.executable {
		delete(b.accounts, k)
		return
	}
	b.accounts[k] = a
}

// set changes an account within a block that is being made.
func (b *bank) set(x *block, k key, a account) {
	if _, known := x.undo[k]; !known {
		x.undo[k] = b.accounts[k]
	}
	b.put(k, a)
}

// level is a commitment level.
type level string

const (
	processed level = "processed"
	confirmed level = "confirmed"
	finalized level = "finalized"
)

// place is the index of the block that a commitment level names.
func (b *bank) place(l level) int {
	switch l {
	case processed:
		return len(b.blocks) - 1
	case confirmed:
		return max(b.final, len(b.blocks)-2)
	}
	return b.final
}

func (b *bank) at(l level) *block { return b.blocks[b.place(l)] }

// accountAt is an account as of the block at an index.
func (b *bank) accountAt(place int, k key) account {
	for _, later := range b.blocks[place+1:] {
		if a, changed := later.undo[k]; changed {
			return a
		}
	}
	return b.accounts[k]
}

// validAt reports whether a blockhash is accepted in a block of a height on top of an index.
func (b *bank) validAt(place int, height uint64, hash key) bool {
	h, known := b.byHash[hash]
	return known && h <= uint64(place) && height-h <= blockhashLife
}

// placeOf is the index of a block or the nearest one below it.
func (b *bank) placeOf(slot uint64) int {
	low, high := 0, len(b.blocks)
	for low+1 < high {
		if mid := (low + high) / 2; b.blocks[mid].slot <= slot {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// skipped selects the slots that stay empty: two in a row now and then.
func skipped(slot uint64) bool { return slot%7 == 5 || slot%31 == 17 || slot%31 == 18 }

func nextSlot(slot uint64) uint64 {
	for slot++; skipped(slot); slot++ {
	}
	return slot
}

// parent is the previous block; that of genesis is slot 0 with a hash of zeros.
func (b *bank) parent(x *block) *block {
	if x.height == 0 {
		return &block{hash: key{}}
	}
	return b.blocks[x.height-1]
}

// never is a slot that no block has.
const never = math.MaxUint64
