package memory

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
)

// GrantIn implements Tx.
func (m ramTx) GrantIn(_ context.Context, order Digest, flow int64) (Grant, bool, error) {
	for _, g := range m.people.grants {
		if g.Order == order && g.Flow == flow {
			return g, true, nil
		}
	}
	return Grant{}, false, nil
}

// WorthSince implements Tx.
func (m ramTx) WorthSince(_ context.Context, by RuleUse, from time.Time) (total bursar.Amount, _ error) {
	for _, g := range m.people.grants {
		if by.Counts(g.Rule, g.Account) && !g.At.Before(from) {
			total = total.AddCapped(g.Worth)
		}
	}
	return total, nil
}

// GrantsSince implements Tx.
func (m ramTx) GrantsSince(_ context.Context, by RuleUse, from time.Time) (n uint64, _ error) {
	for _, g := range m.people.grants {
		if by.Counts(g.Rule, g.Account) && !g.At.Before(from) {
			n++
		}
	}
	return n, nil
}

// RuleFeesIn implements Tx.
func (m ramTx) RuleFeesIn(_ context.Context, flow int64) (list []RuleFee, _ error) {
	for _, f := range m.people.fees {
		if f.Flow == flow {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b RuleFee) int {
		return cmp.Or(strings.Compare(a.Rule, b.Rule), strings.Compare(accountText(a.Account), accountText(b.Account)))
	})
	return list, nil
}

// SetRuleFee implements Tx.
func (m ramTx) SetRuleFee(_ context.Context, f RuleFee) error {
	m.people.fees = slices.DeleteFunc(m.people.fees, func(l RuleFee) bool {
		return l.Flow == f.Flow && l.Rule == f.Rule && l.Account == f.Account
	})
	m.people.fees = append(m.people.fees, f)
	return nil
}

// RuleFeesSince implements Tx.
func (m ramTx) RuleFeesSince(_ context.Context, by RuleUse, from time.Time) (total bursar.Amount, _ error) {
	for _, f := range m.people.fees {
		if by.Counts(f.Rule, f.Account) && !f.At.Before(from) {
			total = total.AddCapped(f.Worth)
		}
	}
	return total, nil
}
