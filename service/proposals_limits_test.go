package service_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/withdrawal"
)

// tightens sets a limit of COIN as one person does.
func (c *approvers) tightens(account bursar.ID, kind bursar.LimitKind, units uint64) {
	c.Helper()
	c.Must(c.service.Limits.Change(ctx, withdrawal.LimitChange{Rule: bursar.LimitRule{AccountID: account, Currency: "COIN",
		Kind: kind, Amount: bursar.Units(units)}}))
}

// limit returns the limit that binds the shop, and how many rules there are.
func (c *approvers) limit(kind bursar.LimitKind) (rule bursar.LimitRule, n int) {
	c.Helper()
	c.View(func(tx *store.Tx) error {
		rules, err := tx.LimitRules().Of(ctx, c.shop)
		rule, _ = rules.Find(c.shop, "COIN", kind)
		n = len(rules)
		return err
	})
	return rule, n
}

// Two persons raise a limit, or end it. What one person tightened after it was proposed stays.
func TestTwoPersonsLoosenALimit(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newApprovers(t, db)
		c.tightens(c.shop, bursar.LimitMaximum, 700)
		raise := store.Proposal{Verb: "limits.loosen", Object: c.shop.String(), Currency: "COIN", Detail: "maximum",
			Amount: bursar.Units(900)}
		p := c.propose(raise)
		if p.AccountID != c.shop || p.Object != c.shop.String()+":COIN:maximum" || p.Detail !=
			"maximum: was 0.00000700 COIN, of the account; becomes 0.00000900 COIN, of the account" {
			t.Errorf("proposed is %+v, want the account, and the limit before and after", p)
		}
		c.agree(p, store.ProposalExecuted)
		if rule, _ := c.limit(bursar.LimitMaximum); rule.Amount != bursar.Units(900) || rule.Actor != "Ann" ||
			rule.Reason != "it is due" {
			t.Errorf("the limit is %+v, want 900 by Ann", rule)
		}
		raise.Amount = bursar.Units(5000)
		p = c.propose(raise)
		c.tightens(c.shop, bursar.LimitMaximum, 600)
		if p = c.agree(p, store.ProposalVoid); !strings.Contains(p.Outcome, "was changed since") {
			t.Errorf("the outcome is %q, want that the limit was changed since", p.Outcome)
		}
		if rule, _ := c.limit(bursar.LimitMaximum); rule.Amount != bursar.Units(600) {
			t.Errorf("the limit is %s, want 600, as it was tightened", rule.Amount)
		}
		raise.Amount = bursar.Amount{}
		c.agree(c.propose(raise), store.ProposalExecuted)
		if _, n := c.limit(bursar.LimitMaximum); n != 0 {
			t.Errorf("%d limits are left, want none", n)
		}
		c.tightens(c.shop, bursar.LimitHourly, 700)
		c.agree(c.propose(store.Proposal{Verb: "limits.loosen", Object: c.shop.String(), Currency: "COIN", Detail: "hourly",
			Amount: bursar.Units(900)}), store.ProposalExecuted)
		if rule, _ := c.limit(bursar.LimitHourly); rule.Amount != bursar.Units(900) || rule.Actor != "Ann" {
			t.Errorf("the limit of an hour is %+v, want 900 by Ann", rule)
		}
		c.tightens(bursar.ID{}, bursar.LimitApproval, 0)
		c.agree(c.propose(store.Proposal{Verb: "limits.loosen", Object: "all", Currency: "COIN", Detail: "approval",
			Amount: bursar.Units(800)}), store.ProposalExecuted)
		if rule, _ := c.limit(bursar.LimitApproval); rule.Amount != bursar.Units(800) || !rule.AccountID.IsZero() {
			t.Errorf("the limit is %+v, want 800 of every account", rule)
		}
	})
}

// Nothing is proposed that one person may do, that changes nothing, or that is no limit.
func TestWhatIsNoProposalOfALimit(t *testing.T) {
	t.Parallel()
	c := newApprovers(t, storetest.Open(t, storetest.Reused(t)))
	c.tightens(c.shop, bursar.LimitMaximum, 700)
	for what, p := range map[string]store.Proposal{
		"a tighter one":     {Object: c.shop.String(), Currency: "COIN", Detail: "maximum", Amount: bursar.Units(600)},
		"the same":          {Object: c.shop.String(), Currency: "COIN", Detail: "maximum", Amount: bursar.Units(700)},
		"the first":         {Object: "all", Currency: "COIN", Detail: "maximum", Amount: bursar.Units(600)},
		"the end of none":   {Object: "all", Currency: "COIN", Detail: "approval"},
		"another kind":      {Object: "all", Currency: "COIN", Detail: "forever", Amount: bursar.Units(600)},
		"no currency":       {Object: "all", Currency: "X", Detail: "maximum", Amount: bursar.Units(600)},
		"of nobody":         {Object: bursar.ID{9}.String(), Currency: "COIN", Detail: "maximum"},
		"of no one at all":  {Object: "everybody", Currency: "COIN", Detail: "maximum"},
		"an object in full": {Object: "all:COIN:approval", Currency: "COIN", Detail: "approval"},
	} {
		p.Verb, p.Reason, p.Token = "limits.loosen", "it is due", c.IDs.Next()
		var refused *bursar.Error
		if _, err := c.service.Proposals.Propose(ctx, c.ann, p); !errors.As(err, &refused) &&
			!errors.Is(err, bursar.ErrNotFound) {
			t.Errorf("%s: got %v, want it refused", what, err)
		}
	}
}

// How many must approve goes by what the limit lets through, not by what was proposed within a day: the end of a limit
// counts as all that the configuration lets through.
func TestWhoMustApproveALimit(t *testing.T) {
	t.Parallel()
	c := newApprovers(t, storetest.Open(t, storetest.Reused(t)))
	var asked []bursar.Amount
	c.service.Proposals.Need = func(_ bursar.CurrencyCode, amount bursar.Amount) int {
		asked = append(asked, amount)
		return 3
	}
	c.tightens(c.shop, bursar.LimitMaximum, 700)
	c.tightens(c.shop, bursar.LimitApproval, 7)
	for _, p := range []store.Proposal{{Detail: "maximum", Amount: bursar.Units(900)}, {Detail: "approval"}} {
		p.Verb, p.Object, p.Currency = "limits.loosen", c.shop.String(), "COIN"
		if p = c.propose(p); p.Need != 3 {
			t.Errorf("%s needs %d, want 3", p.Detail, p.Need)
		}
	}
	c.tightens(bursar.ID{}, bursar.LimitMaximum, 700)
	c.propose(store.Proposal{Verb: "limits.loosen", Object: "all", Currency: "COIN", Detail: "maximum"})
	c.tightens(c.shop, bursar.LimitDaily, 70)
	c.propose(store.Proposal{Verb: "limits.loosen", Object: c.shop.String(), Currency: "COIN", Detail: "daily"})
	want := []bursar.Amount{bursar.Units(900), bursar.Units(1000), bursar.LargestAmount(), bursar.LargestAmount()}
	if !slices.Equal(asked, want) {
		t.Errorf("asked was about %v, want %v", asked, want)
	}
}
