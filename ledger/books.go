package ledger

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bursar/bursar"
)

// ErrInsufficient is returned for an entry that would take a customer's balance below zero.
var ErrInsufficient = errors.New("insufficient balance")

// Key names one balance: an account in one asset.
type Key struct {
	Account Account
	Asset   bursar.CurrencyCode
}

// Keys returns the balances that the entry touches, each once, in the order of its postings.
func (e Entry) Keys() []Key {
	keys := make([]Key, 0, 2*len(e.Postings))
	for _, p := range e.Postings { // a few: looking through them is faster than a map
		for _, k := range [2]Key{{p.Debit, p.Asset}, {p.Credit, p.Asset}} {
			if !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	return keys
}

// Books are balances in memory on which entries are checked before they are written.
type Books map[Key]Balance

// Post applies a whole entry or, on an error, nothing of it. It refuses a malformed entry, an entry that overflows, and
// one that would take a customer below zero without permission to do so (MayOverdraw).
func (b Books) Post(e Entry) error {
	if err := e.Check(); err != nil {
		return err
	}
	next, err := b.after(e)
	if err != nil {
		return err
	}
	if over := b.overdrawn(e, next); len(over) > 0 {
		return fmt.Errorf("%w: %s of %s", ErrInsufficient, over[0].Asset, over[0].Account)
	}
	maps.Copy(b, next)
	return nil
}

// PostAll posts entries in order, all or, on an error, none of them.
func (b Books) PostAll(entries []Entry) error {
	before := map[Key]Balance{}
	for _, e := range entries {
		for _, k := range e.Keys() {
			before[k] = b[k]
		}
	}
	for _, e := range entries {
		if err := b.Post(e); err != nil {
			maps.Copy(b, before)
			return err
		}
	}
	return nil
}

// Replay applies an entry that is in the books already, whatever it does to them, and returns the customers' balances
// for which Post would have refused it. The only error is an overflow.
func (b Books) Replay(e Entry) (overdrawn []Key, err error) {
	next, err := b.after(e)
	if err != nil {
		return nil, err
	}
	overdrawn = b.overdrawn(e, next)
	maps.Copy(b, next)
	return overdrawn, nil
}

// after returns the balances that an entry touches as they are once it is applied.
func (b Books) after(e Entry) (map[Key]Balance, error) {
	next := map[Key]Balance{}
	for _, k := range e.Keys() {
		next[k] = b[k]
	}
	for _, p := range e.Postings {
		if err := applyBoth(next, p); err != nil {
			return nil, fmt.Errorf("post %s %s: %w", e.Kind, e.Ref, err)
		}
	}
	return next, nil
}

func applyBoth(balances map[Key]Balance, p Posting) error {
	for _, account := range [2]Account{p.Debit, p.Credit} {
		k := Key{account, p.Asset}
		after, err := balances[k].Apply(account, p)
		if err != nil {
			return err
		}
		balances[k] = after
	}
	return nil
}

// overdrawn returns the balances for which the entry must be refused. An account that a reversal took below zero may
// receive, but never spend.
func (b Books) overdrawn(e Entry, next map[Key]Balance) (keys []Key) {
	if e.MayOverdraw() {
		return nil
	}
	for _, k := range e.Keys() {
		if _, isCustomer := k.Account.Customer(); isCustomer && b.worse(k, next[k]) {
			keys = append(keys, k)
		}
	}
	return keys
}

// worse reports whether a customer's balance ends below zero, and further below than before.
func (b Books) worse(k Key, after Balance) bool {
	amount, negative := after.Net(Liability)
	if !negative || amount.IsZero() {
		return false
	}
	before, wasNegative := b[k].Net(Liability)
	return !wasNegative || before.Less(amount)
}
