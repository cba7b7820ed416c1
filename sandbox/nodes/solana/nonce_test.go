package solana

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/bursar/bursar/sandbox/litesvm"
)

func system(code uint32, uses []use, data ...[]byte) doing {
	return doing{systemProgram(), uses, slices.Concat(append([][]byte{le32(code)}, data...)...)}
}

// nonceDoings are instructions about a nonce account as @solana/web3.js 1.98 writes them.
func createNonce(from, at key, lamports uint64) doing {
	owner := systemProgram()
	return system(createCode, []use{{from, true, true}, {at, true, true}}, le64(lamports), le64(nonceSize), owner[:])
}

func initializeNonce(at, authority key) doing {
	return system(initializeCode, []use{{at, false, true}, {recentHashes(), false, false}, {rentSysvar(), false, false}},
		authority[:])
}

func advanceNonce(at, authority key) doing {
	return system(advanceCode, []use{{at, false, true}, {recentHashes(), false, false}, {authority, true, false}})
}

func authorizeNonce(at, authority, next key) doing {
	return system(authorizeCode, []use{{at, false, true}, {authority, true, false}}, next[:])
}

func withdrawNonce(at, authority, to key, lamports uint64) doing {
	return system(withdrawCode, []use{{at, false, true}, {to, false, true}, {recentHashes(), false, false},
		{rentSysvar(), false, false}, {authority, true, false}}, le64(lamports))
}

// nonceRivals are the simulator's bank and LiteSVM, with the same accounts and the same newest blockhash.
type nonceRivals struct {
	*testing.T
	bank *bank
	vm   *litesvm.VM
	ours machine // what executes in the bank
}

func newNonceRivals(t *testing.T, ours func(vm *litesvm.VM) machine) *nonceRivals {
	t.Helper()
	r := &nonceRivals{T: t, bank: newBank(nativePrograms(), nil, 0), vm: startVM(t, litesvm.Config{Ledger: true})}
	r.ours = ours(startVM(t, litesvm.Config{}))
	r.next()
	return r
}

func (r *nonceRivals) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// next gives both a new blockhash.
func (r *nonceRivals) next() {
	r.Helper()
	text, err := r.vm.Expire()
	r.must(err)
	head := r.bank.head()
	r.bank.push(&block{slot: head.slot + 1, height: head.height + 1, hash: mustKey(text), undo: map[key]account{}})
}

func (r *nonceRivals) last() key { return r.bank.head().hash }

func (r *nonceRivals) put(k key, a account) {
	r.Helper()
	r.bank.put(k, a)
	r.must(r.vm.Set(litesvm.Account{Key: k[:], Lamports: a.lamports, Owner: a.owner[:], Data: a.data}))
}

// feed has both execute a transaction, and returns its outcome, which must be the same: error, units, logs, and every
// account to the byte.
func (r *nonceRivals) feed(what string, m making) outcome {
	r.Helper()
	raw := m.raw()
	t, err := parseTransaction(raw)
	r.must(err)
	x := r.bank.begin(blockPlan{Slot: r.bank.head().slot + 1})
	state := func(k key) account { return r.bank.accounts[k] }
	on, accepted, _ := r.bank.groundOf(len(r.bank.blocks)-1, x.height, t, state)
	o := outcome{err: "BlockhashNotFound", notIncluded: true}
	if accepted && t.verify() {
		o, err = r.ours.run(t, on)
		r.must(err)
	}
	var keys [][]byte
	for _, k := range t.keys {
		keys = append(keys, k[:])
	}
	verdict, err := r.vm.Send(litesvm.Order{Raw: raw, Read: keys})
	r.must(err)
	for k, a := range o.changes {
		r.bank.put(k, a)
	}
	if got, want := r.text(o.err), r.text(verdict.Err); got != want {
		r.Errorf("%s: got %s, LiteSVM has %s\n%q\n%q", what, got, want, o.logs, verdict.Logs)
	}
	if !o.notIncluded && (o.units != verdict.Units || r.text(o.logs) != r.text(verdict.Logs)) {
		r.Errorf("%s: got %d units and %q, LiteSVM has %d and %q", what, o.units, o.logs, verdict.Units, verdict.Logs)
	}
	for i, theirs := range verdict.Accounts {
		k := t.keys[i]
		if isReserved(k) {
			continue
		}
		a, b := r.bank.accounts[k], fromSVM(theirs)
		if !o.notIncluded && on.nonce != nil && k == *on.nonce {
			b = exchangeFor(t, on).of(b)
			r.advanced(what, k, &b, o.err)
		}
		if !a.same(b) {
			r.Errorf("%s: account %s is %+v, LiteSVM has %+v", what, k, a, b)
		}
	}
	return o
}

