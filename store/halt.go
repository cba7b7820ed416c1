package store

import (
	"context"
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
func HaltCurrency(code bursar.Code) HaltScope { return HaltScope("currency:" + string(code)) }

// HaltAccount is the scope of every withdrawal of one account.
func HaltAccount(id bursar.ID) HaltScope { return HaltScope("account:" + id.String()) }

// HaltKind says who or what halted, and thereby what ends the halt.
type HaltKind string

// The kinds of halts. Each is set and lifted by the package that owns its condition.
const (
	HaltByOperator      HaltKind = "operator"       // a person, by command; ends by command
	HaltByExternalSpend HaltKind = "external_spend" // a key of ours may be in other hands; ends by command
	HaltByRecovery      HaltKind = "recovery"       // the database is older than the chain; ends by itself or by command
	HaltByBooks         HaltKind = "books"          // the books contradict themselves; ends once they agree
	HaltByDeadReturn    HaltKind = "dead_returned"  // a transaction that was proven dead was included; ends by command
)

// Halt is one reason why nothing of a scope is signed.
type Halt struct {
	Number int64
	Scope  HaltScope
	Kind   HaltKind
	Ref    string // tells two halts of one kind and scope apart; may be empty
	Reason string // for people
	Actor  string // who halted, where a person did
	At     time.Time
}

const haltColumns = `number, scope, kind, ref, reason, actor, at`

func scanHalt(s scanner) (h Halt, err error) {
	return h, s.Scan(&h.Number, &h.Scope, &h.Kind, &h.Ref, &h.Reason, &h.Actor, instant{&h.At})
}

// Halt records why nothing of a scope may be signed from the commit on. One of the same scope, kind and ref keeps its time and
// its first reason.
func (tx *Tx) Halt(ctx context.Context, h Halt) error {
	_, err := tx.exec(ctx, "halt", `INSERT INTO halts(scope, kind, ref, reason, actor, at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (scope, kind, ref) DO NOTHING`,
		string(h.Scope), string(h.Kind), h.Ref, h.Reason, h.Actor, micros(tx.now))
	return err
}

// Resume ends the halts of a scope and kind, all of them for an empty ref, and returns how many ended.
func (tx *Tx) Resume(ctx context.Context, scope HaltScope, kind HaltKind, ref string) (int64, error) {
	return tx.exec(ctx, "resume", `DELETE FROM halts WHERE scope = $1 AND kind = $2 AND (ref = $3 OR $3 = '')`, string(scope), string(kind), ref)
}

// Halts returns every halt, oldest first.
func (tx *Tx) Halts(ctx context.Context) ([]Halt, error) {
	return rows(ctx, tx, "list halts", scanHalt, `SELECT `+haltColumns+` FROM halts ORDER BY number`)
}

// HaltsOf returns the halts of some scopes, oldest first.
func (tx *Tx) HaltsOf(ctx context.Context, scopes ...HaltScope) ([]Halt, error) {
	if len(scopes) == 0 {
		return nil, nil
	}
	args := make([]any, len(scopes))
	for i, scope := range scopes {
		args[i] = string(scope)
	}
	return rows(ctx, tx, "list halts of scopes", scanHalt, `SELECT `+haltColumns+` FROM halts WHERE scope IN (`+list(len(args), 0)+`) ORDER BY number`, args...)
}
