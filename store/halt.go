package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/bursar/bursar"
)

// HaltScope names what a halt holds back.
type HaltScope string

// HaltAll is the scope of everything that this service pays.
const HaltAll HaltScope = "all"

// HaltChain is the scope of every outgoing transaction of one chain.
func HaltChain(id bursar.ChainID) HaltScope { return HaltScope("chain:" + string(id)) }

// HaltCurrency is the scope of every outgoing transaction that moves one currency.
func HaltCurrency(code bursar.CurrencyCode) HaltScope { return HaltScope("currency:" + string(code)) }

// HaltAccount is the scope of every withdrawal of one account: to halt it is to freeze the account.
func HaltAccount(id bursar.ID) HaltScope { return HaltScope(accountScope + id.String()) }

const accountScope = "account:"

// Account returns the account of a scope that is one's.
func (s HaltScope) Account() (id bursar.ID, is bool) {
	text, is := strings.CutPrefix(string(s), accountScope)
	if !is {
		return id, false
	}
	id, err := bursar.ParseID(text)
	return id, err == nil
}

// String names what is halted, such as "BTC payments".
func (s HaltScope) String() string {
	kind, name, _ := strings.Cut(string(s), ":")
	switch kind {
	case "all":
		return "all payments"
	case "chain":
		return "payments on " + name
	case "currency":
		return name + " payments"
	}
	return "withdrawals of account " + name
}

// HaltKind says who or what halted, and thereby what ends the halt.
type HaltKind string

// The kinds of halts. Each is set and lifted by the package that owns its condition; that of an account ends by
// command too.
const (
	HaltByOperator      HaltKind = "operator"       // a person, by command; ends by command
	HaltByExternalSpend HaltKind = "external_spend" // a key of ours may be in other hands; ends by command
	// the database is older than the chain; ends by itself or by command
	HaltByRecovery        HaltKind = "recovery"
	HaltByBooks           HaltKind = "books"            // the books contradict themselves; ends once they agree
	HaltByExpiredIncluded HaltKind = "expired_included" // a transaction that was proven dead was included; ends by command
	HaltByReversal        HaltKind = "reversal"         // of an account, for a credit reorged out; ends once it is back
	HaltByShortPayout     HaltKind = "short_payout"     // of a currency whose token delivered too little; ends by command
	// of an account, for a spent refund reorged out; ends once it is back
	HaltByRefundReversal HaltKind = "refund_reversal"
)

// Halt is one reason why nothing of a scope is signed.
type Halt struct {
	Number int64
	Scope  HaltScope
	Kind   HaltKind
	Ref    string // distinguishes two halts of one kind and scope apart; that of an operator's is made by Put
	Reason string // for people
	Actor  string // who halted, where a person did
	At     time.Time
}

// String is one sentence for operators: what is halted, who or what halted it, and why.
func (h Halt) String() string {
	by := "by " + h.Actor
	if h.Actor == "" {
		by = "(" + string(h.Kind) + ")"
	}
	return fmt.Sprintf("%s are halted %s: %s", h.Scope, by, h.Reason)
}

// Remedy is the command that ends the halt, or what it ends by.
func (h Halt) Remedy() string {
	_, name, _ := strings.Cut(string(h.Scope), ":")
	switch h.Kind {
	case HaltByRecovery:
		return "see `bursar recovery status`"
	case HaltByBooks:
		return "see `bursar reconcile`; it ends by itself once the books agree"
	}
	switch {
	case h.Scope == HaltAll:
		return "`bursar resume --all`"
	case strings.HasPrefix(string(h.Scope), "chain:"):
		return "`bursar chain resume " + name + "`"
	case strings.HasPrefix(string(h.Scope), "currency:"):
		return "`bursar currency resume " + name + "`"
	}
	return "`bursar account unfreeze " + name + "`"
}

var haltColumns = columnsOf([]column[Halt]{
	{"number", func(h *Halt) any { return &h.Number }},
	{"scope", func(h *Halt) any { return &h.Scope }},
	{"kind", func(h *Halt) any { return &h.Kind }},
	{"ref", func(h *Halt) any { return &h.Ref }},
	{"reason", func(h *Halt) any { return &h.Reason }},
	{"actor", func(h *Halt) any { return &h.Actor }},
	{"at", func(h *Halt) any { return instant{&h.At} }},
})

// Put records why nothing of a scope may be signed from the commit on. One of the same scope, kind and ref keeps its
// time and its first reason. An operator's halt has a ref of its own for each person and reason, so that each of two
// has to be ended. The same one again is one halt, of the newer time: what was going to end the older one does not end
// it. The halt of an account freezes it, and keeps it locked until the transaction ends, frozen before or not, so that
// nobody lifts the freeze beside its cause; ErrNotFound where there is no such account.
func (tx Halts) Put(ctx context.Context, h Halt) error {
	if err := tx.lockHalted(ctx, h.Scope); err != nil {
		return err
	}
	if h.Kind == HaltByOperator {
		h.Ref = operatorRef(h)
	}
	query, args := values{
		{"scope", string(h.Scope)},
		{"kind", string(h.Kind)},
		{"ref", h.Ref},
		{"reason", h.Reason},
		{"actor", h.Actor},
		{"at", micros(tx.now)},
	}.insertInto("halts")
	n, err := tx.exec(ctx, "halt", query+` ON CONFLICT (scope, kind, ref) DO NOTHING`, args...)
	if err == nil && n == 0 && h.Kind == HaltByOperator {
		_, err = tx.exec(ctx, "halt again", `UPDATE halts SET at = $4 WHERE scope = $1 AND kind = $2 AND ref = $3`,
			string(h.Scope), string(h.Kind), h.Ref, micros(tx.now))
	}
	if err != nil || n == 0 {
		return err
	}
	return tx.haltsChanged(ctx, HaltEvent{h, false})
}

