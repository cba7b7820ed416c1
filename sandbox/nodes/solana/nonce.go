package solana

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
)

// Durable nonces as Agave 3.1 has them: programs/system, runtime's check_transactions and svm's rollback_accounts, with
// the states of solana-nonce 3.0. The value of a nonce account stands in place of a blockhash, and every transaction
// that uses it changes it, whether it succeeds or not.

func recentHashes() key { return mustKey("SysvarRecentB1ockHashes11111111111111111111") }
func rentSysvar() key   { return mustKey("SysvarRent111111111111111111111111111111111") }

// Instructions of the system program about nonce accounts (SystemInstruction).
const (
	advanceCode    = 4
	withdrawCode   = 5
	initializeCode = 6
	authorizeCode  = 7
)

// nonceSize is State::size: two numbers of 4 bytes, the authority, the value, and the price of a signature.
const nonceSize = 80

// nonceTooEarly is SystemError::NonceBlockhashNotExpired.
const nonceTooEarly = 7

// durable is the value that a nonce takes while a blockhash is the newest one (DurableNonce::from_blockhash).
func durable(blockhash key) key {
	return sha256.Sum256(append([]byte("DURABLE_NONCE"), blockhash[:]...))
}

// nonce is the state of a nonce account (Versions and State). The versions are legacy and current.
type nonce struct {
	version   uint32 // 1: current
	ready     bool   // Initialized
	authority key
	value     key
}

// nonceIn reads the data of an account; false if it has no such state.
func nonceIn(data []byte) (n nonce, is bool) {
	if len(data) < 8 {
		return n, false
	}
	version, state := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:])
	if version > 1 || state > 1 || state == 1 && len(data) < nonceSize {
		return n, false
	}
	n.version, n.ready = version, state == 1
	if n.ready {
		n.authority, n.value = key(data[8:]), key(data[40:])
	}
	return n, true
}

// written is the data of an account with another state; what is behind the state stays.
func (n nonce) written(data []byte) []byte {
	state := le32(n.version)
	if n.ready {
		state = slices.Concat(state, le32(1), n.authority[:], n.value[:], le64(lamportsPerSignature))
	} else {
		state = append(state, le32(0)...)
	}
	out := bytes.Clone(data)
	copy(out, state)
	return out
}

// isNonce reports whether an account may pay fees as one with a nonce (get_system_account_kind).
func (a account) isNonce() bool {
	n, is := nonceIn(a.data)
	return is && n.ready && a.owner == systemProgram() && len(a.data) == nonceSize
}

// noncePlace is the nonce account that a transaction names in place of a blockhash: its first instruction advances it,
// it is among the message's own keys, and it is written to (SVMMessage::get_durable_nonce).
func (t *transaction) noncePlace() (place byte, names bool) {
	if len(t.instructions) == 0 {
		return 0, false
	}
	first := t.instructions[0]
	if t.keys[first.program] != systemProgram() || !bytes.Equal(first.data, le32(advanceCode)) ||
		len(first.accounts) == 0 {
		return 0, false
	}
	place = first.accounts[0]
	return place, int(place) < len(t.keys) && t.writesOwn(place)
}

// ground is what a transaction is executed on.
type ground struct {
	state func(key) account
	last  key  // the newest blockhash
	nonce *key // the account whose value stands in place of the transaction's blockhash; nil: it has a blockhash
}

// groundOf is what a transaction is executed on in a block of a height on top of an index. It is not accepted if its
// blockhash is neither recent nor the value of the nonce that it advances, with its authority's signature. later
// reports that another block may accept it: a nonce is used once in each block (check_transaction_age).
func (b *bank) groundOf(
	place int, height uint64, t *transaction, state func(key) account,
) (on ground, accepted, later bool) {
	on = ground{state: state, last: b.blocks[place].hash}
	if b.validAt(place, height, t.blockhash) {
		return on, true, true
	}
	at, names := t.noncePlace()
	if !names {
		return on, false, false
	}
	k := t.keys[at]
	a := state(k)
	n, is := nonceIn(a.data)
	if !is || a.owner != systemProgram() || n.version != 1 || !n.ready || n.value != t.blockhash ||
		!t.signedFor(t.instructions[0], n.authority) {
		return on, false, false
	}
	on.nonce = &k
	return on, n.value != durable(on.last), true
}

// signedFor reports whether an instruction's accounts have a key that signs.
func (t *transaction) signedFor(i instruction, k key) bool {
	return slices.ContainsFunc(i.accounts, func(place byte) bool { return int(place) < t.signers && t.keys[place] == k })
}

// advanceFailed advances the nonce of a transaction that failed and pays its fee (RollbackAccounts).
func (o *outcome) advanceFailed(on ground) {
	if on.nonce == nil || o.err == nil || o.notIncluded {
		return
	}
	a, pays := o.changes[*on.nonce]
	if !pays {
		a = on.state(*on.nonce)
	}
	n, _ := nonceIn(a.data) // groundOf has read it
	n.value = durable(on.last)
	a.data = n.written(a.data)
	o.changes[*on.nonce] = a
}

