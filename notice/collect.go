package notice

import (
	"context"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Bounds of what is looked at.
const (
	mostAlarms = 10_000             // in one message, which counts those that it does not show
	forgotten  = 7 * 24 * time.Hour // an alarm that opened and closed so long ago, unannounced, is not announced any more
	old        = 24 * time.Hour     // what happened so long ago is counted, not shown
)

// event is something that a receiver has not been notified of yet, with what is recorded once it has.
type event struct {
	line Line
	at   time.Time // when it happened

	alarm    store.UnnoticedAlarm // of an alarm
	queue    string               // of what waits: the key of NoticeReceiver.Waiting
	newest   time.Time            // of what waits: when the newest thing began to wait for too long
	solvency time.Time            // of a line of solvency: the moment for which it is
}

// Balance is what is owed and held of one currency, in whole units with its code.
type Balance struct {
	Owed, Held string
	Verdict    string // such as "covered"
}

// Statement is the solvency verdict.
type Statement struct {
	Solvent  bool
	Balances []Balance
}

// collect returns what a receiver has not been notified of, the oldest alarms first.
func (n *Notifier) collect(
	ctx context.Context, tx *store.Tx, r Receiver, row store.NoticeReceiver, statement *Line,
) (list []event, err error) {
	if r.wants(Alarms) {
		since := tx.Now().Add(-forgotten)
		if row.BegunAt.After(since) {
			since = row.BegunAt
		}
		alarms, err := tx.Notices().Unnoticed(ctx, r.Name, r.Alarms, since, mostAlarms)
		if err != nil {
			return nil, err
		}
		for _, a := range alarms {
			list = append(list, n.ofAlarm(a))
		}
	}
	waiting, err := n.waiting(ctx, tx, r, row)
	if err != nil {
		return nil, err
	}
	list = append(list, waiting...)
	if at, due := n.solvencyDue(r, row, tx.Now()); due && statement != nil {
		list = append(list, event{line: *statement, at: at, solvency: at})
	}
	return list, nil
}

// ofAlarm describes an alarm that opened, closed, or did both.
func (n *Notifier) ofAlarm(a store.UnnoticedAlarm) event {
	e := event{alarm: a, at: a.At, line: Line{Kind: Alarms, State: "opened", Alarm: a.Kind,
		Grave: bursar.IsGrave(a.Kind), Chain: string(a.Chain), Since: a.At, Runbook: n.Link + bursar.RunbookPath(a.Kind)}}
	on := ""
	if a.Chain != "" {
		on = " on " + string(a.Chain)
	}
	if a.ResolvedAt.IsZero() {
		what := "ALARM"
		if e.line.Grave {
			what = "URGENT ALARM"
		}
		e.line.Text = line("%s %s%s since %s (alarm %d): %s", what, a.Kind, on, moment(a.At), a.Number, a.Message)
		return e
	}
	e.at, e.line.State, e.line.Grave = a.ResolvedAt, "closed", false
	what := "CLOSED"
	if a.IsNew() {
		what = "OPENED AND CLOSED"
	}
	e.line.Text = line("%s %s%s at %s, after %s (alarm %d). It said: %s", what, a.Kind, on, moment(a.ResolvedAt),
		span(a.ResolvedAt.Sub(a.At)), a.Number, a.Message)
	return e
}

// waiting describes what has waited for longer than configured, once for each object.
func (n *Notifier) waiting(
	ctx context.Context, tx *store.Tx, r Receiver, row store.NoticeReceiver,
) (list []event, err error) {
	add := func(kind Kind, queue, what, wants, command string, after time.Duration, o store.Overdue) {
		key := strings.TrimSpace(queue + " " + string(o.Chain))
		if o.Count == 0 || !o.Newest.After(row.Waiting[key]) {
			return
		}
		on := ""
		if o.Chain != "" {
			on = " on " + string(o.Chain)
		}
		list = append(list, event{at: o.Newest.Add(after), queue: key, newest: o.Newest, line: Line{Kind: kind,
			State: "waiting", Chain: string(o.Chain), Since: o.Oldest, Runbook: n.Link + "/docs/runbooks#" + string(kind),
			Text: line("WAITING %s %s%s for more than %s, the oldest since %s: `%s`", number(int(o.Count), what),
				wants, on, span(after), moment(o.Oldest), command)}})
	}
	if r.wants(Approvals) && n.ApprovalsAfter > 0 {
		before := tx.Now().Add(-n.ApprovalsAfter)
		withdrawals, err := tx.Queues().OverdueApprovals(ctx, before)
		if err != nil {
			return nil, err
		}
		for _, o := range withdrawals {
			add(Approvals, "approvals", "withdrawal", "for your approval", "bursar withdrawal list --status pending_approval",
				n.ApprovalsAfter, o)
		}
		proposals, err := tx.Queues().OverdueProposals(ctx, before)
		if err != nil {
			return nil, err
		}
		add(Approvals, "proposals", "proposal", "for your approval", "bursar docs operations/proposals", n.ApprovalsAfter,
			proposals)
	}
	if r.wants(Withdrawals) && n.WithdrawalsAfter > 0 {
		overdue, err := tx.Queues().OverdueWithdrawals(ctx, tx.Now().Add(-n.WithdrawalsAfter))
		if err != nil {
			return nil, err
		}
		for _, o := range overdue {
			add(Withdrawals, "withdrawals", "withdrawal", "to be paid", "bursar doctor", n.WithdrawalsAfter, o)
		}
	}
	return list, nil
}

// solvencyDue returns the newest moment for which a line of solvency is due, if a receiver lacks it.
func (n *Notifier) solvencyDue(r Receiver, row store.NoticeReceiver, now time.Time) (at time.Time, due bool) {
	if n.Daily < 0 || !r.wants(Solvency) || row.BegunAt.IsZero() {
		return time.Time{}, false
	}
	at = r.last(now, n.Daily)
	return at, at.After(row.SolvencyAt) && at.After(row.BegunAt)
}

// statement describes the solvency verdict. If it cannot be computed, the line says so, and nothing else is delayed.
func (n *Notifier) statement(ctx context.Context) *Line {
	l := Line{Kind: Solvency, State: "insolvent", Grave: true, Runbook: n.Link + "/docs/runbooks#solvency"}
	var s Statement
	err := n.DB.View(ctx, func(tx *store.Tx) (err error) {
		s, err = n.Solvency(ctx, tx)
		return err
	})
	if err != nil {
		n.Log.Warn("solvency verdict for a notice not available", "error", err)
		l.Text = "SOLVENCY NOT KNOWN: the comparison of what is owed and held failed. See the log, and run `bursar doctor`"
		return &l
	}
	l.Text = "NOT SOLVENT: less is held than owed. Pay nothing out, and run `bursar doctor`"
	if s.Solvent {
		l.State, l.Grave, l.Text = "solvent", false, "SOLVENT: everything that is owed is held"
	}
	for _, b := range s.Balances {
		l.Text += "\n  " + line("owed %s, held %s: %s", b.Owed, b.Held, b.Verdict)
	}
	return &l
}
