package audit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

var errNotFound = bursar.ErrNotFound

func refOf(k ledger.Key) string { return string(k.Account) + "|" + string(k.Asset) }

func keyOf(ref string) ledger.Key {
	account, asset, _ := strings.Cut(ref, "|")
	return ledger.Key{Account: ledger.Account(account), Asset: bursar.Code(asset)}
}

// readBalances holds balances against the sums of their postings: those that the new links moved, those that were not yet
// looked at, and the next of all. It can only tell where every link is read.
func (a *Auditor) readBalances(ctx context.Context, tx *store.Tx, f *findings) error {
	if f.to.Link != f.head.Number {
		return nil
	}
	unchecked, err := tx.UncheckedPosted(ctx, balancesAtOnce)
	if err != nil {
		return err
	}
	next, err := tx.BookedAfter(ctx, ledger.Key{Account: f.from.PassAccount, Asset: f.from.PassAsset}, balancesAtOnce)
	if err != nil {
		return err
	}
	f.to.PassAccount, f.to.PassAsset = "", ""
	if len(next) == balancesAtOnce {
		last := next[len(next)-1]
		f.to.PassAccount, f.to.PassAsset = last.Account, last.Asset
	}
	keys := slices.Concat(next, slices.Collect(maps.Keys(unchecked)), slices.Collect(maps.Keys(f.sums)))
	f.to.CheckedAt = tx.Now()
	return a.compare(ctx, tx, f, keys)
}

// compare notes the balances that differ from their sums, and marks the others as looked at.
func (a *Auditor) compare(ctx context.Context, tx *store.Tx, f *findings, keys []ledger.Key) error {
	keys = distinct(keys)
	sums, err := tx.PostedOf(ctx, keys)
	if err != nil {
		return err
	}
	maps.Copy(sums, f.sums)
	balances, err := tx.BalancesOf(ctx, keys)
	if err != nil {
		return err
	}
	for _, k := range keys {
		sum := sums[k]
		if sum.Altered {
			f.faultPosted(k)
		}
		if balances[k] != sum.Balance {
			f.faults = append(f.faults, store.BookFault{Kind: faultBalance, Ref: refOf(k), Asset: k.Asset, Message: a.differs(k, balances[k], sum.Balance)})
		}
		if sum.Unchecked {
			sum.Unchecked = false
			f.sums[k] = sum
		}
	}
	return nil
}

func distinct(keys []ledger.Key) []ledger.Key {
	slices.SortFunc(keys, func(a, b ledger.Key) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Asset, b.Asset))
	})
	return slices.Compact(keys)
}

// differs says how far a balance is from its postings.
func (a *Auditor) differs(k ledger.Key, balance, sum ledger.Balance) string {
	return fmt.Sprintf("the balance of %s is %s, the sum of its postings is %s (debits %s and %s, credits %s and %s)", k.Account, a.net(k, balance), a.net(k, sum),
		balance.Debits, sum.Debits, balance.Credits, sum.Credits)
}

func (a *Auditor) net(k ledger.Key, b ledger.Balance) string {
	amount, negative := b.Net(k.Account.Type())
	text := amount.String() + " units of " + string(k.Asset)
	if currency, err := a.Registry.Get(k.Asset); err == nil {
		text = currency.Exact(amount) + " " + string(k.Asset)
	}
	if negative {
		return "-" + text
	}
	return text
}

// trialEvery is how often the trial balance of everything is drawn up.
const trialEvery = time.Hour

// readTrial draws up the trial balance, now and then: it reads every balance, and holds up nobody meanwhile.
func (a *Auditor) readTrial(ctx context.Context, tx *store.Tx, f *findings) error {
	if tx.Now().Sub(f.from.TrialAt) < trialEvery {
		return nil
	}
	f.to.TrialAt = tx.Now()
	return a.trial(ctx, tx, f)
}

func (a *Auditor) trial(ctx context.Context, tx *store.Tx, f *findings) error {
	totals, err := tx.TrialBalance(ctx)
	if err != nil {
		return err
	}
	for _, asset := range slices.Sorted(maps.Keys(totals)) {
		b := totals[asset]
		if b.Debits != b.Credits {
			f.faults = append(f.faults, store.BookFault{Kind: faultTrial, Ref: string(asset), Asset: asset,
				Message: fmt.Sprintf("the debits of all accounts in %s sum to %s units, the credits to %s", asset, b.Debits, b.Credits)})
		}
	}
	below, err := tx.BelowZero(ctx)
	for _, k := range below {
		f.faults = append(f.faults, store.BookFault{Kind: faultBelow, Ref: refOf(k), Asset: k.Asset,
			Message: fmt.Sprintf("%s is below zero in %s, and no reversed deposit or reopened withdrawal brought it there", k.Account, k.Asset)})
	}
	return err
}
