package solana

import (
	"fmt"
	"slices"
)

// failure is a TransactionError in the JSON form of nodes: a name, or an object with one member.
type failure any

// outcome is the outcome of running a transaction.
type outcome struct {
	err         failure // nil: it succeeded
	fee         uint64
	keys        []key // static, then writable, then readonly loaded
	loaded      [2][]key
	before      []uint64
	after       []uint64
	units       uint64
	logs        []string
	changes     map[key]account
	notIncluded bool // no block can include it: not even its fee can be charged
}

// runner runs one transaction on top of some state.
type runner struct {
	*transaction
	outcome
	ground
	limit uint64
	price uint64
}

// run executes a transaction. It does not look at blockhashes or at what has been processed.
func run(t *transaction, on ground) outcome {
	r := &runner{transaction: t, ground: on}
	r.changes = map[key]account{}
	if err := r.prepare(); err != nil {
		r.err, r.notIncluded = err, true
		return r.outcome
	}
	r.execute()
	r.advanceFailed(on)
	for _, k := range r.outcome.keys {
		r.after = append(r.after, r.get(k).lamports)
	}
	return r.outcome
}

// prepare loads the accounts and takes the fee.
func (r *runner) prepare() failure {
	if err := r.load(); err != nil {
		return err
	}
	all := slices.Clone(r.outcome.keys)
	slices.SortFunc(all, func(a, b key) int { return slices.Compare(a[:], b[:]) })
	if len(slices.Compact(all)) != len(r.outcome.keys) {
		return "AccountLoadedTwice"
	}
	if err := r.budget(); err != nil {
		return err
	}
	for _, k := range r.outcome.keys {
		r.before = append(r.before, r.state(k).lamports)
	}
	if err := r.takeFee(); err != nil {
		return err
	}
	for _, i := range r.transaction.instructions {
		if a := r.state(r.transaction.keys[i.program]); a.lamports == 0 {
			return "ProgramAccountNotFound"
		} else if !a.executable {
			return "InvalidProgramForExecution"
		}
	}
	return nil
}

// load lists the accounts, those of lookup tables included.
func (r *runner) load() failure {
	keys := slices.Clone(r.transaction.keys)
	for _, l := range r.lookups {
		table := r.state(l.table)
		if table.lamports == 0 {
			return "AddressLookupTableNotFound"
		}
		if table.owner != lookupProgram() || len(table.data) < tableHeader {
			return "InvalidAddressLookupTableOwner"
		}
		for side, places := range [][]byte{l.writable, l.readonly} {
			for _, place := range places {
				from := tableHeader + int(place)*32
				if from+32 > len(table.data) {
					return "InvalidAddressLookupTableIndex"
				}
				r.loaded[side] = append(r.loaded[side], key(table.data[from:from+32]))
			}
		}
	}
	r.outcome.keys = slices.Concat(keys, r.loaded[0], r.loaded[1])
	return nil
}

// takeFee is validate_fee_payer.
func (r *runner) takeFee() failure {
	payer, least := r.state(r.transaction.keys[0]), uint64(0)
	switch {
	case payer.lamports == 0:
		return "AccountNotFound"
	case !payer.isNonce() && (payer.owner != systemProgram() || len(payer.data) > 0):
		return "InvalidAccountForFee"
	case payer.isNonce():
		least = rentMinimum(nonceSize)
	}
	if payer.lamports < least || payer.lamports-least < r.fee {
		return "InsufficientFundsForFee"
	}
	paid := payer
	paid.lamports -= r.fee
	if !rentAllows(payer, paid) {
		return rentError(0)
	}
	r.changes[r.transaction.keys[0]] = paid
	return nil
}

// execute runs the instructions; if one fails, only the fee remains of their effects.
func (r *runner) execute() {
	payer := r.transaction.keys[0]
	paid := r.changes[payer]
	for n, i := range r.transaction.instructions {
		program := r.transaction.keys[i.program]
		r.logs = append(r.logs, fmt.Sprintf("Program %s invoke [1]", program))
		if why := r.step(program, i); why != nil {
			r.err = failure(map[string]any{"InstructionError": []any{n, why}})
			r.logs = append(r.logs, fmt.Sprintf("Program %s failed: %s", program, describe(why)))
			break
		}
		r.logs = append(r.logs, fmt.Sprintf("Program %s success", program))
	}
	if r.err == nil {
		r.err = r.checkRent(payer, paid)
	}
	if r.err != nil {
		r.changes = map[key]account{payer: paid}
	}
}

// checkRent requires every account that was written to hold nothing or enough.
func (r *runner) checkRent(payer key, paid account) failure {
	for place, k := range r.outcome.keys {
		after, changed := r.changes[k]
		if !changed {
			continue
		}
		before := r.state(k)
		if k == payer {
			before = paid
		}
		if !rentAllows(before, after) {
			return rentError(place)
		}
	}
	return nil
}

// rentAllows is transition_allowed of Agave's svm-rent-collector: nothing, or enough, or as little as before and no
// more.
func rentAllows(before, after account) bool {
	if after.lamports == 0 || after.lamports >= rentMinimum(len(after.data)) {
		return true
	}
	poor := before.lamports > 0 && before.lamports < rentMinimum(len(before.data))
	return poor && len(before.data) == len(after.data) && after.lamports <= before.lamports
}

func rentError(place int) failure {
	return map[string]any{"InsufficientFundsForRent": map[string]any{"account_index": place}}
}

func instructionError(n int, why any) failure {
	return map[string]any{"InstructionError": []any{n, why}}
}

func (r *runner) get(k key) account {
	if a, changed := r.changes[k]; changed {
		return a
	}
	return r.state(k)
}

// signs and writes report the permissions of an account of the transaction.
func (r *runner) signs(place byte) bool { return int(place) < r.signers }

func (r *runner) writes(place byte) bool {
	i, static := int(place), len(r.transaction.keys)
	if i < static {
		return r.writesOwn(place)
	}
	return !isReserved(r.outcome.keys[i]) && i < static+len(r.loaded[0])
}

// writesOwn is writes of one of the message's own keys.
func (t *transaction) writesOwn(place byte) bool {
	i := int(place)
	switch {
	case isReserved(t.keys[i]):
		return false
	case i < t.signers:
		return i < t.signers-t.readSigned
	}
	return i < len(t.keys)-t.readUnsigned
}

// step runs one instruction.
func (r *runner) step(program key, i instruction) any {
	const builtinUnits = 150
	r.units += builtinUnits
	if r.units > r.limit {
		r.units = r.limit
		return "ComputationalBudgetExceeded"
	}
	switch program {
	case budgetProgram(), memoProgram():
		return nil
	case systemProgram():
		return r.system(i)
	}
	return "UnsupportedProgramId"
}