// advanced checks that a nonce that was used is advanced, after a failure too, which LiteSVM forgets; and gives
// LiteSVM, which takes another blockhash for the newest one, the same value.
func (r *nonceRivals) advanced(what string, k key, theirs *account, failed failure) {
	r.Helper()
	a := r.bank.accounts[k]
	if n, _ := nonceIn(a.data); n.value != durable(r.last()) {
		r.Errorf("%s: the nonce is %s, want it advanced to %s", what, n.value, durable(r.last()))
	}
	if failed != nil && len(theirs.data) == len(a.data) {
		theirs.data = a.data
	}
	r.put(k, a)
}

func (r *nonceRivals) text(v any) string {
	r.Helper()
	raw, err := json.Marshal(v)
	r.must(err)
	return string(raw)
}

func (r *nonceRivals) value(k key) key {
	n, _ := nonceIn(r.bank.accounts[k].data)
	return n.value
}

// ourMachines are what executes in the sandbox: its own code, and LiteSVM with the node's blockhashes.
var ourMachines = map[string]func(vm *litesvm.VM) machine{
	"own":     func(*litesvm.VM) machine { return programs{} },
	"LiteSVM": func(vm *litesvm.VM) machine { return svm{vm} },
}

// TestNoncesInLiteSVM checks that nonce accounts are made, advanced, handed on and ended as in LiteSVM 1.5, with every
// refusal, and that a transaction whose blockhash is a nonce's value is accepted where LiteSVM accepts it.
func TestNoncesInLiteSVM(t *testing.T) {
	t.Parallel()
	for name, ours := range ourMachines {
		t.Run(name, func(t *testing.T) { t.Parallel(); newNonceRivals(t, ours).play() })
	}
}

