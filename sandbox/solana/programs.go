package solana

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

const (
	maxUnits    = 1_400_000
	tableHeader = 56 // LOOKUP_TABLE_META_SIZE
)

func systemProgram() key { return key{} }
func budgetProgram() key { return mustKey("ComputeBudget111111111111111111111111111111") }
func memoProgram() key   { return mustKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr") }
func lookupProgram() key { return mustKey("AddressLookupTab1e1111111111111111111111111") }
func nativeLoader() key  { return mustKey("NativeLoader1111111111111111111111111111111") }

// builtins are the programs that are there from genesis.
func builtins() []key {
	return []key{systemProgram(), budgetProgram(), memoProgram(), lookupProgram(), mustKey("Vote111111111111111111111111111111111111111"),
		mustKey("Stake11111111111111111111111111111111111111"), mustKey("BPFLoaderUpgradeab1e11111111111111111111111")}
}

// isReserved says which accounts no transaction may write to.
func isReserved(k key) bool {
	return slices.Contains(builtins(), k) || strings.HasPrefix(k.String(), "Sysvar")
}

// defaultUnits is what an instruction may compute when the transaction sets no limit (SIMD-0170).
func defaultUnits(program key) uint64 {
	if program == memoProgram() {
		return 200_000
	}
	return 3_000
}

// knownBudget reports whether compute budget data has a form of its program: heap frame, limit, price, data size.
func knownBudget(data []byte) bool {
	return len(data) == 5 && (data[0] == 1 || data[0] == 2 || data[0] == 4) || len(data) == 9 && data[0] == 3
}

// System instructions that payments need (Agave: SystemInstruction).
const (
	createAccount = 0
	assign        = 1
	transferCode  = 2
	allocate      = 8
)

// custom is a program's own error.
func custom(code int) any { return map[string]any{"Custom": code} }

// Errors of the system program (SystemError).
const (
	accountInUse       = 0
	negativeLamports   = 1
	invalidLength      = 3
	maxPermittedLength = 10 << 20
)

// system runs an instruction of the system program.
func (r *runner) system(i instruction) any {
	if len(i.data) < 4 {
		return "InvalidInstructionData"
	}
	code, data := binary.LittleEndian.Uint32(i.data), i.data[4:]
	switch {
	case code == createAccount && len(data) == 48:
		if len(i.accounts) < 2 {
			return "NotEnoughAccountKeys"
		}
		return r.create(i.accounts[0], i.accounts[1], data)
	case code == transferCode && len(data) == 8:
		if len(i.accounts) < 2 {
			return "NotEnoughAccountKeys"
		}
		return r.transfer(i.accounts[0], i.accounts[1], binary.LittleEndian.Uint64(data))
	case code == assign && len(data) == 32, code == allocate && len(data) == 8:
		if len(i.accounts) < 1 {
			return "NotEnoughAccountKeys"
		}
		return r.reshape(i.accounts[0], code, data)
	}
	return "InvalidInstructionData"
}

// transfer moves lamports from an account that signs and holds no data.
func (r *runner) transfer(from, to byte, lamports uint64) any {
	if !r.signs(from) {
		return "MissingRequiredSignature"
	}
	source := r.get(r.outcome.keys[from])
	if len(source.data) > 0 {
		return "InvalidArgument"
	}
	if source.lamports < lamports {
		r.logs = append(r.logs, fmt.Sprintf("Transfer: insufficient lamports %d, need %d", source.lamports, lamports))
		return custom(negativeLamports)
	}
	return r.move(from, to, lamports)
}

func (r *runner) move(from, to byte, lamports uint64) any {
	if lamports == 0 || from == to {
		return nil
	}
	a, b := r.outcome.keys[from], r.outcome.keys[to]
	source, target := r.get(a), r.get(b)
	switch {
	case source.owner != systemProgram():
		return "ExternalAccountLamportSpend"
	case !r.writes(from) || !r.writes(to):
		return "ReadonlyLamportChange"
	case source.executable || target.executable:
		return "ExecutableLamportChange"
	}
	source.lamports -= lamports
	target.lamports += lamports // no more than all there is
	r.changes[a], r.changes[b] = source, target
	return nil
}

// create makes an account of another program, which must not be there yet.
func (r *runner) create(from, to byte, data []byte) any {
	lamports, size, owner := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:]), key(data[16:])
	if !r.signs(from) || !r.signs(to) {
		return "MissingRequiredSignature"
	}
	if r.get(r.outcome.keys[to]).lamports > 0 {
		return custom(accountInUse)
	}
	if size > maxPermittedLength {
		return custom(invalidLength)
	}
	if why := r.transfer(from, to, lamports); why != nil {
		return why
	}
	made := r.get(r.outcome.keys[to])
	made.owner, made.data = owner, make([]byte, size)
	r.changes[r.outcome.keys[to]] = made
	return nil
}

// reshape gives an account of the system program a size or another owner.
func (r *runner) reshape(place byte, code uint32, data []byte) any {
	k := r.outcome.keys[place]
	a := r.get(k)
	switch {
	case !r.signs(place):
		return "MissingRequiredSignature"
	case !r.writes(place):
		return "ReadonlyDataModified"
	case a.owner != systemProgram() || len(a.data) > 0:
		return custom(accountInUse)
	}
	if code == assign {
		a.owner = key(data)
	} else if size := binary.LittleEndian.Uint64(data); size > maxPermittedLength {
		return custom(invalidLength)
	} else {
		a.data = make([]byte, size)
	}
	r.changes[k] = a
	return nil
}

// describe is the log line of an instruction's error.
func describe(why any) string {
	if object, is := why.(map[string]any); is {
		if code, is := object["Custom"].(int); is {
			return fmt.Sprintf("custom program error: 0x%x", code)
		}
	}
	return fmt.Sprint(why)
}

// explain is a TransactionError in words, as simulation failures carry it.
func explain(err failure) string {
	words := map[string]string{
		"BlockhashNotFound":          "Blockhash not found",
		"AlreadyProcessed":           "This transaction has already been processed",
		"AccountNotFound":            "Attempt to debit an account but found no record of a prior credit.",
		"InsufficientFundsForFee":    "Insufficient funds for fee",
		"InvalidAccountForFee":       "This account may not be used to pay transaction fees",
		"AccountLoadedTwice":         "Account loaded twice",
		"ProgramAccountNotFound":     "Attempt to load a program that does not exist",
		"InvalidProgramForExecution": "This program may not be used for executing instructions",
		"AddressLookupTableNotFound": "Transaction loads an address table account that doesn't exist",
	}
	switch e := err.(type) {
	case string:
		if w, known := words[e]; known {
			return w
		}
		return e
	case map[string]any:
		if pair, is := e["InstructionError"].([]any); is {
			return fmt.Sprintf("Error processing Instruction %v: %s", pair[0], describe(pair[1]))
		}
		if rent, is := e["InsufficientFundsForRent"].(map[string]any); is {
			return fmt.Sprintf("Transaction results in an account (%v) with insufficient funds for rent", rent["account_index"])
		}
	}
	return fmt.Sprint(err)
}
