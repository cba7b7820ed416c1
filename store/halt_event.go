package store

import "context"

// HaltEvent is the beginning or the end of a halt. Reason and Actor are those of the beginning or of the end.
type HaltEvent struct {
	Halt
	Resumed bool
}

var haltEventColumns = columnsWithin(haltColumns, func(e *HaltEvent) *Halt { return &e.Halt },
	column[HaltEvent]{"resumed", func(e *HaltEvent) any { return &e.Resumed }})

// End is Lift with who ended the halts of a scope, kind and ref, and why. With a number and a time,
// which the same transaction has read, it ends that one alone.
func (tx Halts) End(ctx context.Context, h Halt) (int64, error) {
	if err := tx.lockHalted(ctx, h.Scope); err != nil {
		return 0, err
	}
	n, err := tx.exec(ctx, "resume", `DELETE FROM halts WHERE scope = $1 AND kind = $2 AND (ref = $3 OR $3 = '')
		AND (number = $4 OR $4 = 0) AND (at = $5 OR $5 = 0)`, string(h.Scope), string(h.Kind), h.Ref, h.Number,
		micros(h.At))
	if err != nil || n == 0 {
		return 0, err
	}
	return n, tx.haltsChanged(ctx, HaltEvent{h, true})
}

// haltsChanged writes down what has changed, where others look for it.
func (tx *Tx) haltsChanged(ctx context.Context, e HaltEvent) error {
	if err := tx.noteFrozen(ctx, e.Scope); err != nil {
		return err
	}
	query, args := values{
		{"at", micros(tx.now)},
		{"resumed", e.Resumed},
		{"scope", string(e.Scope)},
		{"kind", string(e.Kind)},
		{"ref", e.Ref},
		{"reason", e.Reason},
		{"actor", e.Actor},
	}.insertInto("halt_events")
	if _, err := tx.exec(ctx, "note halt", query, args...); err != nil {
		return err
	}
	return tx.numberHalts(ctx)
}

// Events returns the newest beginnings and ends of halts, newest first.
func (tx Halts) Events(ctx context.Context, limit int) ([]HaltEvent, error) {
	return haltEventColumns.rows(ctx, tx.Tx, "list what was halted",
		`FROM halt_events ORDER BY number DESC LIMIT $1`, limit)
}
