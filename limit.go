package bursar

import "time"

// LimitKind says what is limited, and what becomes of a withdrawal that is above it.
type LimitKind string

// The kinds of limits.
const (
	LimitMaximum  LimitKind = "maximum"  // of one withdrawal: a larger one is refused
	LimitApproval LimitKind = "approval" // of one withdrawal: a larger one waits for an operator's approval
	LimitHourly   LimitKind = "hourly"   // of an account's withdrawals of an hour together: what exceeds it is refused
	LimitDaily    LimitKind = "daily"    // of those of 24 hours
	LimitWeekly   LimitKind = "weekly"   // of those of seven days
)

// LimitKinds lists every kind.
func LimitKinds() []LimitKind {
	return []LimitKind{LimitMaximum, LimitApproval, LimitHourly, LimitDaily, LimitWeekly}
}

// Window returns the period whose withdrawals a limit counts together; 0 for a limit of single withdrawals.
func (k LimitKind) Window() time.Duration {
	switch k {
	case LimitHourly:
		return time.Hour
	case LimitDaily:
		return 24 * time.Hour
	case LimitWeekly:
		return 7 * 24 * time.Hour
	}
	return 0
}

// Refuses reports whether what is above the limit is refused, so that one of zero refuses everything.
func (k LimitKind) Refuses() bool { return k != LimitApproval }

// LimitRule is a limit of withdrawals that operators set beside those of the configuration. It applies to withdrawals
// that are requested after it was set; one of a period counts those that were requested before it too. One of every
// account limits each of them by itself.
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

// For returns the currency with the largest withdrawal that an account may ever request: the lowest of the rules', also
// of those of a period, but never more than the currency's own.
func (rules LimitRules) For(account ID, c Currency) Currency {
	for _, kind := range LimitKinds() {
		rule, found := rules.Find(account, c.Code, kind)
		if found && kind.Refuses() && (c.WithdrawalMaximum.IsZero() || rule.Amount.Less(c.WithdrawalMaximum)) {
			c.WithdrawalMaximum = rule.Amount
		}
	}
	return c
}

// Windows returns the limits of periods that bind an account's withdrawals of a currency, the shortest period first.
func (rules LimitRules) Windows(account ID, currency CurrencyCode) (windows LimitRules) {
	for _, kind := range LimitKinds() {
		if rule, found := rules.Find(account, currency, kind); found && kind.Window() > 0 {
			windows = append(windows, rule)
		}
	}
	return windows
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
