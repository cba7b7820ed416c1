package withdrawal_test

import (
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// The account that requested a withdrawal is notified of every change of its status at its own webhook, except of what
// the answer of the request has said already and of the moment between signing and sending.
func TestTheAccountOfAWithdrawalIsNotified(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		r.Pay(r.Wallet(0).Address, 900_000_000)
		r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
		neighbour := r.Wallet(1)
		r.Chain.Mine(3)
		r.Step()
		r.Currency.ApprovalAbove = bursar.Units(50_000_000)
		r.Reconfigure()
		r.Notify(0, false, true, "https://shop.example/account")
		want := map[bursar.ID]string{}
		order := func(units uint64, to string, words ...string) bursar.ID {
			t.Helper()
			w, err := r.Withdraw(0, units, to)
			r.Must(err)
			want[w.ID] = strings.Join(words, " ")
			return w.ID
		}
		order(10_000_000, r.Chain.Named("small"), "broadcast", "confirmed")
		order(10_000_000, neighbour.Address.String(), "confirmed")
		approved := order(60_000_000, r.Chain.Named("large"), "queued", "broadcast", "confirmed")
		inside := order(60_000_000, neighbour.Address.String(), "confirmed")
		rejected, cancelled := order(60_000_000, r.Chain.Named("no"), "rejected"),
			order(60_000_000, r.Chain.Named("back"), "cancelled")
		for _, decide := range []func() (bursar.Withdrawal, error){
			func() (bursar.Withdrawal, error) { return r.Withdrawals.Approve(ctx, approved) },
			func() (bursar.Withdrawal, error) { return r.Withdrawals.Approve(ctx, inside) },
			func() (bursar.Withdrawal, error) { return r.Withdrawals.Reject(ctx, rejected, "no") },
			func() (bursar.Withdrawal, error) { return r.Withdrawals.Cancel(ctx, cancelled) },
		} {
			_, err := decide()
			r.Must(err)
		}
		if r.Chain.Capabilities().Model == chain.AccountModel { // a transaction of UTXOs cannot fail in a block
			door := r.Chain.Named("closes its door")
			order(10_000_000, door, "broadcast", "failed")
			r.Step()
			r.Chain.Close(door)
		}
		r.Settle()
		r.Settle()
		got := r.Notified(0)
		for id, words := range want {
			if g := got[id]; strings.Join(g.Words, " ") != words || g.URL != "https://shop.example/account" {
				t.Errorf("notified %+v, not %s", g, words)
			}
		}
		for subject, g := range r.Notified(1) {
			if _, theirs := want[subject]; theirs {
				t.Errorf("the other account was notified of %+v", g)
			}
		}
		r.Must(r.Audit())
	})
}

// A changed setting counts for the next events, and for none before.
func TestANotificationSettingCountsAtOnce(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		w := r.Wallet(0)
		r.Pay(w.Address, 300_000_000)
		r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
		r.Chain.Mine(3)
		r.Step()
		quiet, err := r.Withdraw(0, 1_000_000, r.Chain.Named("quiet"))
		r.Must(err)
		r.Settle()
		if got := r.Notified(0); len(got) != 1 || got[quiet.ID].Words != nil {
			t.Fatalf("notified without asking: %+v", got)
		}
		r.Notify(0, true, true, "")
		r.Pay(w.Address, 7_000_000)
		r.Chain.Mine(1)
		r.Step()
		r.Notify(0, false, true, "")
		r.Chain.Mine(3)
		r.Step()
		nowhere, err := r.Withdraw(0, 1_000_000, r.Chain.Named("nowhere"))
		r.Must(err)
		r.Do(func(tx *store.Tx) error {
			_, err := tx.Wallets().SetWebhookRule(ctx, r.Accounts[0], "", "https://shop.example/all")
			return err
		})
		toAll, err := r.Withdraw(0, 1_000_000, r.Chain.Named("all"))
		r.Must(err)
		r.Step()
		r.Notify(0, false, true, "https://shop.example/own")
		r.Settle()
		got := r.Notified(0)
		if pending := count(got, "deposit_pending deposit"); pending != 1 || count(got, "deposit") != 1 {
			t.Errorf("notified of deposits: %+v, want 1", got)
		}
		for id, url := range map[bursar.ID]string{nowhere.ID: "https://shop.example/own",
			toAll.ID: "https://shop.example/own"} {
			if g := got[id]; g.URL != url || len(g.Words) == 0 {
				t.Errorf("notified of a withdrawal: %+v, want %v and some", g, url)
			}
		}
		r.View(func(tx *store.Tx) error {
			list, err := tx.Deliveries().Find(ctx, store.DeliveryFilter{Account: r.Accounts[0]}, store.Page{Limit: 100})
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

func count(all map[bursar.ID]bursartest.Notified, words string) (n int) {
	for _, g := range all {
		if strings.Join(g.Words, " ") == words {
			n++
		}
	}
	return n
}

// A reorg is notified as well: a customer who was notified of a payment learns that it is in progress again.
func TestAReorgedOutWithdrawalIsNotified(t *testing.T) {
	words := func(r *bursartest.OneChain, w bursar.Withdrawal) string {
		return strings.Join(r.Notified(0)[w.ID].Words, " ")
	}
	t.Run("fails after all", func(t *testing.T) {
		bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
			r.Prepare()
			r.Notify(0, false, true, "https://shop.example/account")
			to := r.Chain.Named("closed later")
			w := r.Order(300_000_000, to)
			r.Settle()
			r.Chain.Close(to)
			r.Undo(r.Now(w).TxID)
			r.Step()
			r.Settle()
			if got := words(r, w); got != "broadcast confirmed broadcast failed" {
				t.Errorf("notified %s, want broadcast confirmed broadcast failed", got)
			}
		})
	})
	t.Run("expires after all", func(t *testing.T) {
		bursartest.On(t, bursartest.Expiring, func(t *testing.T, r *bursartest.OneChain) {
			r.Prepare()
			r.Notify(0, false, true, "https://shop.example/account")
			w := r.Order(300_000_000, r.Chain.Named("outside"))
			r.Settle()
			first := r.Now(w).TxID
			r.Undo(first, first)
			r.Lose(15)
			r.Settle()
			if got := words(r, w); !strings.HasPrefix(got, "broadcast confirmed broadcast queued broadcast ") ||
				!strings.HasSuffix(got, " queued broadcast confirmed") {
				t.Errorf("notified %s, want %q first and %q last", got, "broadcast confirmed broadcast queued broadcast ",
					" queued broadcast confirmed")
			}
		})
	})
}
