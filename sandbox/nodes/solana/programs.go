package solana

import (
	"encoding/binary"
	"fmt"
	"slices"
)

const tableHeader = 56 // LOOKUP_TABLE_META_SIZE

// tableMeta is the head of a lookup table that is not deactivated (ProgramState::LookupTable).
func tableMeta() []byte {
	return slices.Concat(le32(1), le64(never), make([]byte, tableHeader-12))
}

func systemProgram() key { return key{} }
func budgetProgram() key { return mustKey("ComputeBudget111111111111111111111111111111") }
func memoProgram() key   { return mustKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr") }
func lookupProgram() key { return mustKey("AddressLookupTab1e1111111111111111111111111") }
func nativeLoader() key  { return mustKey("NativeLoader1111111111111111111111111111111") }

// builtins are the programs that exist from genesis.
func builtins() []key {
	return []key{systemProgram(), budgetProgram(), memoProgram(), lookupProgram(),
		mustKey("Vote111111111111111111111111111111111111111"),
		mustKey("Stake11111111111111111111111111111111111111"), mustKey("BPFLoaderUpgradeab1e11111111111111111111111")}
}

// isReserved reports which accounts no transaction may write to (Agave: reserved_account_keys).
func isReserved(k key) bool { return reserved[k.String()] }

var reserved = map[string]bool{
	"11111111111111111111111111111111":            true,
	"AddressLookupTab1e1111111111111111111111111": true,
	"BPFLoader1111111111111111111111111111111111": true,
	"BPFLoader2111111111111111111111111111111111": true,
	"BPFLoaderUpgradeab1e11111111111111111111111": true,
	"ComputeBudget111111111111111111111111111111": true,
	"Config1111111111111111111111111111111111111": true,
	"Ed25519SigVerify111111111111111111111111111": true,
	"Feature111111111111111111111111111111111111": true,
	"KeccakSecp256k11111111111111111111111111111": true,
	"LoaderV411111111111111111111111111111111111": true,
	"NativeLoader1111111111111111111111111111111": true,
	"Secp256r1SigVerify1111111111111111111111111": true,
	"Stake11111111111111111111111111111111111111": true,
	"StakeConfig11111111111111111111111111111111": true,
	"Sysvar1111111111111111111111111111111111111": true,
	"Sysvar1nstructions1111111111111111111111111": true,
	"SysvarC1ock11111111111111111111111111111111": true,
	"SysvarEpochRewards1111111111111111111111111": true,
	"SysvarEpochSchedu1e111111111111111111111111": true,
	"SysvarFees111111111111111111111111111111111": true,
	"SysvarLastRestartS1ot1111111111111111111111": true,
	"SysvarRecentB1ockHashes11111111111111111111": true,
	"SysvarRent111111111111111111111111111111111": true,
	"SysvarRewards111111111111111111111111111111": true,
	"SysvarS1otHashes111111111111111111111111111": true,
	"SysvarS1otHistory11111111111111111111111111": true,
	"SysvarStakeHistory1111111111111111111111111": true,
	"Vote111111111111111111111111111111111111111": true,
	"ZkE1Gama1Proof11111111111111111111111111111": true,
	"ZkTokenProof1111111111111111111111111111111": true,
}

// defaultUnits is the compute limit of an instruction when the transaction sets no limit (SIMD-0170).
func defaultUnits(program key) uint64 {
	if isReserved(program) {
		return 3_000
	}
	return 200_000
}

// System instructions that payments need (Agave: SystemInstruction).
const (
	createCode   = 0
	assignCode   = 1
	transferCode = 2
	allocateCode = 8
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
	case code == createCode && len(data) == 48:
		if len(i.accounts) < 2 {
			return "MissingAccount"
		}
		return r.create(i.accounts[0], i.accounts[1], data)
	case code == transferCode && len(data) == 8:
		if len(i.accounts) < 2 {
			return "MissingAccount"
		}
		return r.transfer(i.accounts[0], i.accounts[1], binary.LittleEndian.Uint64(data))
	case code == assignCode && len(data) == 32:
		if len(i.accounts) < 1 {
			return "MissingAccount"
		}
		return r.assign(i.accounts[0], key(data))
	case code == allocateCode && len(data) == 8:
		if len(i.accounts) < 1 {
			return "MissingAccount"
		}
		return r.allocate(i.accounts[0], binary.LittleEndian.Uint64(data))
	}
	if why, is := r.nonces(code, i, data); is {
		return why
	}
	return "InvalidInstructionData"
}

// transfer moves lamports from an account that signs and holds no data.
func (r *runner) transfer(from, to byte, lamports uint64) any {
	if !r.signs(from) {
		r.logs = append(r.logs, fmt.Sprintf("Transfer: `from` account %s must sign", r.outcome.keys[from]))
		return "MissingRequiredSignature"
	}
	source := r.get(r.outcome.keys[from])
	if len(source.data) > 0 {
		r.logs = append(r.logs, "Transfer: `from` must not carry data")
		return "InvalidArgument"
	}
	if source.lamports < lamports {
		r.logs = append(r.logs, fmt.Sprintf("Transfer: insufficient lamports %d, need %d", source.lamports, lamports))
		return custom(negativeLamports)
	}
	return r.move(from, to, lamports)
}

