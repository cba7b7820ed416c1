package memory

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/bursar/bursar"
)

// RuleFees is the part of a transaction about what transactions that rules allowed can cost.
type RuleFees interface {
	// RuleFeesIn returns what the transactions of a flow can cost, by rule and account.
	RuleFeesIn(ctx context.Context, flow int64) ([]RuleFee, error)
	// SetRuleFee replaces what the transactions of a flow can cost by a rule and for an account.
	SetRuleFee(ctx context.Context, f RuleFee) error
	// RuleFeesSince returns what transactions that a rule allowed can cost, and counts from a time on; beyond 128 bits
	// the highest amount.
	RuleFeesSince(ctx context.Context, by RuleUse, from time.Time) (bursar.Amount, error)
}

// RuleUse names a rule, or what one account used of it.
type RuleUse struct {
	Rule       string
	OneAccount bool      // what counts for Account alone; otherwise for all
	Account    bursar.ID // zero: payments of which no client said whose they are
}

// Counts reports whether what a rule allowed for an account is part of the use.
func (u RuleUse) Counts(rule string, account bursar.ID) bool {
	return rule == u.Rule && (!u.OneAccount || account == u.Account)
}

// RuleFee is the most that one of a flow's transactions can cost, as far as it is of one rule and of one account.
type RuleFee struct {
	Flow    int64
	Rule    string
	Account bursar.ID     // as in Grant
	Worth   bursar.Amount // in millionths of the policy's reference currency
	At      time.Time     // from when on it counts
}

// ruleFeesSchema is a migration of the file. What was allowed before is of no account and costs nothing: no rule that
// asks about either was in force.
const ruleFeesSchema = `
ALTER TABLE grants ADD COLUMN account TEXT NOT NULL DEFAULT '';
CREATE INDEX grants_of_account ON grants(rule, account, at, worth);
CREATE TABLE rule_fees (
	flow INTEGER NOT NULL REFERENCES flows(id) ON DELETE CASCADE,
	rule TEXT NOT NULL,
	account TEXT NOT NULL,
	worth TEXT NOT NULL,
	at INTEGER NOT NULL,
	PRIMARY KEY (flow, rule, account)
) STRICT, WITHOUT ROWID;
CREATE INDEX rule_fees_of_rule ON rule_fees(rule, at, worth);
CREATE INDEX rule_fees_of_account ON rule_fees(rule, account, at, worth);
`

// accountText writes an account as the tables have it.
func accountText(account bursar.ID) string {
	if account.IsZero() {
		return ""
	}
	return account.String()
}

func accountOf(text string) (bursar.ID, error) {
	if text == "" {
		return bursar.ID{}, nil
	}
	return bursar.ParseID(text)
}

// where is the condition of what counts for a use from a time on. Each is a range of an index.
func (u RuleUse) where(from time.Time) (condition string, args []any) {
	if u.OneAccount {
		return `rule = ? AND account = ? AND at >= ?`, []any{u.Rule, accountText(u.Account), millis(from)}
	}
	return `rule = ? AND at >= ?`, []any{u.Rule, millis(from)}
}

// longAmount is the number of digits from which on amounts are added here, since SQLite adds no 128 bits: nine million
// of shorter ones fit into its 64.
const longAmount = 13

// worthSince adds up the column worth of a table.
func (tx *sqlTx) worthSince(
	ctx context.Context, table string, by RuleUse, from time.Time,
) (total bursar.Amount, err error) {
	where, args := by.where(from)
	var short int64
	if _, err := tx.one(ctx, fmt.Sprintf(`SELECT ifnull(sum(CAST(worth AS INTEGER)), 0) FROM %s WHERE %s
		AND length(worth) < %d`, table, where, longAmount), args, &short); err != nil {
		return total, err
	}
	if total, err = bursar.ParseUnits(strconv.FormatInt(short, 10)); err != nil {
		return total, fmt.Errorf("read the signer's state: %w", err)
	}
	err = tx.all(ctx, fmt.Sprintf(`SELECT worth FROM %s WHERE %s AND length(worth) >= %d`, table, where, longAmount), args,
		func(r rows) error {
			var one bursar.Amount
			err := r.Scan(&one)
			total = total.AddCapped(one)
			return err
		})
	return total, err
}

// WorthSince implements Tx.
func (tx *sqlTx) WorthSince(ctx context.Context, by RuleUse, from time.Time) (bursar.Amount, error) {
	return tx.worthSince(ctx, "grants", by, from)
}

// RuleFeesSince implements Tx.
func (tx *sqlTx) RuleFeesSince(ctx context.Context, by RuleUse, from time.Time) (bursar.Amount, error) {
	return tx.worthSince(ctx, "rule_fees", by, from)
}

// GrantsSince implements Tx.
func (tx *sqlTx) GrantsSince(ctx context.Context, by RuleUse, from time.Time) (n uint64, err error) {
	where, args := by.where(from)
	_, err = tx.one(ctx, `SELECT count(*) FROM grants WHERE `+where, args, &n)
	return n, err
}

// GrantIn implements Tx.
func (tx *sqlTx) GrantIn(ctx context.Context, order Digest, flow int64) (g Grant, found bool, err error) {
	g = Grant{Flow: flow, Order: order}
	var at int64
	var account string
	found, err = tx.one(ctx, `SELECT rule, worth, at, account FROM grants WHERE digest = ? AND flow = ?`,
		[]any{order[:], flow}, &g.Rule, &g.Worth, &at, &account)
	if err == nil {
		g.Account, err = accountOf(account)
	}
	g.At = timeOf(at)
	return g, found, err
}

// RuleFeesIn implements Tx.
func (tx *sqlTx) RuleFeesIn(ctx context.Context, flow int64) (list []RuleFee, err error) {
	err = tx.all(ctx, `SELECT rule, account, worth, at FROM rule_fees WHERE flow = ? ORDER BY rule, account`, []any{flow},
		func(r rows) error {
			f := RuleFee{Flow: flow}
			var account string
			var at int64
			err := r.Scan(&f.Rule, &account, &f.Worth, &at)
			if err == nil {
				f.Account, err = accountOf(account)
			}
			f.At = timeOf(at)
			list = append(list, f)
			return err
		})
	return list, err
}

// SetRuleFee implements Tx.
func (tx *sqlTx) SetRuleFee(ctx context.Context, f RuleFee) error {
	_, err := tx.exec(ctx, `INSERT OR REPLACE INTO rule_fees(flow, rule, account, worth, at) VALUES (?, ?, ?, ?, ?)`,
		f.Flow, f.Rule, accountText(f.Account), f.Worth, millis(f.At))
	return err
}