func (r *nonceRivals) play() {
	payer, cold, other, at, to := newHolder("payer"), newHolder("cold"), newHolder("other"), newHolder("nonce"),
		newHolder("to").key
	least := rentMinimum(nonceSize)
	for _, h := range []holder{payer, cold, other} {
		r.put(h.key, account{lamports: 10_000_000_000})
	}
	count := uint64(0)
	do := func(what string, want any, hash key, doings ...doing) {
		r.Helper()
		count++ // no two are the same
		doings = append(doings, transferOfLamports(payer.key, to, 1_000_000+count))
		o := r.feed(what, making{payer: payer, others: []holder{cold, other, at}, blockhash: hash, versioned: count%2 == 0,
			doings: doings})
		if r.text(o.err) != r.text(want) {
			r.Errorf("%s: got %s, want %s", what, r.text(o.err), r.text(want))
		}
	}
	failed := func(place int, why any) any { return instructionError(place, why) }
	do("with too little", failed(1, "InsufficientFunds"), r.last(), createNonce(payer.key, at.key, least-1),
		initializeNonce(at.key, cold.key))
	do("of no account", failed(0, "InvalidAccountData"), r.last(), initializeNonce(at.key, cold.key))
	do("made", nil, r.last(), createNonce(payer.key, at.key, least+1_000_000), initializeNonce(at.key, cold.key))
	first := r.value(at.key)
	do("made again", failed(0, "InvalidAccountData"), r.last(), initializeNonce(at.key, other.key))
	do("in the same block", "BlockhashNotFound", first, advanceNonce(at.key, cold.key))
	do("advanced in the same block", failed(0, custom(nonceTooEarly)), r.last(), advanceNonce(at.key, cold.key))
	do("ended in the same block", failed(0, custom(nonceTooEarly)), r.last(),
		withdrawNonce(at.key, cold.key, to, least+1_000_000))
	r.next()
	do("by another", failed(0, "MissingRequiredSignature"), r.last(), advanceNonce(at.key, other.key))
	do("with a nonce by another", "BlockhashNotFound", first, advanceNonce(at.key, other.key))
	do("behind another instruction", "BlockhashNotFound", first, transferOfLamports(payer.key, to, 1),
		advanceNonce(at.key, cold.key))
	readOnly := advanceNonce(at.key, cold.key)
	readOnly.uses[0].writes = false
	do("that is only read", failed(0, "InvalidArgument"), r.last(), readOnly)
	do("with a nonce that is only read", "BlockhashNotFound", first, readOnly)
	strange := advanceNonce(at.key, cold.key)
	strange.uses[1].key = rentSysvar()
	do("with another sysvar", failed(0, "InvalidArgument"), r.last(), strange)
	short := advanceNonce(at.key, cold.key)
	short.uses = short.uses[:1]
	do("with too few accounts", failed(0, "MissingAccount"), r.last(), short)
	do("with a value that is none", "BlockhashNotFound", durable(key{1}), advanceNonce(at.key, cold.key))
	do("with a nonce", nil, first, advanceNonce(at.key, cold.key))
	do("with the nonce of before", "BlockhashNotFound", first, advanceNonce(at.key, cold.key))
	r.next()
	second := r.value(at.key)
	if second == first {
		r.Errorf("the nonce is %s still, want another", second)
	}
	do("that fails behind a nonce", failed(1, custom(negativeLamports)), second, advanceNonce(at.key, cold.key),
		transferOfLamports(other.key, to, 1<<62))
	r.next()
	do("with what failed", "BlockhashNotFound", second, advanceNonce(at.key, cold.key))
	do("advanced without a nonce", nil, r.last(), advanceNonce(at.key, cold.key))
	r.next()
	do("given away by another", failed(0, "MissingRequiredSignature"), r.last(),
		authorizeNonce(at.key, other.key, other.key))
	do("given away", nil, r.last(), authorizeNonce(at.key, cold.key, other.key))
	do("by who gave it away", "BlockhashNotFound", r.value(at.key), advanceNonce(at.key, cold.key))
	do("by the next", nil, r.value(at.key), advanceNonce(at.key, other.key))
	r.next()
	do("below the minimum", failed(0, "InsufficientFunds"), r.last(), withdrawNonce(at.key, other.key, to, 1_000_001))
	do("more than there is", failed(0, "InsufficientFunds"), r.last(), withdrawNonce(at.key, other.key, to, 1<<40))
	do("withdrawn by another", failed(0, "MissingRequiredSignature"), r.last(), withdrawNonce(at.key, cold.key, to, 10))
	do("what is above the minimum", nil, r.last(), withdrawNonce(at.key, other.key, to, 1_000_000))
	do("a transfer from it", failed(0, "InvalidArgument"), r.last(), transferOfLamports(at.key, to, 1))
	do("ended", nil, r.last(), withdrawNonce(at.key, other.key, to, least))
	do("of what ended", "BlockhashNotFound", second, advanceNonce(at.key, other.key))
	if a, there := r.bank.accounts[at.key]; there {
		r.Errorf("the account is %+v, want none", a)
	}
}

// A nonce account may pay the fee of its own transaction, down to its minimum.
func TestANonceAccountPaysFeesAsInLiteSVM(t *testing.T) {
	t.Parallel()
	r := newNonceRivals(t, ourMachines["own"])
	at, to := newHolder("nonce"), newHolder("to").key
	r.put(to, account{lamports: 1_000_000_000})
	for i, test := range []struct {
		lamports uint64
		want     any
	}{{lamportsPerSignature - 1, "InsufficientFundsForFee"}, {lamportsPerSignature, nil}} {
		n := nonce{1, true, at.key, durable(key{byte(i)})}
		r.put(at.key, account{lamports: rentMinimum(nonceSize) + test.lamports, data: n.written(make([]byte, nonceSize))})
		o := r.feed(fmt.Sprint(test.lamports), making{payer: at, blockhash: n.value,
			doings: []doing{advanceNonce(at.key, at.key)}})
		if r.text(o.err) != r.text(test.want) {
			t.Errorf("with %d lamports: got %v, want %v", test.lamports, o.err, test.want)
		}
	}
	value := durable(r.last())
	if data := r.bank.accounts[at.key].data; !bytes.Equal(data[40:72], value[:]) {
		t.Errorf("the nonce is %x, want it advanced", data[40:72])
	}
}
