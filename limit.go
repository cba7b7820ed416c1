package bursar

import "time"

// LimitKind says what becomes of a withdrawal that is above a limit.
type LimitKind string

// The kinds of limits.
const (
	LimitMaximum  LimitKind = "maximum"  // it is refused
	LimitApproval LimitKind = "approval" // it waits for an operator's approval
)

// LimitKinds lists every kind.
func LimitKinds() []LimitKind { return []LimitKind{LimitMaximum, LimitApproval} }

// LimitRule is a limit of single withdrawals that operators set beside those of the configuration. It applies to
// withdrawals that are requested after it was set.
type LimitRule struct {
	AccountID ID // zero: every account
	Currency  CurrencyCode
	Kind      LimitKind
	Amount    Amount // of an approval zero too: every withdrawal waits for one
	SetAt     time.Time
	Actor     string // who set it
	Reason    string
}

// Same reports whether two rules are about the same: one of them replaces the other.
func (r LimitRule) Same(other LimitRule) bool {
	return r.AccountID == other.AccountID && r.Currency == other.Currency && r.Kind == other.Kind
}

// LimitRules are the rules of any number of accounts, with those of every account.
type LimitRules []LimitRule

// Find returns the rule that binds an account's withdrawals of a currency: its own or that of every account, whichever
// is lower; for the zero account the latter.
func (rules LimitRules) Find(account ID, currency CurrencyCode, kind LimitKind) (rule LimitRule, found bool) {
	for _, r := range rules {
		if r.Currency != currency || r.Kind != kind || r.AccountID != account && !r.AccountID.IsZero() {
			continue
		}
		if !found || r.Amount.Less(rule.Amount) || r.Amount == rule.Amount && r.AccountID == account {
			rule, found = r, true
		}
	}
	return rule, found
}

// Set returns the rule that was set for the same as another one.
func (rules LimitRules) Set(same LimitRule) (rule LimitRule, found bool) {
	for _, r := range rules {
		if r.Same(same) {
			return r, true
		}
	}
	return rule, false
}

// For returns the currency with the largest withdrawal that an account may request: the rule's, but never more than
// the currency's own.
func (rules LimitRules) For(account ID, c Currency) Currency {
	rule, found := rules.Find(account, c.Code, LimitMaximum)
	if found && (c.WithdrawalMaximum.IsZero() || rule.Amount.Less(c.WithdrawalMaximum)) {
		c.WithdrawalMaximum = rule.Amount
	}
	return c
}

// Waits reports whether a withdrawal of an account waits for an approval: because it is above the rule, or above what
// the currency itself lets through.
func (rules LimitRules) Waits(account ID, c Currency, amount Amount) bool {
	if !c.ApprovalAbove.IsZero() && c.ApprovalAbove.Less(amount) {
		return true
	}
	rule, found := rules.Find(account, c.Code, LimitApproval)
	return found && rule.Amount.Less(amount)
}

// With returns the rules with one more, in place of the one that is about the same.
func (rules LimitRules) With(rule LimitRule) LimitRules { return append(rules.Without(rule), rule) }

// Without returns the rules without the one that is about the same as another.
func (rules LimitRules) Without(rule LimitRule) (rest LimitRules) {
	for _, r := range rules {
		if !r.Same(rule) {
			rest = append(rest, r)
		}
	}
	return rest
}

// Loosen reports whether a rule is higher by other rules than by these, or ends: withdrawals of whom it is about can be
// larger then, at once or once another rule that binds them ends, whatever the configuration allows. An account's first
// rule above that of every account loosens too: a process of an earlier release takes it in place of that one.
func (rules LimitRules) Loosen(by LimitRules, rule LimitRule) bool {
	was, had := rules.Set(rule)
	is, has := by.Set(rule)
	if !had && has {
		was, had = rules.Set(LimitRule{Currency: rule.Currency, Kind: rule.Kind})
	}
	return had && (!has || was.Amount.Less(is.Amount))
}
