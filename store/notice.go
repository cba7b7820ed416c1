package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
)

// NoticeReceiver is what is known of somebody who is notified. The configuration says who that is.
type NoticeReceiver struct {
	Name         string
	BegunAt      time.Time // alarms that were closed before are not announced
	Message      string    // that is being sent, as JSON; empty: none
	Held         string    // a message that waits for the end of quiet hours, as JSON; empty: none
	ComposedAt   time.Time // of the last message
	Attempts     int64     // to send the message; an outcome is recorded by its number
	NextAt       time.Time // before which nobody else tries
	Error        string    // of the last attempt; empty: it succeeded
	FailingSince time.Time // zero: the last attempt succeeded
	Sent         int64     // messages
	SentAt       time.Time
	Lost         int64     // messages that were given up since the last one that was sent
	SolvencyAt   time.Time // the last moment for which a line of solvency is in a message
	Waiting      map[string]time.Time
}

var receiverColumns = columnsOf([]column[NoticeReceiver]{
	{"name", func(r *NoticeReceiver) any { return &r.Name }},
	{"begun_at", func(r *NoticeReceiver) any { return instant{&r.BegunAt} }},
	{"message", func(r *NoticeReceiver) any { return &r.Message }},
	{"held", func(r *NoticeReceiver) any { return &r.Held }},
	{"composed_at", func(r *NoticeReceiver) any { return instant{&r.ComposedAt} }},
	{"attempts", func(r *NoticeReceiver) any { return &r.Attempts }},
	{"next_at", func(r *NoticeReceiver) any { return instant{&r.NextAt} }},
	{"error", func(r *NoticeReceiver) any { return &r.Error }},
	{"failing_since", func(r *NoticeReceiver) any { return instant{&r.FailingSince} }},
	{"sent", func(r *NoticeReceiver) any { return &r.Sent }},
	{"sent_at", func(r *NoticeReceiver) any { return instant{&r.SentAt} }},
	{"lost", func(r *NoticeReceiver) any { return &r.Lost }},
	{"solvency_at", func(r *NoticeReceiver) any { return instant{&r.SolvencyAt} }},
	{"waiting", func(r *NoticeReceiver) any { return newest{&r.Waiting} }},
})

// newest is where the column waiting is scanned into: an empty text, or JSON of microseconds.
type newest struct{ to *map[string]time.Time }

// Scan implements sql.Scanner.
func (n newest) Scan(src any) error {
	text, is := src.(string)
	if !is {
		return fmt.Errorf("scan what was announced of queues: unexpected %T", src)
	}
	*n.to = map[string]time.Time{}
	if text == "" {
		return nil
	}
	var at map[string]int64
	if err := json.Unmarshal([]byte(text), &at); err != nil {
		return fmt.Errorf("read what was announced of queues: %w", err)
	}
	for queue, t := range at {
		(*n.to)[queue] = time.UnixMicro(t).UTC()
	}
	return nil
}

// text is how the column waiting is written.
func (n newest) text() (string, error) {
	at := map[string]int64{}
	for queue, t := range *n.to {
		at[queue] = micros(t)
	}
	text, err := json.Marshal(at)
	return string(text), err
}

// Get returns what is known of a receiver; ErrNotFound where nothing was ever recorded.
func (tx Notices) Get(ctx context.Context, name string) (NoticeReceiver, error) {
	return receiverColumns.one(ctx, tx.Tx, "read a receiver of notices", `FROM notice_receivers WHERE name = $1`, name)
}

// Lock is Get for a change. A receiver that is new begins now. Nothing but an alarm is locked after it.
func (tx Notices) Lock(ctx context.Context, name string) (NoticeReceiver, error) {
	query, args := values{
		{"name", name},
		{"begun_at", micros(tx.now)},
	}.insertInto("notice_receivers")
	if _, err := tx.exec(ctx, "add a receiver of notices", query+` ON CONFLICT (name) DO NOTHING`, args...); err != nil {
		return NoticeReceiver{}, err
	}
	return receiverColumns.one(ctx, tx.Tx, "lock a receiver of notices",
		`FROM notice_receivers WHERE name = $1`+tx.forUpdate(), name)
}

// Put writes everything about a receiver. The transaction has locked it.
func (tx Notices) Put(ctx context.Context, r NoticeReceiver) error {
	waiting, err := newest{&r.Waiting}.text()
	if err != nil {
		return err
	}
	query, args := values{
		{"begun_at", micros(r.BegunAt)},
		{"message", r.Message},
		{"held", r.Held},
		{"composed_at", micros(r.ComposedAt)},
		{"attempts", r.Attempts},
		{"next_at", micros(r.NextAt)},
		{"error", r.Error},
		{"failing_since", micros(r.FailingSince)},
		{"sent", r.Sent},
		{"sent_at", micros(r.SentAt)},
		{"lost", r.Lost},
		{"solvency_at", micros(r.SolvencyAt)},
		{"waiting", waiting},
	}.update("notice_receivers", `WHERE name = $1`, r.Name)
	return tx.change(ctx, "write a receiver of notices", query, args...)
}

