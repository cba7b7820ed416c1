package e2e

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
)

// taken is a payment that is reorged out, with its transaction as it was sent.
type taken struct {
	receipt
	raw json.RawMessage
}

// reorgOut replaces the newest blocks of the payments' networks by others without the payments, and without what else
// is to be dropped.
func (w *harness) reorgOut(depth func(*network) int, drop map[*network][]string, payments ...receipt) []taken {
	w.t.Helper()
	var list []taken
	for _, r := range payments {
		raw, err := r.node.raw(w.rpc(r.network), r.hash)
		w.must(err)
		list = append(list, taken{r, raw})
		drop[r.network] = append(drop[r.network], r.hash)
	}
	for n, hashes := range drop {
		w.reorg(n, depth(n), hashes)
	}
	return list
}

// resend broadcasts the payments again, as their senders would.
func (w *harness) resend(payments ...taken) {
	w.t.Helper()
	for _, p := range payments {
		w.must(p.node.send(w.rpc(p.network), p.raw))
	}
}

func receipts(list []taken) []receipt {
	all := make([]receipt, len(list))
	for i, p := range list {
		all[i] = p.receipt
	}
	return all
}

// forks is how deep a network can be reorganized below what is final.
func forks(n *network) int { return n.forks }

// reorgBlocks replaces blocks before finality: one payment stays and only its block changes, one is reorged out and
// comes back later, and one never comes back.
func (w *harness) reorgBlocks() {
	w.blocks("manual")
	list := w.that(func(c *currency) bool { return c.forks > 0 })
	before := map[*currency]*big.Int{}
	var kept, back, gone []receipt
	w.mine(1)
	for _, c := range list {
		before[c] = w.a.balance(c)
		kept = append(kept, w.bring(c, payment{w.a.wallet(c), "4.25"})...)
		back = append(back, w.bring(c, payment{w.a.wallet(c), "5.5"})...)
		gone = append(gone, w.bring(c, payment{w.a.wallet(c), "6.25"})...)
	}
	w.mine(2)
	for _, r := range append(append(append([]receipt{}, kept...), back...), gone...) {
		w.settled(r.seen("pending"), r)
	}
	first := w.shown(append(append([]receipt{}, kept...), back...))
	lost := w.reorgOut(forks, map[*network][]string{}, append(append([]receipt{}, gone...), back...)...)
	for _, r := range receipts(lost) {
		w.settled(r.seen("orphaned"), r)
	}
	w.resend(lost[len(gone):]...)
	w.mine(untilFinal)
	w.credited(kept...)
	w.credited(back...)
	for i, d := range w.shown(append(append([]receipt{}, kept...), back...)) {
		if before := first[i]; before.DepositID != d.DepositID || i >= len(first)/2 && before.BlockHeight >= d.BlockHeight {
			w.t.Errorf("%s: the deposit %s of block %d became %s of block %d", d.Currency, before.DepositID, before.BlockHeight,
				d.DepositID, d.BlockHeight)
		}
	}
	for _, c := range list {
		if gain := w.a.balance(c); gain.Sub(gain, before[c]).Cmp(c.units("9.75")) != 0 {
			w.t.Errorf("%s: a reorg that kept 9.75 left %v, want 0", c.code, gain)
		}
	}
	for _, r := range gone {
		w.settled(r.seen("orphaned"), r)
		if r.account.notified("deposit", r.of(r.hash, "")) == nil {
			w.t.Errorf("%s: a payment that was reorged out was announced", r.code)
		}
	}
	w.limits()
	w.blocks("auto")
}

// shown are the deposits of receipts, where they are recorded before they are final.
func (w *harness) shown(list []receipt) []deposit {
	w.t.Helper()
	var all []deposit
	for _, r := range list {
		if !r.early {
			continue
		}
		deposits, err := r.deposits()
		w.must(err)
		all = append(all, deposits...)
	}
	return all
}

// limits checks that no chain is reorganized further than the real one can be.
func (w *harness) limits() {
	w.t.Helper()
	for _, n := range w.networks() {
		if n.reverses {
			continue
		}
		if w.sandbox.ask(http.MethodPost, "/reorg", map[string]any{"chain": n.chain, "depth": n.forks + 1}, nil) == nil {
			w.t.Errorf("%d blocks of %s were replaced", n.forks+1, n.chain)
		}
	}
}

// seen is a status that deposits have before they are final, where they are recorded at all.
func (r receipt) seen(status string) string {
	if !r.early {
		return ""
	}
	return status
}

// past is how deep a reorg replaces the last payments and everything since.
func past(*network) int { return untilFinal }

