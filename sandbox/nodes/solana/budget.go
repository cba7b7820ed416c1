package solana

import (
	"encoding/binary"
	"math/bits"
)

const maxUnits = 1_400_000

// Instructions of the compute budget program (Agave: ComputeBudgetInstruction). Bytes after them are ignored.
const (
	heapFrame     = 1
	unitsLimit    = 2
	unitsPrice    = 3
	dataSizeLimit = 4
)

// budgetSize is the least number of bytes of an instruction of the compute budget program; 0 for an unknown one.
func budgetSize(code byte) int {
	switch code {
	case heapFrame, unitsLimit, dataSizeLimit:
		return 5
	case unitsPrice:
		return 9
	}
	return 0
}

// budget reads the compute budget instructions, which apply before anything runs (Agave:
// ComputeBudgetInstructionDetails).
func (r *runner) budget() failure {
	if r.version == 1 {
		return r.budgetV1()
	}
	places := map[byte]int{}
	asked := map[byte]uint64{}
	r.limit = 0
	for n, i := range r.transaction.instructions {
		program := r.transaction.keys[i.program]
		r.limit += defaultUnits(program)
		if program != budgetProgram() {
			continue
		}
		if len(i.data) == 0 || budgetSize(i.data[0]) == 0 || len(i.data) < budgetSize(i.data[0]) {
			return instructionError(n, "InvalidInstructionData")
		}
		code := i.data[0]
		if _, again := places[code]; again {
			return map[string]any{"DuplicateInstruction": n}
		}
		var number [8]byte
		copy(number[:], i.data[1:budgetSize(code)])
		places[code], asked[code] = n, binary.LittleEndian.Uint64(number[:])
	}
	if place, set := places[heapFrame]; set && !knownHeap(asked[heapFrame]) {
		return instructionError(place, "InvalidInstructionData")
	}
	if _, set := places[dataSizeLimit]; set && asked[dataSizeLimit] == 0 {
		return "InvalidLoadedAccountsDataSizeLimit"
	}
	if _, set := places[unitsLimit]; set {
		r.limit = asked[unitsLimit]
	}
	r.limit, r.price = min(r.limit, maxUnits), asked[unitsPrice]
	r.fee = lamportsPerSignature*uint64(r.signers) + priority(r.price, r.limit)
	return nil
}

// knownHeap is sanitize_requested_heap_size: 32 to 256 KiB in whole ones.
func knownHeap(size uint64) bool { return size >= 32<<10 && size <= 256<<10 && size%1024 == 0 }

// priority is price times limit in lamports, rounded up and capped at 64 bits.
func priority(price, limit uint64) uint64 {
	const micro = 1_000_000
	high, low := bits.Mul64(price, limit)
	low, carry := bits.Add64(low, micro-1, 0)
	if high += carry; high >= micro {
		return 1 << 62
	}
	fee, _ := bits.Div64(high, low, micro)
	return min(fee, 1<<62)
}
