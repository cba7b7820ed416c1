package xrpl

import "slices"

// account is an AccountRoot.
type account struct {
	balance  uint64 // drops
	sequence uint32
	flags    uint32
	owned    uint32
	signers  *signerList // nil: none
}

// version is an account after a ledger; gone means that the ledger deleted it.
type version struct {
	ledger uint32
	account
	gone bool
}

// state is every account in every validated ledger.
type state map[accountID][]version

// at returns an account after a ledger.
func (s state) at(id accountID, ledger uint32) (account, bool) {
	versions := s[id]
	i, exact := slices.BinarySearchFunc(versions, ledger, func(v version, l uint32) int { return int(v.ledger) - int(l) })
	if !exact {
		i--
	}
	if i < 0 || versions[i].gone {
		return account{}, false
	}
	return versions[i].account, true
}

// view is the state of a ledger that is still open: changes on top of a validated one.
type view struct {
	under   state
	tip     uint32 // the validated ledger below
	changed map[accountID]*account
}

func newView(under state, tip uint32) *view {
	return &view{under: under, tip: tip, changed: map[accountID]*account{}}
}

// get returns an account, nil if it does not exist.
func (v *view) get(id accountID) *account {
	if a, changed := v.changed[id]; changed {
		return a
	}
	a, exists := v.under.at(id, v.tip)
	if !exists {
		return nil
	}
	return &a
}

// put changes an account; nil deletes it.
func (v *view) put(id accountID, a *account) { v.changed[id] = a }

// commit makes the changes those of a validated ledger.
func (v *view) commit(ledger uint32) {
	for id, a := range v.changed {
		next := version{ledger: ledger, gone: a == nil}
		if a != nil {
			next.account = *a
		}
		v.under[id] = append(v.under[id], next)
	}
}