// reversible are new wallets of the third account, one for each currency whose network can reverse credits.
func (w *harness) reversible() []wallet {
	w.t.Helper()
	var list []wallet
	for _, c := range w.that(func(c *currency) bool { return c.reverses }) {
		list = append(list, w.c.wallet(c))
	}
	return list
}

// credit pays an amount to each wallet and waits until it is credited.
func (w *harness) credit(amount string, wallets []wallet) []receipt {
	w.t.Helper()
	var list []receipt
	for _, l := range wallets {
		list = append(list, w.bring(l.currency, payment{l, amount})...)
	}
	w.mine(untilFinal)
	w.credited(list...)
	return list
}

// reversed waits until the credits are reversed and announced, and checks that the account may not withdraw.
func (w *harness) reversed(list []taken) {
	w.t.Helper()
	w.settled("reversed", receipts(list)...)
	for _, p := range list {
		w.eventually("webhook of a reversal of "+p.code, func() error {
			return w.c.notified("deposit_reversed", p.of(p.hash, p.amounts[0]))
		})
	}
	w.frozen()
}

// frozen checks that the third account may withdraw nothing, in any currency.
func (w *harness) frozen() {
	w.t.Helper()
	for _, c := range w.currencies {
		if err := w.request(w.c, c, "5.25", w.external(c)).place(); !isCode(err, "withdrawals_frozen") {
			w.t.Errorf("withdrawal of %s from a frozen account: %v", c.code, err)
		}
	}
}

// reverseAndRestore reorgs credited payments out after most of the money has been withdrawn: the account is below zero
// and may not withdraw. Once every payment has come back it may again, without an operator.
func (w *harness) reverseAndRestore() {
	w.blocks("manual")
	list := w.credit("8.5", w.reversible())
	for _, r := range list {
		w.must(w.order(w.c, r.currency, "7.25", w.b.wallet(r.currency).Address).place())
	}
	lost := w.reorgOut(past, map[*network][]string{}, list...)
	w.reversed(lost)
	for _, r := range list {
		if left := w.c.balance(r.currency); left.Cmp(r.units("-7.25")) != 0 {
			w.t.Errorf("%s after the reversal of what was spent: %v, want 0", r.code, left)
		}
	}
	most, last := lost[:len(lost)-1], lost[len(lost)-1]
	w.resend(most...)
	w.mine(untilFinal)
	w.settled("confirmed", receipts(most)...)
	w.frozen()
	w.resend(last)
	w.mine(untilFinal)
	w.settled("confirmed", last.receipt)
	w.blocks("auto")
	w.withdrawable(list, "1.15")
}

// withdrawable pays an external address in each currency from the third account.
func (w *harness) withdrawable(list []receipt, amount string) {
	w.t.Helper()
	var requests []*withdrawalRequest
	for _, r := range list {
		o := w.order(w.c, r.currency, amount, w.external(r.currency))
		w.must(o.insist())
		requests = append(requests, o)
	}
	w.paid(requests)
}

// reverseForGood reorgs credited payments out for good: the operator allows withdrawals again, of another payment to
// the same wallets. Settled withdrawals are reorged out too and broadcast again.
func (w *harness) reverseForGood() {
	w.blocks("manual")
	requests, wallets := w.underWay("5.75"), w.reversible()
	list := w.credit("3.5", wallets)
	w.paid(requests)
	drop := map[*network][]string{}
	for _, o := range requests {
		got, err := o.look()
		w.must(err)
		drop[o.network] = append(drop[o.network], *got.HashID)
	}
	lost := w.reorgOut(past, drop, list...)
	w.reversed(lost)
	again := w.credit("4.5", wallets)
	w.frozen()
	w.settled("reversed", receipts(lost)...)
	for _, p := range lost {
		for _, r := range again {
			if r.currency == p.currency && r.hash == p.hash {
				w.t.Fatalf("another payment is the transaction %s that was dropped", r.hash)
			}
		}
	}
	w.run("account", "unfreeze", w.c.AccountID)
	w.blocks("auto")
	w.withdrawable(again, "2.75")
}

// underWay requests a withdrawal of each currency whose network can reverse it, and waits until it is broadcast.
func (w *harness) underWay(amount string) []*withdrawalRequest {
	w.t.Helper()
	var requests []*withdrawalRequest
	for _, c := range w.that(func(c *currency) bool { return c.reverses }) {
		o := w.order(w.a, c, amount, w.external(c))
		w.must(o.insist())
		requests = append(requests, o)
	}
	for _, o := range requests {
		w.eventually("withdrawal of "+o.code+" is sent", func() error {
			got, err := o.look()
			if err == nil && got.Status != "broadcast" {
				err = fmt.Errorf("it is %s", got.Status)
			}
			return err
		})
	}
	return requests
}
