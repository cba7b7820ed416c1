package e2e

import (
	"fmt"
	"net/http"
)

// reorganise replaces three blocks before finality: one payment comes again in another block, the other one never does.
func (w *world) reorganise() {
	for _, currency := range currencies {
		w.blocks("manual")
		kept, dropped, before := w.a.wallet(currency), w.a.wallet(currency), w.a.balance(currency)
		w.mine(currency, 1)
		keep, drop := w.pay(currency, share{kept, "0.4"}), w.pay(currency, share{dropped, "0.6"})
		w.mine(currency, 2) // one less than finality on Bitcoin
		w.settled(kept, keep, "pending", 1)
		w.settled(dropped, drop, "pending", 1)
		w.reorg(currency, 3, drop)
		w.settled(dropped, drop, "orphaned", 1)
		w.mine(currency, 4)
		w.credited(kept, keep, "0.4")
		if gain := w.a.balance(currency); gain.Sub(gain, before).Cmp(units(currency, "0.4")) != 0 {
			w.t.Errorf("%s: a reorganisation that kept 0.4 brought %v", currency, gain)
		}
		if err := dropped.has(drop, "orphaned", 1); err != nil {
			w.t.Error(err)
		}
		w.blocks("auto")
	}
}

// reverse takes a credited payment off the chain: the credit goes, the account may not withdraw, and the payment may be
// made again.
func (w *world) reverse() {
	for _, currency := range currencies {
		w.blocks("manual")
		l := w.c.wallet(currency)
		hash := w.pay(currency, share{l, "0.3"})
		w.mine(currency, 5)
		w.credited(l, hash, "0.3")
		w.reorg(currency, 6, hash)
		w.settled(l, hash, "reversed", 1)
		eventually(w.t, patience, "webhook of a reversal", func() error { return w.c.told("deposit_reversed", of(hash, "0.3")) })
		if left := w.c.balance(currency); left.Sign() != 0 {
			w.t.Errorf("%s after the reversal: %v", currency, left)
		}
		again := w.pay(currency, share{l, "0.3"})
		if again == hash {
			w.t.Fatalf("the payment made again is the transaction %s that was dropped", hash)
		}
		w.mine(currency, 5)
		w.credited(l, again, "0.3")
		o := w.order(w.c, currency, "0.1", w.outsider(currency))
		if err := o.place(); !isCode(err, "withdrawals_frozen") {
			w.t.Errorf("withdrawal from a frozen account: %v", err)
		}
		w.run("account", "unfreeze", w.c.AccountID)
		w.must(o.place())
		w.blocks("auto")
		w.paid([]*order{o})
	}
}

// faults makes nodes fail while payments come in. Addresses are made all the same, and what was paid is credited after.
func (w *world) faults() {
	for _, round := range []struct{ btc, eth string }{{"down", "behind"}, {"behind", "down"}, {"errors", "slow"}} {
		kinds := map[string]string{"BTC": round.btc, "ETH": round.eth}
		from := map[string]uint64{}
		for _, currency := range currencies {
			w.must(w.box.ask(http.MethodPost, "/fault", map[string]any{"chain": chainOf[currency], "kind": kinds[currency], "seconds": 6}, nil))
			view, err := w.chain(currency)
			w.must(err)
			from[currency] = view.Height
		}
		wallets, hashes := map[string]wallet{}, map[string]string{}
		for _, currency := range currencies {
			wallets[currency] = w.a.wallet(currency)
			hashes[currency] = w.pay(currency, share{wallets[currency], "0.7"})
		}
		for _, currency := range currencies {
			if kinds[currency] != "slow" {
				w.unseen(wallets[currency], hashes[currency], from[currency])
			}
		}
		for _, currency := range currencies {
			w.credited(wallets[currency], hashes[currency], "0.7")
		}
	}
}

// unseen checks that the service knows nothing of a payment that is in a block while its node fails.
func (w *world) unseen(l wallet, hash string, from uint64) {
	w.t.Helper()
	eventually(w.t, patience, "blocks during a fault", func() error {
		view, err := w.chain(l.Currency)
		if err == nil && view.Height < from+2 {
			err = fmt.Errorf("height is %d", view.Height)
		}
		return err
	})
	seen := l.has(hash, "", 0)
	view, err := w.chain(l.Currency)
	w.must(err)
	if view.Fault != "" && seen != nil {
		w.t.Errorf("a node with the fault %s told of a payment: %v", view.Fault, seen)
	}
}