// move checks write permissions even where nothing moves.
func (r *runner) move(from, to byte, lamports uint64) any {
	a, b := r.outcome.keys[from], r.outcome.keys[to]
	source := r.get(a)
	switch {
	case source.owner != systemProgram() && lamports > 0:
		return "ExternalAccountLamportSpend"
	case !r.writes(from) || !r.writes(to):
		return "ReadonlyLamportChange"
	}
	source.lamports -= lamports
	r.changes[a] = source
	target := r.get(b)
	if target.isClosed() && !r.signs(to) && lamports > 0 {
		return "ArithmeticOverflow"
	}
	target.lamports += lamports // no more than exists in total
	r.changes[b] = target
	return nil
}

// logAddress writes a log line that names an account.
func (r *runner) logAddress(format string, k key, args ...any) {
	r.logs = append(r.logs, fmt.Sprintf(format,
		append([]any{fmt.Sprintf("Address { address: %s, base: None }", k)}, args...)...))
}

// create makes an account of another program, which must not exist yet.
func (r *runner) create(from, to byte, data []byte) any {
	lamports, size, owner := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:]), key(data[16:])
	k := r.outcome.keys[to]
	if r.get(k).lamports > 0 {
		r.logAddress("Create Account: account %s already in use", k)
		return custom(accountInUse)
	}
	if why := r.allocate(to, size); why != nil {
		return why
	}
	if why := r.assign(to, owner); why != nil {
		return why
	}
	return r.transfer(from, to, lamports)
}

// allocate gives an account of the system program a size.
func (r *runner) allocate(place byte, size uint64) any {
	k := r.outcome.keys[place]
	a := r.get(k)
	switch {
	case !r.signs(place):
		r.logAddress("Allocate: 'to' account %s must sign", k)
		return "MissingRequiredSignature"
	case a.owner != systemProgram() || len(a.data) > 0:
		r.logAddress("Allocate: account %s already in use", k)
		return custom(accountInUse)
	case size > maxPermittedLength:
		r.logs = append(r.logs, fmt.Sprintf("Allocate: requested %d, max allowed %d", size, maxPermittedLength))
		return custom(invalidLength)
	case !r.writes(place):
		return "ReadonlyDataModified"
	}
	a.data = make([]byte, size)
	r.changes[k] = a
	return nil
}

// assign gives an account another owner.
func (r *runner) assign(place byte, owner key) any {
	k := r.outcome.keys[place]
	a := r.get(k)
	switch {
	case a.owner == owner:
		return nil
	case !r.signs(place):
		r.logAddress("Assign: account %s must sign", k)
		return "MissingRequiredSignature"
	case a.owner != systemProgram() || !r.writes(place):
		return "ModifiedProgramId"
	}
	a.owner = owner
	r.changes[k] = a
	return nil
}

// describe is the log line of an instruction's error.
func describe(why any) string {
	if object, is := why.(map[string]any); is {
		switch code := object["Custom"].(type) {
		case int:
			return fmt.Sprintf("custom program error: 0x%x", code)
		case float64: // read from JSON
			return fmt.Sprintf("custom program error: 0x%x", uint32(code))
		}
	}
	if words, known := instructionWords[fmt.Sprint(why)]; known {
		return words
	}
	return fmt.Sprint(why)
}

// instructionWords maps InstructionError to its text.
var instructionWords = map[string]string{
	"AccountDataTooSmall":         "account data too small for instruction",
	"ArithmeticOverflow":          "Program arithmetic overflowed",
	"ComputationalBudgetExceeded": "Computational budget exceeded",
	"ExternalAccountDataModified": "instruction modified data of an account it does not own",
	"ExternalAccountLamportSpend": "instruction spent from the balance of an account it does not own",
	"InsufficientFunds":           "insufficient funds for instruction",
	"InvalidAccountData":          "invalid account data for instruction",
	"InvalidArgument":             "invalid program argument",
	"InvalidInstructionData":      "invalid instruction data",
	"MissingAccount":              "An account required by the instruction is missing",
	"MissingRequiredSignature":    "missing required signature for instruction",
	"ModifiedProgramId":           "instruction illegally modified the program id of an account",
	"ReadonlyDataModified":        "instruction modified data of a read-only account",
	"ReadonlyLamportChange":       "instruction changed the balance of a read-only account",
	"UnsupportedProgramId":        "Unsupported program id",
}

// explain is the text of a TransactionError, as simulation failures carry it.
func explain(err failure) string {
	words := map[string]string{
		"BlockhashNotFound":                 "Blockhash not found",
		"AlreadyProcessed":                  "This transaction has already been processed",
		"AccountNotFound":                   "Attempt to debit an account but found no record of a prior credit.",
		"InsufficientFundsForFee":           "Insufficient funds for fee",
		"InvalidAccountForFee":              "This account may not be used to pay transaction fees",
		"AccountLoadedTwice":                "Account loaded twice",
		"ProgramAccountNotFound":            "Attempt to load a program that does not exist",
		"InvalidProgramForExecution":        "This program may not be used for executing instructions",
		"AddressLookupTableNotFound":        "Transaction loads an address table account that doesn't exist",
		"MaxLoadedAccountsDataSizeExceeded": "Transaction exceeded max loaded accounts data size cap",
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
