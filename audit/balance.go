package audit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

func refOf(k ledger.Key) string { return string(k.Account) + "|" + string(k.Asset) }

func keyOf(ref string) ledger.Key {
	account, asset, _ := strings.Cut(ref, "|")
	return ledger.Key{Account: ledger.Account(account), Asset: bursar.CurrencyCode(asset)}
}

// moved returns a look that compares balances with the sums of their postings: those that the new links moved, and
// those that were moved before and not yet found equal. It is only valid if every link is read. at is where it
// continues: a balance that stays different stays listed, and hides nothing after it.
func (a *Auditor) moved(at *ledger.Key) look {
	return func(ctx context.Context, tx *store.Tx, f *findings) error {
		if f.to.Link != f.head.Number {
			return nil
		}
		unchecked, err := tx.Ledger().UncheckedPosted(ctx, *at, balancesAtOnce)
		if err != nil {
			return err
		}
		*at = ledger.Key{}
		if f.more = len(unchecked) == balancesAtOnce; f.more {
			*at = unchecked[balancesAtOnce-1]
		}
		f.to.CheckedAt = tx.Now()
		return a.compare(ctx, tx, f, slices.Concat(unchecked, slices.Collect(maps.Keys(f.sums))))
	}
}

// readBalances compares the next of all balances with the sums of their postings.
func (a *Auditor) readBalances(ctx context.Context, tx *store.Tx, f *findings) error {
	if f.to.Link != f.head.Number {
		return nil
	}
	next, err := tx.Ledger().BookedAfter(ctx, ledger.Key{Account: f.from.PassAccount, Asset: f.from.PassAsset},
		balancesAtOnce)
	if err != nil {
		return err
	}
	f.to.PassAccount, f.to.PassAsset = "", ""
	if len(next) == balancesAtOnce {
		last := next[len(next)-1]
		f.to.PassAccount, f.to.PassAsset = last.Account, last.Asset
	}
	return a.compare(ctx, tx, f, next)
}

// compare records the balances that differ from their sums, and marks the others as checked. A wrong balance stays
// unchecked, under the sum's seal: nothing is paid from such a balance, whatever happens to the fault and to the halt.
func (a *Auditor) compare(ctx context.Context, tx *store.Tx, f *findings, keys []ledger.Key) error {
	keys = distinct(keys)
	sums, err := tx.Ledger().PostedOf(ctx, keys)
	if err != nil {
		return err
	}
	maps.Copy(sums, f.sums)
	balances, err := tx.Ledger().BalancesOf(ctx, keys)
	if err != nil {
		return err
	}
	for _, k := range keys {
		sum := sums[k]
		differs := balances[k] != sum.Balance
		if differs {
			f.faults = append(f.faults, store.BookFault{
				Kind:    faultBalance,
				Ref:     refOf(k),
				Asset:   k.Asset,
				Message: a.differs(k, balances[k], sum.Balance),
			})
		}
		if sum.Altered {
			f.faultPosted(k)
			continue // it was not written by the audit, so it is not sealed
		}
		if sum.Overdrawn {
			f.faultOverdrawn(k)
		}
		if wrong := differs || sum.Overdrawn; sum.Unchecked != wrong {
			sum.Unchecked = wrong
			f.sums[k] = sum
		}
	}
	return nil
}

func distinct(keys []ledger.Key) []ledger.Key {
	slices.SortFunc(keys, compareKeys)
	return slices.Compact(keys)
}

func compareKeys(a, b ledger.Key) int {
	return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Asset, b.Asset))
}

// differs describes the difference between a balance and its postings.
func (a *Auditor) differs(k ledger.Key, balance, sum ledger.Balance) string {
	return fmt.Sprintf("the balance of %s is %s, the sum of its postings is %s (debits %s and %s, credits %s and %s)",
		k.Account, a.net(k, balance), a.net(k, sum),
		a.Registry.Text(k.Asset, balance.Debits), a.Registry.Text(k.Asset, sum.Debits),
		a.Registry.Text(k.Asset, balance.Credits), a.Registry.Text(k.Asset, sum.Credits))
}

func (a *Auditor) net(k ledger.Key, b ledger.Balance) string {
	amount, negative := b.Net(k.Account.Type())
	text := a.Registry.Text(k.Asset, amount)
	if negative {
		return "-" + text
	}
	return text
}
