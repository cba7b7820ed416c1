package store

import (
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar"
)

// Recovery is the time in which a chain's database is, or may be, older than the chain: nothing is signed meanwhile.
type Recovery struct {
	Number    int64
	Chain     bursar.ChainID
	Cause     string // for people
	BeganAt   time.Time
	From      int64 // the newest block when the follower had caught up; -1: it has not yet
	Blocks    int64 // recorded above it
	Until     int64 // once it is final, nothing that was signed before BeganAt can enter a block; -1: not known
	Released  bool  // an operator does not want to wait for that
	Journaled bool  // the journal explains all that was signed before BeganAt: it is put back, and nothing is waited for
	EndedAt   time.Time
}

var recoveryColumns = columnsOf([]column[Recovery]{
	{"number", func(r *Recovery) any { return &r.Number }},
	{"chain", func(r *Recovery) any { return &r.Chain }},
	{"cause", func(r *Recovery) any { return &r.Cause }},
	{"began_at", func(r *Recovery) any { return instant{&r.BeganAt} }},
	{"from_height", func(r *Recovery) any { return &r.From }},
	{"blocks", func(r *Recovery) any { return &r.Blocks }},
	{"until_height", func(r *Recovery) any { return &r.Until }},
	{"released", func(r *Recovery) any { return &r.Released }},
	{"journaled", func(r *Recovery) any { return &r.Journaled }},
	{"ended_at", func(r *Recovery) any { return instant{&r.EndedAt} }},
})

// Begin stops all payments of a chain, because the database may be older than the chain, and has its follower catch up
// once more. A recovery that is under way goes on, and waits again. The caller has locked the chain.
func (tx Recoveries) Begin(ctx context.Context, chain bursar.ChainID, cause string) error {
	return tx.beginRecovery(ctx, chain, cause, false)
}

// BeginJournaled is Recoveries.Begin where the journal explains all that was signed and is forgotten.
func (tx Recoveries) BeginJournaled(ctx context.Context, chain bursar.ChainID, cause string) error {
	return tx.beginRecovery(ctx, chain, cause, true)
}

func (tx *Tx) beginRecovery(ctx context.Context, chain bursar.ChainID, cause string, journaled bool) error {
	_, err := tx.exec(ctx, "begin recovery",
		`INSERT INTO recoveries(chain, cause, began_at, journaled) VALUES ($1, $2, $3, $4)
		ON CONFLICT (chain) WHERE ended_at = 0 DO UPDATE SET began_at = excluded.began_at, from_height = -1, blocks = 0,
		until_height = -1, released = FALSE, journaled = recoveries.journaled AND excluded.journaled`,
		string(chain), cause, micros(tx.now), journaled)
	if err != nil {
		return err
	}
	if _, err := tx.exec(ctx, "forget readiness",
		`UPDATE chains SET ready_token = 0 WHERE chain = $1`, string(chain)); err != nil {
		return err
	}
	return tx.Halts().Put(ctx, Halt{Scope: HaltChain(chain), Kind: HaltByRecovery, Reason: cause})
}

// Get returns the recovery that a chain is in, or ErrNotFound.
func (tx Recoveries) Get(ctx context.Context, chain bursar.ChainID) (Recovery, error) {
	return recoveryColumns.one(ctx, tx.Tx, "read recovery",
		`FROM recoveries WHERE chain = $1 AND ended_at = 0`, string(chain))
}

// IsOpen reports whether a chain is in a recovery.
func (tx Recoveries) IsOpen(ctx context.Context, chain bursar.ChainID) (bool, error) {
	_, err := tx.Get(ctx, chain)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// List returns the newest recoveries of all chains, those under way among them, newest first.
func (tx Recoveries) List(ctx context.Context, limit int) ([]Recovery, error) {
	return recoveryColumns.rows(ctx, tx.Tx, "list recoveries", `FROM recoveries ORDER BY number DESC LIMIT $1`, limit)
}

// Set writes From, Blocks, Until and Released of a recovery.
func (tx Recoveries) Set(ctx context.Context, r Recovery) error {
	return tx.change(ctx, "note recovery",
		`UPDATE recoveries SET from_height = $2, blocks = $3, until_height = $4, released = $5 WHERE number = $1`,
		r.Number, r.From, r.Blocks, r.Until, r.Released)
}

// End lets a chain's payments go on.
func (tx Recoveries) End(ctx context.Context, r Recovery) error {
	err := tx.change(ctx, "end recovery",
		`UPDATE recoveries SET ended_at = $2 WHERE number = $1 AND ended_at = 0`, r.Number, micros(tx.now))
	if err != nil {
		return err
	}
	_, err = tx.Halts().Lift(ctx, HaltChain(r.Chain), HaltByRecovery, "")
	return err
}
