package outgoing_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
)

// notify changes what an account is told of, and where.
func (r *harness) notify(account int, pending, withdrawals bool, webhook string) {
	r.t.Helper()
	r.do(func(tx *store.Tx) error {
		_, err := tx.Accounts().SetNotifications(ctx,
			bursar.Account{ID: r.accounts[account], NotifyPending: pending, NotifyWithdrawals: withdrawals, Webhook: webhook})
		return err
	})
}

// notified is what an account was notified of a subject.
type notified struct {
	url   string
	words []string // kinds of events; of withdrawals, their status
}

// notified returns what an account was notified, oldest first, by subject.
func (r *harness) notified(account int) map[bursar.ID]notified {
	r.t.Helper()
	all := map[bursar.ID]notified{}
	r.view(func(tx *store.Tx) error {
		events, err := tx.Deliveries().List(ctx, r.accounts[account], store.Page{Limit: 100})
		for _, e := range slices.Backward(events) {
			word := string(e.Kind)
			if e.Kind == bursar.EventWithdrawal {
				w := r.withdrawalIn(e.Body)
				if word = string(w.Status); (w.CompletedAt != nil) != completed(w.Status) || w.WithdrawalID != e.Subject {
					r.t.Errorf("told of %+v", w)
				}
			}
			all[e.Subject] = notified{e.URL, append(all[e.Subject].words, word)}
		}
		return err
	})
	return all
}

func completed(s bursar.WithdrawalStatus) bool {
	return slices.Contains([]bursar.WithdrawalStatus{bursar.WithdrawalConfirmed, bursar.WithdrawalRejected,
		bursar.WithdrawalCancelled, bursar.WithdrawalFailed}, s)
}

func (r *harness) withdrawalIn(body []byte) wire.Withdrawal {
	r.t.Helper()
	var whole struct {
		Response struct {
			Webhook struct {
				Type       string
				Withdrawal wire.Withdrawal
			}
		}
	}
	r.must(json.Unmarshal(body, &whole))
	if whole.Response.Webhook.Type != "account" {
		r.t.Errorf("its type is %s", whole.Response.Webhook.Type)
	}
	return whole.Response.Webhook.Withdrawal
}

// Every change of a withdrawal's status is told to the account that asked, at its own webhook; what the answer of the
// request has said already, and the moment between signing and sending, are not.
func TestWithdrawalsAreAnnouncedToWhoAsked(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		r.pay(r.wallet(0).Address, 900_000_000)
		r.pay(bursar.Address{Base: r.hot.Base}, 900_000_000)
		neighbour := r.wallet(1)
		r.chain.Mine(3)
		r.step()
		r.currency.ApprovalAbove = bursar.Units(50_000_000)
		var err error
		r.registry, err = bursar.NewRegistry([]bursar.Currency{r.currency})
		r.must(err)
		r.restart()
		r.notify(0, false, true, "https://shop.example/account")
		want := map[bursar.ID]string{}
		order := func(units uint64, to string, words ...string) bursar.ID {
			t.Helper()
			w, err := r.withdraw(0, units, to)
			r.must(err)
			want[w.ID] = strings.Join(words, " ")
			return w.ID
		}
		order(10_000_000, r.chain.Named("small"), "broadcast", "confirmed")
		order(10_000_000, neighbour.Address.String(), "confirmed")
		approved := order(60_000_000, r.chain.Named("large"), "queued", "broadcast", "confirmed")
		inside := order(60_000_000, neighbour.Address.String(), "confirmed")
		rejected, cancelled := order(60_000_000, r.chain.Named("no"), "rejected"),
			order(60_000_000, r.chain.Named("back"), "cancelled")
		for _, decide := range []func() (bursar.Withdrawal, error){
			func() (bursar.Withdrawal, error) { return r.withdrawals.Approve(ctx, approved) },
			func() (bursar.Withdrawal, error) { return r.withdrawals.Approve(ctx, inside) },
			func() (bursar.Withdrawal, error) { return r.withdrawals.Reject(ctx, rejected, "no") },
			func() (bursar.Withdrawal, error) { return r.withdrawals.Cancel(ctx, cancelled) },
		} {
			_, err := decide()
			r.must(err)
		}
		if r.chain.Capabilities().Model == chain.AccountModel { // a transaction of UTXOs cannot fail in a block
			door := r.chain.Named("closes its door")
			order(10_000_000, door, "broadcast", "failed")
			r.step()
			r.chain.Close(door)
		}
		r.settle()
		r.settle()
		got := r.notified(0)
		for id, words := range want {
			if g := got[id]; strings.Join(g.words, " ") != words || g.url != "https://shop.example/account" {
				t.Errorf("told %+v, not %s", g, words)
			}
		}
		for subject, g := range r.notified(1) {
			if _, theirs := want[subject]; theirs {
				t.Errorf("the other account was told %+v", g)
			}
		}
		r.must(r.audit())
	})
}