// operatorRef names an operator's halt by who halted and why. With 64 bits of the hash nobody finds a reason of
// their own whose ref is another person's.
func operatorRef(h Halt) string {
	sum := sha256.Sum256([]byte(h.Actor + "\x00" + h.Reason))
	return hex.EncodeToString(sum[:8])
}

// Lift ends the halts of a scope and kind, all of them for an empty ref, and returns how many ended. An account is
// frozen as long as one of its halts is left.
func (tx Halts) Lift(ctx context.Context, scope HaltScope, kind HaltKind, ref string) (int64, error) {
	return tx.End(ctx, Halt{Scope: scope, Kind: kind, Ref: ref})
}

// numberHalts gives the halts of now a number of their own. It follows the clock, so that after a restored backup the
// numbers go on above those that were used before; and it is greater than the last in any case.
func (tx *Tx) numberHalts(ctx context.Context) error {
	_, err := tx.exec(ctx, "number halts", `INSERT INTO counters(name, next) VALUES ('halts', $1) ON CONFLICT (name)
		DO UPDATE SET next = CASE WHEN counters.next < excluded.next THEN excluded.next ELSE counters.next + 1 END`,
		micros(tx.now))
	return err
}

// Number returns a number that grows with each halt and each end of one; 0 before the first.
func (tx Halts) Number(ctx context.Context) (number int64, err error) {
	err = tx.row(ctx, "read the number of halts",
		`SELECT COALESCE((SELECT next FROM counters WHERE name = 'halts'), 0)`, nil, &number)
	return number, err
}

// lockHalted keeps an account as it is, so that its halts and its note of them change together.
func (tx *Tx) lockHalted(ctx context.Context, scope HaltScope) error {
	id, is := scope.Account()
	if !is {
		return nil
	}
	_, err := tx.Accounts().Lock(ctx, id)
	return err
}

// noteFrozen repeats the oldest reason beside the account.
func (tx *Tx) noteFrozen(ctx context.Context, scope HaltScope) error {
	id, is := scope.Account()
	if !is {
		return nil
	}
	_, err := tx.exec(ctx, "note freeze",
		`UPDATE accounts SET frozen = COALESCE((SELECT reason FROM halts WHERE scope = $2 ORDER BY number LIMIT 1), '')
		WHERE id = $1`, id, string(scope))
	return err
}

// List returns every halt, oldest first.
func (tx Halts) List(ctx context.Context) ([]Halt, error) {
	return haltColumns.rows(ctx, tx.Tx, "list halts", `FROM halts ORDER BY number`)
}

// Of returns the halts of some scopes, oldest first.
func (tx Halts) Of(ctx context.Context, scopes ...HaltScope) ([]Halt, error) {
	if len(scopes) == 0 {
		return nil, nil
	}
	texts := make([]string, len(scopes))
	for i, scope := range scopes {
		texts[i] = string(scope)
	}
	those, args := among(tx.Tx, "scope", texts)
	return haltColumns.rows(ctx, tx.Tx, "list halts of scopes",
		`FROM halts WHERE `+those+` ORDER BY number`, args...)
}

// FrozenPaidBy returns the accounts that are frozen and have a withdrawal in an outgoing transaction, each once, with
// their oldest reason.
func (tx Accounts) FrozenPaidBy(ctx context.Context, outgoing bursar.ID) ([]bursar.Account, error) {
	return rows(ctx, tx.Tx, "list frozen accounts of an outgoing transaction", scanFrozen, `SELECT a.id, a.frozen
		FROM accounts a WHERE a.frozen <> ''
		AND a.id IN (SELECT w.account_id FROM withdrawals w WHERE w.outgoing_id = $1) ORDER BY a.id`, outgoing)
}

// scanFrozen reads an account's ID and why it is frozen.
func scanFrozen(s scanner) (a bursar.Account, err error) {
	err = s.Scan(&a.ID, &a.Frozen)
	return a, err
}

// adoptFreezes gives every account that was frozen before freezes were halts its halt.
func (tx *Tx) adoptFreezes(ctx context.Context) error {
	frozen, err := rows(ctx, tx, "list frozen accounts", scanFrozen, `SELECT id, frozen FROM accounts WHERE frozen <> ''`)
	if err != nil {
		return err
	}
	for _, a := range frozen {
		kind := map[string]HaltKind{
			bursar.FrozenByReversal:       HaltByReversal,
			bursar.FrozenByRefundReversal: HaltByRefundReversal,
		}[a.Frozen]
		if kind == "" {
			kind = HaltByOperator
		}
		if err := tx.Halts().Put(ctx, Halt{Scope: HaltAccount(a.ID), Kind: kind, Reason: a.Frozen}); err != nil {
			return err
		}
	}
	return nil
}
