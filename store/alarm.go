package store

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// Alarm is something an operator must look at. (Kind, Ref) names it once.
type Alarm struct {
	Number     int64
	Chain      bursar.ChainID
	Kind       string
	Ref        string
	Message    string
	At         time.Time
	ResolvedAt time.Time
}

var alarmColumns = columnsOf([]column[Alarm]{
	{"number", func(a *Alarm) any { return &a.Number }},
	{"chain", func(a *Alarm) any { return &a.Chain }},
	{"kind", func(a *Alarm) any { return &a.Kind }},
	{"ref", func(a *Alarm) any { return &a.Ref }},
	{"message", func(a *Alarm) any { return &a.Message }},
	{"at", func(a *Alarm) any { return instant{&a.At} }},
	{"resolved_at", func(a *Alarm) any { return instant{&a.ResolvedAt} }},
})

// Raise records an alarm; one that is raised already keeps its first time, one that was resolved opens again.
func (tx Alarms) Raise(ctx context.Context, a Alarm) error {
	return tx.RaiseAll(ctx, []Alarm{a})
}

// RaiseAll is Raise for several alarms, each once.
func (tx Alarms) RaiseAll(ctx context.Context, alarms []Alarm) error {
	in := insertion{what: "raise alarms", table: "alarms", rows: len(alarms),
		after: ` ON CONFLICT (kind, ref) DO UPDATE SET message = excluded.message,
		at = CASE WHEN alarms.resolved_at = 0 THEN alarms.at ELSE excluded.at END, resolved_at = 0`}
	for _, a := range alarms {
		in.add(values{
			{"chain", string(a.Chain)},
			{"kind", a.Kind},
			{"ref", a.Ref},
			{"message", a.Message},
			{"at", micros(tx.now)},
		})
	}
	return tx.insertRows(ctx, in)
}

// Resolve closes an alarm; closing one that is not open changes nothing.
func (tx Alarms) Resolve(ctx context.Context, kind, ref string) error {
	_, err := tx.exec(ctx, "resolve alarm",
		`UPDATE alarms SET resolved_at = $3 WHERE kind = $1 AND ref = $2 AND resolved_at = 0`, kind, ref, micros(tx.now))
	return err
}

// ResolveAll is Resolve for several alarms of a kind.
func (tx Alarms) ResolveAll(ctx context.Context, kind string, refs []string) error {
	for part := range parts(tx.Tx, refs) {
		those, args := among(tx.Tx, "ref", part, kind, micros(tx.now))
		_, err := tx.exec(ctx, "resolve alarms",
			`UPDATE alarms SET resolved_at = $2 WHERE kind = $1 AND resolved_at = 0 AND `+those, args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// IsOpen reports whether an alarm is raised and not resolved.
func (tx Alarms) IsOpen(ctx context.Context, kind, ref string) (bool, error) {
	var n int64
	err := tx.row(ctx, "look for alarm",
		`SELECT COUNT(*) FROM alarms WHERE kind = $1 AND ref = $2 AND resolved_at = 0`, []any{kind, ref}, &n)
	return n > 0, err
}

// OfKind returns the open alarms of a kind, oldest first.
func (tx Alarms) OfKind(ctx context.Context, kind string) ([]Alarm, error) {
	return alarmColumns.rows(ctx, tx.Tx, "list alarms of a kind",
		`FROM alarms WHERE kind = $1 AND resolved_at = 0 ORDER BY number`, kind)
}

// List returns the open alarms, newest first.
func (tx Alarms) List(ctx context.Context, limit int) ([]Alarm, error) {
	return alarmColumns.rows(ctx, tx.Tx, "list alarms",
		`FROM alarms WHERE resolved_at = 0 ORDER BY at DESC LIMIT $1`, limit)
}

// Close resolves an open alarm by its number and returns it, or ErrNotFound.
func (tx Alarms) Close(ctx context.Context, number int64) (Alarm, error) {
	return one(ctx, tx.Tx, "close alarm", alarmColumns.scan, `UPDATE alarms SET resolved_at = $2
		WHERE number = $1 AND resolved_at = 0 RETURNING `+alarmColumns.names, number, micros(tx.now))
}
