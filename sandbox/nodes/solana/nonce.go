package solana

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
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
