package bursartest

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
)

// Notify changes the events that an account is notified of, and their webhook.
func (r *OneChain) Notify(account int, pending, withdrawals bool, webhook string) {
	r.T.Helper()
	r.Do(func(tx *store.Tx) error {
		_, err := tx.Accounts().SetNotifications(ctx,
			bursar.Account{ID: r.Accounts[account], NotifyPending: pending, NotifyWithdrawals: withdrawals, Webhook: webhook})
		return err
	})
}

// Notified is the list of what an account was notified about a subject.
type Notified struct {
	URL   string
	Words []string // kinds of events; of withdrawals, their status
}

// Notified returns the events of an account, oldest first, by subject.
func (r *OneChain) Notified(account int) map[bursar.ID]Notified {
	r.T.Helper()
	all := map[bursar.ID]Notified{}
	r.View(func(tx *store.Tx) error {
		events, err := tx.Deliveries().List(ctx, r.Accounts[account], store.Page{Limit: 100})
		for _, e := range slices.Backward(events) {
			word := string(e.Kind)
			if e.Kind == bursar.EventWithdrawal {
				w := r.WithdrawalIn(e.Body)
				if word = string(w.Status); (w.CompletedAt != nil) != Completed(w.Status) || w.WithdrawalID != e.Subject {
					r.T.Errorf("its notification is %+v", w)
				}
			}
			all[e.Subject] = Notified{e.URL, append(all[e.Subject].Words, word)}
		}
		return err
	})
	return all
}

// Completed reports whether a withdrawal of a status has ended.
func Completed(s bursar.WithdrawalStatus) bool {
	return slices.Contains([]bursar.WithdrawalStatus{bursar.WithdrawalConfirmed, bursar.WithdrawalRejected,
		bursar.WithdrawalCancelled, bursar.WithdrawalFailed}, s)
}

// WithdrawalIn returns the withdrawal in the body of an event.
func (r *OneChain) WithdrawalIn(body []byte) wire.Withdrawal {
	r.T.Helper()
	var whole struct {
		Response struct {
			Webhook struct {
				Type       string
				Withdrawal wire.Withdrawal
			}
		}
	}
	r.Must(json.Unmarshal(body, &whole))
	if whole.Response.Webhook.Type != "account" {
		r.T.Errorf("its type is %s, want %q", whole.Response.Webhook.Type, "account")
	}
	return whole.Response.Webhook.Withdrawal
}

// WantEvents checks the kinds of an account's events, newest first.
func (r *OneChain) WantEvents(account int, kinds ...bursar.EventKind) (events []store.Delivery) {
	r.T.Helper()
	r.View(func(tx *store.Tx) (err error) {
		events, err = tx.Deliveries().List(ctx, r.Accounts[account], store.Page{Limit: 100})
		return err
	})
	var got []bursar.EventKind
	for _, e := range events {
		got = append(got, e.Kind)
	}
	if fmt.Sprint(got) != fmt.Sprint(kinds) {
		r.T.Errorf("account %d is notified of %q, want %q", account, got, kinds)
	}
	return events
}