// nonces runs an instruction about a nonce account; false if the code and the length are of none.
func (r *runner) nonces(code uint32, i instruction, data []byte) (why any, is bool) {
	var run func(place byte) any
	switch {
	case code == advanceCode && len(data) == 0:
		run = func(place byte) any { return r.advance(i, place) }
	case code == withdrawCode && len(data) == 8:
		run = func(place byte) any { return r.withdraw(i, place, binary.LittleEndian.Uint64(data)) }
	case code == initializeCode && len(data) == 32:
		run = func(place byte) any { return r.initialize(i, place, key(data)) }
	case code == authorizeCode && len(data) == 32:
		run = func(place byte) any { return r.authorize(i, place, key(data)) }
	default:
		return nil, false
	}
	if len(i.accounts) == 0 || code == withdrawCode && len(i.accounts) < 2 {
		return "MissingAccount", true
	}
	return run(i.accounts[0]), true
}

// sysvar checks that an instruction names an account of the chain's own in its place.
func (r *runner) sysvar(i instruction, at int, want key) any {
	if at >= len(i.accounts) {
		return "MissingAccount"
	}
	if r.outcome.keys[i.accounts[at]] != want {
		return "InvalidArgument"
	}
	return nil
}

// held returns the state of a nonce account that an instruction writes to.
func (r *runner) held(place byte, what string) (n nonce, why any) {
	k := r.outcome.keys[place]
	if !r.writes(place) {
		r.logs = append(r.logs, fmt.Sprintf("%s nonce account: Account %s must be writeable", what, k))
		return n, "InvalidArgument"
	}
	n, is := nonceIn(r.get(k).data)
	if !is {
		return n, "InvalidAccountData"
	}
	return n, nil
}

// keep writes the state of a nonce account.
func (r *runner) keep(place byte, n nonce) any {
	k := r.outcome.keys[place]
	a := r.get(k)
	switch {
	case a.owner != systemProgram():
		return "ExternalAccountDataModified"
	case n.ready && len(a.data) < nonceSize:
		return "AccountDataTooSmall"
	}
	a.data = n.written(a.data)
	r.changes[k] = a
	return nil
}

// invalid is the refusal of a state.
func (r *runner) invalid(place byte, what string) any {
	r.logs = append(r.logs, fmt.Sprintf("%s nonce account: Account %s state is invalid", what, r.outcome.keys[place]))
	return "InvalidAccountData"
}

func (r *runner) advance(i instruction, place byte) any {
	if why := r.sysvar(i, 1, recentHashes()); why != nil {
		return why
	}
	n, why := r.held(place, "Advance")
	switch {
	case why != nil:
		return why
	case !n.ready:
		return r.invalid(place, "Advance")
	case !r.signedFor(i, n.authority):
		r.logs = append(r.logs, fmt.Sprintf("Advance nonce account: Account %s must be a signer", n.authority))
		return "MissingRequiredSignature"
	case n.value == durable(r.last):
		r.logs = append(r.logs, "Advance nonce account: nonce can only advance once per slot")
		return custom(nonceTooEarly)
	}
	n.version, n.value = 1, durable(r.last)
	return r.keep(place, n)
}

func (r *runner) initialize(i instruction, place byte, authority key) any {
	if why := r.sysvar(i, 1, recentHashes()); why != nil {
		return why
	}
	if why := r.sysvar(i, 2, rentSysvar()); why != nil {
		return why
	}
	n, why := r.held(place, "Initialize")
	if why != nil {
		return why
	}
	if n.ready {
		return r.invalid(place, "Initialize")
	}
	a := r.get(r.outcome.keys[place])
	if least := rentMinimum(len(a.data)); a.lamports < least {
		r.logs = append(r.logs, fmt.Sprintf("Initialize nonce account: insufficient lamports %d, need %d", a.lamports, least))
		return "InsufficientFunds"
	}
	return r.keep(place, nonce{1, true, authority, durable(r.last)})
}

func (r *runner) authorize(i instruction, place byte, authority key) any {
	n, why := r.held(place, "Authorize")
	switch {
	case why != nil:
		return why
	case !n.ready:
		return r.invalid(place, "Authorize")
	case !r.signedFor(i, n.authority):
		r.logs = append(r.logs, fmt.Sprintf("Authorize nonce account: Account %s must sign", n.authority))
		return "MissingRequiredSignature"
	}
	n.authority = authority
	return r.keep(place, n)
}

// withdraw takes lamports out of a nonce account: all of them, which ends its nonce, or what leaves it the minimum.
func (r *runner) withdraw(i instruction, place byte, lamports uint64) any {
	if why := r.sysvar(i, 2, recentHashes()); why != nil {
		return why
	}
	if why := r.sysvar(i, 3, rentSysvar()); why != nil {
		return why
	}
	n, why := r.held(place, "Withdraw")
	if why != nil {
		return why
	}
	k := r.outcome.keys[place]
	a, by := r.get(k), n.authority
	least := uint64(0)
	if n.ready && lamports != a.lamports {
		least = rentMinimum(len(a.data))
	}
	switch {
	case lamports > a.lamports || least > a.lamports-lamports:
		r.logs = append(r.logs, fmt.Sprintf("Withdraw nonce account: insufficient lamports %d, need %d", a.lamports,
			lamports+least))
		return "InsufficientFunds"
	case !n.ready:
		by = k
	case lamports == a.lamports && n.value == durable(r.last):
		r.logs = append(r.logs, "Withdraw nonce account: nonce can only advance once per slot")
		return custom(nonceTooEarly)
	case lamports == a.lamports:
		if why := r.keep(place, nonce{version: 1}); why != nil {
			return why
		}
	}
	if !r.signedFor(i, by) {
		r.logs = append(r.logs, fmt.Sprintf("Withdraw nonce account: Account %s must sign", by))
		return "MissingRequiredSignature"
	}
	return r.move(place, i.accounts[1], lamports)
}
