package oversight

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// addLimits adds the limits that bind an account's withdrawals: its own, and those of every account beside them, with
// what is left of those of a period.
func (r *reading) addLimits(ctx context.Context, s *Sheet, id bursar.ID) error {
	rules, err := r.tx.LimitRules().Of(ctx, id)
	if err != nil {
		return err
	}
	var counts bursar.LimitRules
	left := map[bursar.LimitRule]string{}
	for _, rule := range rules {
		if found, _ := rules.Find(id, rule.Currency, rule.Kind); found != rule {
			continue
		}
		counts = append(counts, rule)
		if rule.Kind.Window() == 0 {
			continue
		}
		list, err := r.tx.Withdrawals().RequestedAfter(ctx, id, rule.Currency, r.tx.Now().Add(-rule.Kind.Window()))
		if err != nil {
			return err
		}
		left[rule] = r.Registry.Text(rule.Currency, store.LeftOf(rule, r.tx.Now(), list))
	}
	s.Tables = append(s.Tables, r.limitTable("Limits of its withdrawals", "None: those of the configuration count.",
		counts, left))
	return nil
}

// limitTable lists limits that operators set. What is left now of those of a period is shown where it is given.
func (r *reading) limitTable(title, empty string, rules bursar.LimitRules, left map[bursar.LimitRule]string) Table {
	t := Table{Key: "limits", Title: title, Empty: empty, Columns: []Column{
		{"of", "Of", Ident},
		{"currency", "Currency", Plain},
		{"kind", "Limit", Plain},
		{"amount", "Amount", Figure},
		{"setAt", "Set", Moment},
		{"actor", "By", Written},
		{"reason", "Reason", Written},
	}, Note: "maximum: a larger withdrawal is refused. approval: a larger one waits for an approval. hourly, daily, " +
		"weekly: an account's withdrawals within an hour, 24 hours or seven days come to no more. An account's own limit, " +
		"that of every account and that of the configuration count together: the lowest binds."}
	if left != nil {
		t.Columns = append(t.Columns, Column{"left", "Left now", Figure})
	}
	for _, rule := range rules {
		of := text("every account")
		if !rule.AccountID.IsZero() {
			of = named("/accounts", rule.AccountID)
		}
		row := []Cell{of, text(string(rule.Currency)), text(string(rule.Kind)),
			text(r.Registry.Text(rule.Currency, rule.Amount)), at(rule.SetAt), text(rule.Actor), text(rule.Reason)}
		if left != nil {
			row = append(row, text(left[rule]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
