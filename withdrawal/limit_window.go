package withdrawal

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// windowKey is whose withdrawals of what count together.
type windowKey struct {
	account  bursar.ID
	currency bursar.CurrencyCode
}

// windows knows what accounts requested within the periods of their limits. It is read once for each account and
// currency of a batch, while the account is locked: no other transaction adds to it at the same time, and took adds
// what the batch itself records.
type windows struct {
	limits    bursar.LimitRules
	requested map[windowKey][]store.Requested
}

func windowsOf(limits bursar.LimitRules) *windows {
	return &windows{limits: limits, requested: map[windowKey][]store.Requested{}}
}

// bind reports whether a limit of a period binds a withdrawal.
func (s *windows) bind(w bursar.Withdrawal) bool {
	return len(s.limits.Windows(w.AccountID, w.Currency)) > 0
}

// evaluate refuses a withdrawal that would exceed a limit of a period together with those before it. It is not recorded
// yet. err is that of the database.
func (s *windows) evaluate(ctx context.Context, tx *store.Tx, p prepared) (refused, err error) {
	w := p.withdrawal
	rules := s.limits.Windows(w.AccountID, w.Currency)
	if len(rules) == 0 {
		return nil, nil
	}
	list, err := s.read(ctx, tx, w, rules[len(rules)-1].Kind)
	if err != nil {
		return nil, err
	}
	for _, rule := range rules {
		if left := store.LeftOf(rule, tx.Now(), list); left.Less(w.Amount) {
			return errReached(p.currency, rule, left), nil
		}
	}
	return nil, nil
}

// read returns what an account requested within the longest of its periods.
func (s *windows) read(ctx context.Context, tx *store.Tx, w bursar.Withdrawal, longest bursar.LimitKind) (
	[]store.Requested, error) {
	of := windowKey{w.AccountID, w.Currency}
	if known, is := s.requested[of]; is {
		return known, nil
	}
	list, err := tx.Withdrawals().RequestedAfter(ctx, w.AccountID, w.Currency, tx.Now().Add(-longest.Window()))
	if err == nil {
		s.requested[of] = list
	}
	return list, err
}

// add adds a withdrawal that was recorded, so that the next one of the batch counts it.
func (s *windows) add(w bursar.Withdrawal) {
	of := windowKey{w.AccountID, w.Currency}
	if list, read := s.requested[of]; read {
		s.requested[of] = append(list, store.Requested{ID: w.ID, At: w.CreatedAt, Amount: w.Amount})
	}
}

// periods says for how long a limit counts.
var periods = map[bursar.LimitKind]string{
	bursar.LimitHourly: "an hour",
	bursar.LimitDaily:  "24 hours",
	bursar.LimitWeekly: "seven days",
}

func errReached(c bursar.Currency, rule bursar.LimitRule, left bursar.Amount) error {
	return bursar.RefuseField(bursar.CodeLimitReached, "amount",
		"withdrawals of %s within %s may come to %s, and %s of that is left now", c.Code, periods[rule.Kind],
		c.Exact(rule.Amount), c.Exact(left))
}
