package oversight

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// mostAlarms bounds the alarms that Home shows; the command lists all of them.
const mostAlarms = 50

func readHome(ctx context.Context, r *reading) (s Sheet, err error) {
	s.Command = "bursar doctor"
	if len(r.Accounts) > 0 {
		return s, r.ownHome(ctx, &s)
	}
	b, err := r.books(ctx)
	if err != nil {
		return s, err
	}
	if b.verdict.OK() {
		s.alert(Good, "Covered: everything that is owed is held.", "/balances")
	}
	for _, p := range b.verdict.Problems {
		s.alert(Bad, p.Message, "/balances")
	}
	r.total(b).say(&s, totalsAtHome)
	for _, add := range []func(context.Context, *Sheet) error{r.addProposals, r.addAlarms, r.addHalts, r.addQueues,
		r.addApprovals,
		r.addAttention, r.addChains} {
		if err := add(ctx, &s); err != nil {
			return s, err
		}
	}
	t := r.balanceTable(b)
	t.Title = "Balances"
	s.Tables = append(s.Tables, t)
	return s, nil
}

// ownHome is Home of somebody who may see some accounts only: what waits for a person there.
func (r *reading) ownHome(ctx context.Context, s *Sheet) error {
	s.Command = ""
	if err := r.addProposals(ctx, s); err != nil {
		return err
	}
	walk, waits := store.Walk{Limit: mostWaiting, Accounts: r.Accounts}, true
	charges, _, err := r.tx.Charges().Walk(ctx, store.ChargeFilter{Attention: &waits}, walk)
	if err != nil {
		return err
	}
	t := r.chargeTable(charges, 0)
	t.Title, t.Empty = "Charges that need a person", "None."
	withdrawals, _, err := r.tx.Withdrawals().Walk(ctx,
		store.WithdrawalFilter{Status: bursar.WithdrawalPendingApproval}, walk)
	if err != nil {
		return err
	}
	w, err := r.withdrawalTable(ctx, withdrawals, 0)
	w.Title, w.Empty = "Withdrawals to approve", "None."
	s.Tables = append(s.Tables, t, w)
	return err
}

// addProposals says how many proposals wait for somebody's approval.
func (r *reading) addProposals(ctx context.Context, s *Sheet) error {
	list, err := r.tx.Proposals().List(ctx, store.ProposalPending, r.Accounts, mostWaiting)
	list = slices.DeleteFunc(list, func(p store.Proposal) bool { return !r.tx.Now().Before(p.ExpiresAt) })
	if err != nil || len(list) == 0 {
		return err
	}
	some, oldest := fmt.Sprint(len(list)), list[len(list)-1]
	if len(list) == mostWaiting {
		some += " or more"
	}
	s.alert(Warn, fmt.Sprintf("Proposals that wait for approval: %s, one of them for %s.", some,
		age(r.tx.Now(), oldest.CreatedAt)), "/proposals?status=pending")
	return nil
}

func (r *reading) addAlarms(ctx context.Context, s *Sheet) error {
	open, err := r.tx.Alarms().List(ctx, mostAlarms)
	t := Table{Key: "alarms", Title: "Alarms", Empty: "No alarm is open.", Columns: []Column{
		{"at", "Since", Moment},
		{"kind", "Kind", State},
		{"chain", "Chain", Plain},
		{"message", "What", Written},
		{"number", "Number", Figure},
		{"runbook", "What to do", Plain},
	}}
	for _, a := range open {
		t.Rows = append(t.Rows, []Cell{at(a.At), {Text: a.Kind, Tone: Bad}, text(string(a.Chain)), text(a.Message),
			number(a.Number), text(bursar.RunbookPath(a.Kind))})
	}
	t.Note = "The paths of what to do are pages of this address."
	if len(open) == mostAlarms {
		t.Note += " These are the newest alarms; `bursar alarm list` shows all."
	}
	s.Tables = append(s.Tables, t)
	return err
}

func (r *reading) addHalts(ctx context.Context, s *Sheet) error {
	halts, err := r.tx.Halts().List(ctx)
	if err != nil || len(halts) == 0 {
		return err
	}
	s.Tables = append(s.Tables, haltTable(halts))
	return nil
}

