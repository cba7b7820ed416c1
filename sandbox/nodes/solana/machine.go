package solana

import (
	"bytes"
	"fmt"

	"github.com/bursar/bursar/sandbox/litesvm"
)

// machine executes transactions. The node does the rest: slots, blockhashes, which transactions have been processed,
// and signatures, which it checks first.
type machine interface {
	// run executes a transaction on a state, which it does not change. An error means that the outcome is unknown; a
	// failing transaction is an outcome.
	run(t *transaction, on ground) (outcome, error)
	// builtins are the programs that exist from genesis.
	builtins() (map[key]account, error)
}

// programs is the machine of this package: as much as payments need.
type programs struct{}

func (programs) run(t *transaction, on ground) (outcome, error) { return run(t, on), nil }

func (programs) builtins() (map[key]account, error) { return nativePrograms(), nil }

func nativePrograms() map[key]account {
	accounts := map[key]account{}
	for _, k := range builtins() {
		accounts[k] = account{lamports: 1, owner: nativeLoader(), executable: true}
	}
	return accounts
}

// svm is LiteSVM. It is given the accounts of each transaction and forgets nothing, so every account that a
// transaction names is given to it, those that do not exist as well.
type svm struct{ vm *litesvm.VM }

// builtins are the machine's own programs, some of which it executes.
func (s svm) builtins() (map[key]account, error) {
	var keys [][]byte
	for _, k := range builtins() {
		keys = append(keys, k[:])
	}
	found, err := s.vm.Read(keys...)
	accounts := map[key]account{}
	for _, a := range found {
		accounts[key(a.Key)] = fromSVM(a)
	}
	return accounts, err
}

func (s svm) run(t *transaction, on ground) (outcome, error) {
	o := outcome{changes: map[key]account{}}
	nonces, state, loading := exchangeFor(t, on), on.state, &runner{transaction: t, ground: on}
	if loading.load() == nil {
		o.keys, o.loaded = loading.outcome.keys, loading.outcome.loaded
	} else {
		o.keys = t.keys // the machine reports what is wrong
	}
	h := handOver(t, o.keys, func(k key) account { return nonces.of(state(k)) })
	verdict, err := s.vm.Send(litesvm.Order{Raw: t.raw, Accounts: h.accounts, Read: h.keys, Unsigned: true})
	if err != nil {
		return o, fmt.Errorf("execute %s: %w", t.id(), err)
	}
	o.err, o.units, o.logs = verdict.Err, verdict.Units, verdict.Logs
	for i, after := range verdict.Accounts {
		before := h.accounts[i]
		o.fee += before.Lamports - after.Lamports // an intermediate sum wraps around; the difference is the fee
		if a := nonces.of(fromSVM(after)); !a.same(nonces.of(fromSVM(before))) {
			k := key(after.Key)
			a.executable = a.executable || state(k).isClosed()
			o.changes[k] = a
		}
	}
	o.notIncluded = o.err != nil && o.fee == 0
	o.advanceFailed(on)
	for _, k := range o.keys {
		before := state(k)
		after, changed := o.changes[k]
		if !changed {
			after = before
		}
		o.before, o.after = append(o.before, before.lamports), append(o.after, after.lamports)
	}
	return o, nil
}

// handed is the set of accounts that the machine is given, and that are read back afterwards.
type handed struct {
	accounts []litesvm.Account
	keys     [][]byte
}

// handOver collects every account that a transaction names, once, except those that never change.
func handOver(t *transaction, keys []key, state func(key) account) (h handed) {
	for _, l := range t.lookups {
		keys = append(keys[:len(keys):len(keys)], l.table)
	}
	seen := map[key]bool{}
	for place, k := range keys {
		if seen[k] || isReserved(k) {
			continue
		}
		seen[k] = true
		a := state(k)
		if a.isClosed() {
			a.executable = false
			if place >= t.signers {
				a.lamports = brim
			}
		}
		h.accounts = append(h.accounts, litesvm.Account{
			Key:        k[:],
			Lamports:   a.lamports,
			Owner:      a.owner[:],
			Data:       a.data,
			Executable: a.executable,
		})
		h.keys = append(h.keys, k[:])
	}
	return h
}

// brim is the balance that a closed account is given: the real machine fails whatever would increase it.
const brim = 1<<64 - 1

func fromSVM(a litesvm.Account) account {
	return account{lamports: a.Lamports, owner: key(a.Owner), data: a.Data, executable: a.Executable}
}

func (a account) same(b account) bool {
	return a.lamports == b.lamports && a.owner == b.owner && a.executable == b.executable && bytes.Equal(a.data, b.data)
}