// UnnoticedAlarm is an alarm of which a receiver does not know everything.
type UnnoticedAlarm struct {
	Alarm
	NoticedAt time.Time // when it was raised, as the receiver knows; zero: it knows nothing of the alarm
}

// IsNew reports whether the receiver does not know that it was raised.
func (a UnnoticedAlarm) IsNew() bool { return !a.NoticedAt.Equal(a.At) }

var unnoticedColumns = columnsWithin(alarmColumns.of("a"), func(u *UnnoticedAlarm) *Alarm { return &u.Alarm },
	column[UnnoticedAlarm]{"COALESCE(n.at, 0)", func(u *UnnoticedAlarm) any { return instant{&u.NoticedAt} }})

// Unnoticed returns the alarms of which a receiver does not know that they were raised, or were closed, oldest first,
// up to a limit: those that are open, those that were closed after since, and those of which it knows that they were
// raised. Kinds restricts them; nil: none is left out.
func (tx Notices) Unnoticed(
	ctx context.Context, receiver string, kinds []string, since time.Time, limit int,
) ([]UnnoticedAlarm, error) {
	const joined = `FROM alarms a LEFT JOIN noticed_alarms n ON n.receiver = $1 AND n.alarm = a.number WHERE `
	var all []UnnoticedAlarm
	for _, part := range []struct {
		where, order string
		args         []any
	}{
		{joined + `a.resolved_at = 0 AND (n.at IS NULL OR n.at <> a.at)`, "a.at", nil},
		{joined + `a.resolved_at > $3 AND a.resolved_at <> 0 AND (n.at IS NULL OR n.at <> a.at OR n.closed_at = 0)`,
			"a.resolved_at", []any{micros(since)}},
		{`FROM noticed_alarms n JOIN alarms a ON a.number = n.alarm WHERE n.receiver = $1 AND n.closed_at = 0
			AND a.resolved_at <> 0 AND a.resolved_at <= $3`, "n.alarm", []any{micros(since)}},
	} {
		q := condition{args: append([]any{receiver, limit}, part.args...)}
		if kinds != nil {
			q.in(tx.Tx, "a.kind", kinds)
		}
		list, err := unnoticedColumns.rows(ctx, tx.Tx, "list alarms to announce",
			part.where+q.text+` ORDER BY `+part.order+` LIMIT $2`, q.args...)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	slices.SortFunc(all, func(a, b UnnoticedAlarm) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Number, b.Number))
	})
	return all[:min(limit, len(all))], nil
}

// Note records that a receiver knows of alarms what they are now: it is in its message. The transaction has locked the
// receiver.
func (tx Notices) Note(ctx context.Context, receiver string, alarms []UnnoticedAlarm) error {
	in := insertion{what: "record announced alarms", table: "noticed_alarms", rows: len(alarms),
		after: ` ON CONFLICT (receiver, alarm) DO UPDATE SET at = excluded.at, closed_at = excluded.closed_at`}
	for _, a := range alarms {
		in.add(values{
			{"receiver", receiver},
			{"alarm", a.Number},
			{"at", micros(a.At)},
			{"closed_at", micros(a.ResolvedAt)},
		})
	}
	return tx.insertRows(ctx, in)
}

// Overdue is what waits on a chain for longer than a time.
type Overdue struct {
	Chain          bursar.ChainID // empty: of none
	Count          int64
	Oldest, Newest time.Time
}

var overdueColumns = columnsOf([]column[Overdue]{
	{"chain", func(o *Overdue) any { return &o.Chain }},
	{"COUNT(*)", func(o *Overdue) any { return &o.Count }},
	{"MIN(created_at)", func(o *Overdue) any { return instant{&o.Oldest} }},
	{"MAX(created_at)", func(o *Overdue) any { return instant{&o.Newest} }},
})

// OverdueApprovals is what has waited for an operator's approval since before a time, by chain.
func (tx Queues) OverdueApprovals(ctx context.Context, before time.Time) ([]Overdue, error) {
	return overdueColumns.rows(ctx, tx.Tx, "count overdue approvals", `FROM withdrawals WHERE completed_at = 0
		AND status = 'pending_approval' AND created_at <= $1 GROUP BY chain ORDER BY chain`, micros(before))
}

// OverdueWithdrawals is what customers have waited for since before a time, without what waits for an operator.
func (tx Queues) OverdueWithdrawals(ctx context.Context, before time.Time) ([]Overdue, error) {
	return overdueColumns.rows(ctx, tx.Tx, "count overdue withdrawals", `FROM withdrawals WHERE completed_at = 0
		AND status <> 'pending_approval' AND created_at <= $1 GROUP BY chain ORDER BY chain`, micros(before))
}

// OverdueProposals is what was proposed before a time and waits for approvals; none is the zero Overdue.
func (tx Queues) OverdueProposals(ctx context.Context, before time.Time) (o Overdue, err error) {
	err = tx.row(ctx, "count overdue proposals", `SELECT COUNT(*), COALESCE(MIN(created_at), 0),
		COALESCE(MAX(created_at), 0) FROM proposals WHERE status = 'pending' AND created_at <= $1`,
		[]any{micros(before)}, &o.Count, instant{&o.Oldest}, instant{&o.Newest})
	return o, err
}