func haltTable(halts []store.Halt) Table {
	t := Table{Key: "halts", Title: "Halts", Empty: "Nothing is halted.", Columns: []Column{
		{"at", "Since", Moment},
		{"scope", "What", Plain},
		{"by", "By", Written},
		{"reason", "Why", Written},
		{"command", "End it with", Command},
	}}
	for _, h := range halts {
		by := h.Actor
		if by == "" {
			by = string(h.Kind)
		}
		t.Rows = append(t.Rows, []Cell{at(h.At), {Text: h.Scope.String(), Tone: Bad}, text(by), text(h.Reason),
			text(h.Remedy())})
	}
	return t
}

// addQueues adds the queues that are not empty.
func (r *reading) addQueues(ctx context.Context, s *Sheet) error {
	t := Table{Key: "queues", Title: "Waiting", Empty: "Nothing waits.", Columns: []Column{
		{"what", "What", Plain},
		{"chain", "Chain", Plain},
		{"number", "How many", Figure},
		{"oldest", "Oldest", Plain},
	}}
	add := func(what, link string, id bursar.ChainID, q store.Queue, err error) error {
		if err == nil && q.Waiting > 0 {
			t.Rows = append(t.Rows, []Cell{{Text: what, Link: link}, text(string(id)), number(q.Waiting),
				text(age(r.tx.Now(), q.Oldest))})
		}
		return err
	}
	q, err := r.tx.Queues().DueDeliveries(ctx)
	if err := add("webhooks to deliver", "/webhooks?status=pending", "", q, err); err != nil {
		return err
	}
	states, err := r.tx.Chains().States(ctx)
	if err != nil {
		return err
	}
	for _, c := range states {
		for _, queue := range []struct {
			what, link string
			read       func(context.Context, bursar.ChainID) (store.Queue, error)
		}{{"withdrawals to approve", "/withdrawals?status=pending_approval", r.tx.Queues().WaitingApprovals},
			{"withdrawals in progress", "/withdrawals", r.tx.Queues().OpenWithdrawals},
			{"outgoing transactions in progress", "", r.tx.Queues().OpenOutgoing},
			{"deposits not yet final", "/deposits?status=pending", r.tx.Queues().PendingDeposits}} {
			q, err := queue.read(ctx, c.Chain)
			if err := add(queue.what, queue.link, c.Chain, q, err); err != nil {
				return err
			}
		}
	}
	s.Tables = append(s.Tables, t)
	return nil
}

// mostWaiting bounds what Home shows of a list; the page of the list shows all.
const mostWaiting = 30

// addApprovals adds the withdrawals that wait for an operator or for persons.
func (r *reading) addApprovals(ctx context.Context, s *Sheet) error {
	list, err := r.tx.Withdrawals().Unfinished(ctx, mostWaiting)
	if err != nil {
		return err
	}
	t, err := r.withdrawalTable(ctx, list, 0)
	t.Title, t.Empty = "Withdrawals in progress", "None."
	if len(list) == mostWaiting {
		t.Note = "The oldest of them; the page Withdrawals lists all."
	}
	s.Tables = append(s.Tables, t)
	return err
}

// addAttention adds what waits for a person's decision.
func (r *reading) addAttention(ctx context.Context, s *Sheet) error {
	charges, err := r.tx.Queues().WaitingCharges(ctx)
	if err != nil {
		return err
	}
	if charges.Waiting > 0 {
		s.alert(Warn, fmt.Sprintf("%d charges need a person, the first for %s.", charges.Waiting,
			age(r.tx.Now(), charges.Oldest)), "/charges?attention=yes")
	}
	list, err := r.tx.Deposits().Unattributed(ctx, false, store.Page{Limit: mostWaiting})
	if err != nil || len(list) == 0 {
		return err
	}
	some := fmt.Sprintf("%d", len(list))
	if len(list) == mostWaiting {
		some += " or more"
	}
	s.alert(Warn, some+" unattributed deposits wait to be resolved.", "/unattributed")
	return nil
}

// age writes how long ago something was in its two largest units.
func age(now, then time.Time) string {
	d := max(now.Sub(then), 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return strings.TrimSuffix(fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute), " 0 min")
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}
