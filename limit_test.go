package bursar_test

import (
	"testing"

	"github.com/bursar/bursar"
)

// Every combination of a configured limit, a rule for every account and one of the account's own: the lowest of them
// counts.
func TestLimitsStayWithinTheConfiguration(t *testing.T) {
	t.Parallel()
	one := bursar.ID{1}
	rule := func(account bursar.ID, kind bursar.LimitKind, units int) bursar.LimitRules {
		if units < 0 {
			return nil
		}
		return bursar.LimitRules{{AccountID: account, Currency: "BTC", Kind: kind, Amount: bursar.Units(uint64(units))}}
	}
	for _, configured := range []uint64{0, 10} {
		for _, all := range []int{-1, 5, 20} {
			for _, own := range []int{-1, 3, 7, 30} {
				want := configured
				limit := all
				if own >= 0 && (all < 0 || own < all) {
					limit = own
				}
				if limit >= 0 && (configured == 0 || uint64(limit) < configured) {
					want = uint64(limit)
				}
				c := bursar.Currency{Code: "BTC", WithdrawalMaximum: bursar.Units(configured),
					ApprovalAbove: bursar.Units(configured)}
				rules := append(rule(bursar.ID{}, bursar.LimitMaximum, all), rule(one, bursar.LimitMaximum, own)...)
				if got := rules.For(one, c).WithdrawalMaximum; got != bursar.Units(want) {
					t.Errorf("configured %d, all %d, own %d: the maximum is %s, want %d", configured, all, own, got, want)
				}
				rules = append(rule(one, bursar.LimitApproval, own), rule(bursar.ID{}, bursar.LimitApproval, all)...)
				for amount := range uint64(40) {
					waits := want > 0 && amount > want
					if got := rules.Waits(one, c, bursar.Units(amount)); got != waits {
						t.Errorf("configured %d, all %d, own %d: %d waits %t, want %t", configured, all, own, amount, got, waits)
					}
				}
			}
		}
	}
	none := rule(one, bursar.LimitApproval, 0)
	if !none.Waits(one, bursar.Currency{Code: "BTC"}, bursar.Units(1)) || none.Waits(bursar.ID{2},
		bursar.Currency{Code: "BTC"}, bursar.Units(1)) {
		t.Error("above zero the account's withdrawals do not wait, or those of another do; want its own alone to wait")
	}
}

func TestWhatLoosensALimit(t *testing.T) {
	t.Parallel()
	one, all := bursar.ID{1}, bursar.ID{}
	of := func(account bursar.ID, units uint64) bursar.LimitRule {
		return bursar.LimitRule{AccountID: account, Currency: "BTC", Kind: bursar.LimitMaximum, Amount: bursar.Units(units)}
	}
	for _, c := range []struct {
		what   string
		before bursar.LimitRules
		change bursar.LimitRule
		remove bool
		want   bool
	}{
		{"the first", nil, of(all, 5), false, false},
		{"a lower one", bursar.LimitRules{of(all, 5)}, of(all, 4), false, false},
		{"the same one", bursar.LimitRules{of(all, 5)}, of(all, 5), false, false},
		{"a higher one", bursar.LimitRules{of(all, 5)}, of(all, 6), false, true},
		{"none", bursar.LimitRules{of(all, 5)}, of(all, 0), true, true},
		{"none where there is none", nil, of(all, 0), true, false},
		{"an own lower one", bursar.LimitRules{of(all, 5)}, of(one, 4), false, false},
		{"an own higher one, which counts for nothing yet", bursar.LimitRules{of(all, 5)}, of(one, 6), false, true},
		{"an own one as that of all", bursar.LimitRules{of(all, 5)}, of(one, 5), false, false},
		{"an own one above that of all, raised", bursar.LimitRules{of(one, 6), of(all, 5)}, of(one, 7), false, true},
		{"that of all below an own one", bursar.LimitRules{of(one, 6)}, of(all, 5), false, false},
		{"an own one beside another's", bursar.LimitRules{of(bursar.ID{2}, 5)}, of(one, 6), false, false},
		{"no own one above that of all", bursar.LimitRules{of(one, 6), of(all, 5)}, of(one, 0), true, true},
		{"that of all alone, which is higher", bursar.LimitRules{of(one, 4), of(all, 5)}, of(one, 0), true, true},
		{"no own one, and none of all", bursar.LimitRules{of(one, 4)}, of(one, 0), true, true},
	} {
		after := c.before.With(c.change)
		if c.remove {
			after = c.before.Without(c.change)
		}
		if got := c.before.Loosen(after, c.change); got != c.want {
			t.Errorf("%s loosens %t, want %t", c.what, got, c.want)
		}
	}
}
