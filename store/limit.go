package store

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
)

// limitScope writes whom a rule is about: halts have the same scopes.
func limitScope(account bursar.ID) string {
	if account.IsZero() {
		return string(HaltAll)
	}
	return string(HaltAccount(account))
}

// limitOf reads whom a rule is about.
type limitOf struct{ account *bursar.ID }

// Scan reads a scope. One that it does not know is an error: it is nobody's limit, and not everybody's.
func (o limitOf) Scan(value any) error {
	text, _ := value.(string)
	if *o.account = (bursar.ID{}); text == string(HaltAll) {
		return nil
	}
	id, is := HaltScope(text).Account()
	if !is {
		return fmt.Errorf("a limit of %.60q, want of all or of an account", text)
	}
	*o.account = id
	return nil
}

var limitRuleColumns = columnsOf([]column[bursar.LimitRule]{
	{"scope", func(r *bursar.LimitRule) any { return limitOf{&r.AccountID} }},
	{"currency", func(r *bursar.LimitRule) any { return &r.Currency }},
	{"kind", func(r *bursar.LimitRule) any { return &r.Kind }},
	{"amount", func(r *bursar.LimitRule) any { return &r.Amount }},
	{"set_at", func(r *bursar.LimitRule) any { return instant{&r.SetAt} }},
	{"actor", func(r *bursar.LimitRule) any { return &r.Actor }},
	{"reason", func(r *bursar.LimitRule) any { return &r.Reason }},
})

// Turn keeps others from changing limits until the transaction ends: who evaluates whether a change loosens them sees
// what nobody else changes meanwhile.
func (tx LimitRules) Turn(ctx context.Context) error {
	_, err := tx.exec(ctx, "change limits one after the other", `INSERT INTO counters(name, next) VALUES ('limits', 1)
		ON CONFLICT (name) DO UPDATE SET next = counters.next + 1`)
	return err
}

// Set sets a limit, in place of the one that was set for the same before.
func (tx LimitRules) Set(ctx context.Context, r bursar.LimitRule) error {
	query, args := values{
		{"scope", limitScope(r.AccountID)},
		{"currency", string(r.Currency)},
		{"kind", string(r.Kind)},
		{"amount", r.Amount},
		{"set_at", micros(tx.now)},
		{"actor", r.Actor},
		{"reason", r.Reason},
	}.insertInto("limit_rules")
	_, err := tx.exec(ctx, "set limit", query+` ON CONFLICT (scope, currency, kind) DO UPDATE SET
		amount = excluded.amount, set_at = excluded.set_at, actor = excluded.actor, reason = excluded.reason`, args...)
	return err
}

// Remove takes back what was set for the same as a rule. The error is ErrNotFound where nothing was.
func (tx LimitRules) Remove(ctx context.Context, r bursar.LimitRule) error {
	return tx.change(ctx, "remove limit", `DELETE FROM limit_rules WHERE scope = $1 AND currency = $2 AND kind = $3`,
		limitScope(r.AccountID), string(r.Currency), string(r.Kind))
}

// Of returns the rules of some accounts with those of every account; most accounts have none.
func (tx LimitRules) Of(ctx context.Context, accounts ...bursar.ID) (bursar.LimitRules, error) {
	return tx.OfDeferred(ctx, accounts...).Get(ctx)
}

// OfDeferred is Of together with other reads.
func (tx LimitRules) OfDeferred(ctx context.Context, accounts ...bursar.ID) *Deferred[bursar.LimitRules] {
	scopes := []string{string(HaltAll)}
	for _, id := range accounts {
		scopes = append(scopes, limitScope(id))
	}
	those, args := among(tx.Tx, "scope", scopes)
	return ask(ctx, tx.Tx, "read limits", limitRuleColumns.scan,
		func(rules []bursar.LimitRule) (bursar.LimitRules, error) { return rules, nil },
		limitRuleColumns.query+`FROM limit_rules WHERE `+those+` ORDER BY scope, currency, kind`, args...)
}

// List returns the rules of everybody, those of every account last.
func (tx LimitRules) List(ctx context.Context, limit int) (bursar.LimitRules, error) {
	return limitRuleColumns.rows(ctx, tx.Tx, "list limits",
		`FROM limit_rules ORDER BY scope, currency, kind LIMIT $1`, limit)
}