// What is set counts for what happens next, and for nothing before.
func TestWhatAnAccountIsNotifiedOfCountsAtOnce(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		w := r.wallet(0)
		r.pay(w.Address, 300_000_000)
		r.pay(bursar.Address{Base: r.hot.Base}, 900_000_000)
		r.chain.Mine(3)
		r.step()
		quiet, err := r.withdraw(0, 1_000_000, r.chain.Named("quiet"))
		r.must(err)
		r.settle()
		if got := r.notified(0); len(got) != 1 || got[quiet.ID].words != nil {
			t.Fatalf("told without asking: %+v", got)
		}
		r.notify(0, true, true, "")
		r.pay(w.Address, 7_000_000)
		r.chain.Mine(1)
		r.step()
		r.notify(0, false, true, "")
		r.chain.Mine(3)
		r.step()
		nowhere, err := r.withdraw(0, 1_000_000, r.chain.Named("nowhere"))
		r.must(err)
		r.do(func(tx *store.Tx) error {
			_, err := tx.Wallets().SetWebhookRule(ctx, r.accounts[0], "", "https://shop.example/all")
			return err
		})
		toAll, err := r.withdraw(0, 1_000_000, r.chain.Named("all"))
		r.must(err)
		r.step()
		r.notify(0, false, true, "https://shop.example/own")
		r.settle()
		got := r.notified(0)
		if pending := count(got, "deposit_pending deposit"); pending != 1 || count(got, "deposit") != 1 {
			t.Errorf("told of deposits: %+v", got)
		}
		for id, url := range map[bursar.ID]string{nowhere.ID: "https://shop.example/own",
			toAll.ID: "https://shop.example/own"} {
			if g := got[id]; g.url != url || len(g.words) == 0 {
				t.Errorf("told of a withdrawal: %+v", g)
			}
		}
		r.view(func(tx *store.Tx) error {
			list, err := tx.Deliveries().Find(ctx, store.DeliveryFilter{Account: r.accounts[0]}, store.Page{Limit: 100})
			urls := map[string]int{}
			for _, d := range list {
				urls[d.URL]++
			}
			if urls["https://shop.example/all"] == 0 {
				t.Errorf("without a webhook of its own: %v", urls)
			}
			return err
		})
	})
}

func count(all map[bursar.ID]notified, words string) (n int) {
	for _, g := range all {
		if strings.Join(g.words, " ") == words {
			n++
		}
	}
	return n
}

// What the chain took back is told as well: a customer who was told of a payment learns that it is under way again.
func TestAReorgedWithdrawalIsAnnounced(t *testing.T) {
	words := func(r *harness, w bursar.Withdrawal) string { return strings.Join(r.notified(0)[w.ID].words, " ") }
	t.Run("fails after all", func(t *testing.T) {
		each(t, numbered, func(t *testing.T, r *harness) {
			r.prepare()
			r.notify(0, false, true, "https://shop.example/account")
			to := r.chain.Named("closed later")
			w := r.order(300_000_000, to)
			r.settle()
			r.chain.Close(to)
			r.undo(r.now(w).TxID)
			r.step()
			r.settle()
			if got := words(r, w); got != "broadcast confirmed broadcast failed" {
				t.Errorf("told %s", got)
			}
		})
	})
	t.Run("expires after all", func(t *testing.T) {
		each(t, expiring, func(t *testing.T, r *harness) {
			r.prepare()
			r.notify(0, false, true, "https://shop.example/account")
			w := r.order(300_000_000, r.chain.Named("outside"))
			r.settle()
			first := r.now(w).TxID
			r.undo(first, first)
			r.lose(15)
			r.settle()
			if got := words(r, w); !strings.HasPrefix(got, "broadcast confirmed broadcast queued broadcast ") ||
				!strings.HasSuffix(got, " queued broadcast confirmed") {
				t.Errorf("told %s", got)
			}
		})
	})
}
