package solana

import (
	"encoding/binary"
	"fmt"
)

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
