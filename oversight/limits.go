package oversight

import (
	"context"

	"github.com/bursar/bursar"
)

// addLimits adds the limits that bind an account's withdrawals: its own, and those of every account beside them.
func (r *reading) addLimits(ctx context.Context, s *Sheet, id bursar.ID) error {
	rules, err := r.tx.LimitRules().Of(ctx, id)
	var counts bursar.LimitRules
	for _, rule := range rules {
		if found, _ := rules.Find(id, rule.Currency, rule.Kind); found == rule {
			counts = append(counts, rule)
		}
	}
	s.Tables = append(s.Tables, r.limitTable("Limits of its withdrawals", "None: those of the configuration count.",
		counts))
	return err
}

// limitTable lists limits that operators set.
func (r *reading) limitTable(title, empty string, rules bursar.LimitRules) Table {
	t := Table{Key: "limits", Title: title, Empty: empty, Columns: []Column{
		{"of", "Of", Ident},
		{"currency", "Currency", Plain},
		{"kind", "Limit", Plain},
		{"amount", "Amount", Figure},
		{"setAt", "Set", Moment},
		{"actor", "By", Written},
		{"reason", "Reason", Written},
	}, Note: "maximum: a larger withdrawal is refused. approval: a larger one waits for an approval. An account's own " +
		"limit counts in place of that of every account, and none exceeds that of the configuration."}
	for _, rule := range rules {
		of := text("every account")
		if !rule.AccountID.IsZero() {
			of = named("/accounts", rule.AccountID)
		}
		t.Rows = append(t.Rows, []Cell{of, text(string(rule.Currency)), text(string(rule.Kind)),
			text(r.Registry.Text(rule.Currency, rule.Amount)), at(rule.SetAt), text(rule.Actor), text(rule.Reason)})
	}
	return t
}
