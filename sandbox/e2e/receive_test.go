package e2e

import (
	"fmt"
	"math/big"
	"net/http"
	"time"
)

// bring pays wallets, in one transaction where the network can, else in several, and returns what each should
// receive.
func (w *harness) bring(c *currency, payments ...payment) []receipt {
	w.t.Helper()
	var hash string
	var list []receipt
	if c.together {
		shares := make([]share, len(payments))
		for i, p := range payments {
			shares[i] = share{p.Address, p.amount}
		}
		hash = w.pay(c, shares...)
	}
	for _, p := range payments {
		if !c.together {
			hash = w.pay(c, share{p.Address, p.amount})
		}
		list = c.expect(list, p.wallet, hash, p.amount)
	}
	return list
}

// payment is an amount for a wallet.
type payment struct {
	wallet
	amount string
}

// expect adds a payment to the expected deposits of its transaction.
func (c *currency) expect(list []receipt, l wallet, hash, amount string) []receipt {
	for i, r := range list {
		switch {
		case r.WalletID != l.WalletID || r.hash != hash:
		case c.merges:
			list[i].amounts = []string{exact(c, c.sum(append(r.amounts, amount)...))}
			return list
		default:
			list[i].amounts = append(r.amounts, amount)
			return list
		}
	}
	return append(list, receipt{l, hash, []string{amount}})
}

// exact formats an amount with all of the currency's decimals.
func exact(c *currency, amount *big.Int) string {
	whole := *c
	whole.places = c.decimals
	return whole.floor(amount)
}

// receive pays wallets of two accounts, several times at once and several times in one transaction, and follows the
// payments from their first block to their webhooks, which the receiver refuses at first.
func (w *harness) receive() {
	w.blocks("manual")
	var all []receipt
	others := map[*currency]receipt{}
	for _, c := range w.currencies {
		one, two, other := w.a.wallet(c), w.a.wallet(c), w.b.wallet(c)
		list := w.bring(c, payment{one, "35.5"}, payment{two, "22.25"}, payment{other, "11.25"}, payment{one, "6.75"})
		for range 2 {
			list = append(list, w.bring(c, payment{one, "4.5"})...)
		}
		for _, r := range list {
			if all = append(all, r); r.WalletID == other.WalletID {
				others[c] = r
			}
		}
	}
	w.mine(1)
	b, err := w.a.balances()
	w.must(err)
	for _, c := range w.that(func(c *currency) bool { return c.early }) {
		for _, r := range all {
			if r.currency == c {
				w.settled("pending", r)
			}
		}
		b, err = w.a.balances()
		w.must(err)
		if c.units(b.Balance[c.code]).Sign() != 0 || c.units(b.Pending[c.code]).Cmp(c.units("73.5")) != 0 {
			w.t.Errorf("%s before finality: %s, and %s pending, want 0", c.code, b.Balance[c.code], b.Pending[c.code])
		}
	}
	w.mine(untilFinal)
	w.credited(all...)
	for _, c := range w.currencies {
		if got := w.a.balance(c); got.Cmp(c.units("73.5")) != 0 {
			w.t.Errorf("%s: 73.5 were received, the balance is %v units, want 0", c.code, got)
		}
		w.sees(w.b, others[c])
	}
	w.blocks("auto")
}

// sees checks that an account that asks about a transaction gets its own deposits only.
func (w *harness) sees(a *account, r receipt) {
	w.t.Helper()
	var found struct {
		Deposit  deposit
		Deposits []deposit
	}
	w.must(a.call(http.MethodGet, "wallet/deposit/hash", params{"hashID": r.hash}, nil, &found))
	if len(found.Deposits) != 1 || found.Deposit.WalletID != r.WalletID {
		w.t.Errorf("%s: the account sees %d deposits of the transaction %s, want 1 of them and %v", r.code,
			len(found.Deposits), r.hash, r.WalletID)
	}
}

// belowMinimum pays less than the minimum: the deposit is recorded, and not credited.
func (w *harness) belowMinimum() {
	w.blocks("manual")
	var list []receipt
	for _, c := range w.currencies {
		l := w.b.wallet(c)
		half := new(big.Int).Quo(c.units(l.Minimum), big.NewInt(2))
		w.small[c].Add(w.small[c], half)
		list = append(list, w.bring(c, payment{l, exact(c, half)})...)
	}
	before, err := w.b.balances()
	w.must(err)
	w.mine(untilFinal)
	w.settled("below_minimum", list...)
	after, err := w.b.balances()
	w.must(err)
	for _, r := range list {
		if before.Balance[r.code] != after.Balance[r.code] || r.account.notified("deposit", r.of(r.hash, "")) == nil {
			w.t.Errorf("%s below the minimum: the balance %s became %s", r.code, before.Balance[r.code], after.Balance[r.code])
		}
	}
	w.blocks("auto")
}

// misdirected pays addresses of the service in ways that fit no wallet: without a tag or with an unknown one where
// wallets share an address, and the native asset to a wallet of a token. The deposits are unattributed.
func (w *harness) misdirected() {
	w.blocks("manual")
	for _, c := range w.currencies {
		var shares []share
		paid := c
		if c.memo {
			address := base(w.a.wallet(c).Address)
			shares = []share{{address, "6.5"}, {address + ":4000000000", "2.25"}}
		}
		if c.token {
			paid, shares = w.native(c.network), []share{{w.a.wallet(c).Address, "1.75"}}
		}
		for _, s := range shares {
			w.pay(paid, s)
			w.stray[paid].Add(w.stray[paid], paid.units(s.amount))
		}
	}
	w.mine(untilFinal)
	for _, c := range w.currencies {
		want, ok := new(big.Rat).SetString(exact(c, w.stray[c]))
		if !ok {
			w.t.Fatalf("%v", w.stray[c])
		}
		w.eventually("an unattributed deposit is recorded in "+c.code, func() error {
			kept, err := w.metric(fmt.Sprintf(`bursar_ledger_balance{account="unattributed",currency="%s"}`, c.code))
			if err == nil && kept.Cmp(want) != 0 {
				err = fmt.Errorf("%s are unattributed, want %s", kept.FloatString(6), want.FloatString(6))
			}
			return err
		})
	}
	w.blocks("auto")
}

// chargeLife is the lifetime of the charges that are paid late: the shortest possible.
const chargeLife = time.Minute

// blockTime is how much too early a block's time may be: chains count in seconds.
const blockTime = 2 * time.Second

// charges creates charges in every currency, pays them, and then pays more; and creates the charges that will be paid
// late.
func (w *harness) charges() {
	w.blocks("manual")
	var open []charge
	first, again := map[*currency]string{}, map[*currency]string{}
	for _, c := range w.currencies {
		w.late = append(w.late, w.a.charge(c, "7", chargeLife))
		k := w.a.charge(c, "7", time.Hour)
		open = append(open, k)
		first[c] = w.pay(c, share{k.Address, "7.25"})
	}
	w.mine(untilFinal)
	for _, k := range open {
		w.eventually("the charge of "+k.code+" is paid", func() error {
			return w.a.notified("paid", func(e event) bool {
				charged := e.Response.Webhook.Charge
				return charged != nil && charged.ChargeID == k.ChargeID && k.of(first[k.currency], "7.25")(e)
			})
		})
		again[k.currency] = w.pay(k.currency, share{k.Address, "8.25"})
	}
	w.mine(untilFinal)
	for _, k := range open {
		w.extra(k, again[k.currency], "8.25")
		if now, err := w.a.look(k); err != nil || !now.Paid || now.Expired || len(now.DepositIDs) != 2 {
			w.t.Errorf("charge of %s after it was paid twice: %+v %v", k.code, now, err)
		}
	}
	w.blocks("auto")
}

// extra waits for the webhook of a deposit to a charge that does not pay it.
func (w *harness) extra(k charge, hash, amount string) {
	w.t.Helper()
	w.eventually("a deposit that a charge did not need is credited in "+k.code, func() error {
		return w.a.notified("deposit", func(e event) bool {
			return e.Response.Webhook.Type == "charge" && k.of(hash, amount)(e)
		})
	})
}

// lateCharges pays charges that have expired: they stay unpaid, and the deposits are credited all the same.
func (w *harness) lateCharges() {
	paid := map[*currency]string{}
	for _, k := range w.late {
		w.eventually("the charge of "+k.code+" expires", func() error {
			now, err := w.a.look(k)
			if err == nil && (!now.Expired || time.Since(k.CreatedAt) < chargeLife+blockTime) {
				err = fmt.Errorf("charge %s: %+v", k.ChargeID, now)
			}
			return err
		})
		paid[k.currency] = w.pay(k.currency, share{k.Address, "9.25"})
	}
	w.mine(untilFinal)
	for _, k := range w.late {
		w.extra(k, paid[k.currency], "9.25")
		if now, err := w.a.look(k); err != nil || now.Paid || !now.Expired || len(now.DepositIDs) != 1 {
			w.t.Errorf("charge of %s that was paid late: %+v %v", k.code, now, err)
		}
	}
}

// internal withdraws to a wallet of another account: no chain is involved.
func (w *harness) internal() {
	for _, c := range w.currencies {
		l, before := w.b.wallet(c), w.b.balance(c)
		o := w.order(w.a, c, "5.25", l.Address)
		w.must(o.place())
		got, err := o.look()
		w.must(err)
		if got.Status != "confirmed" {
			w.t.Errorf("internal transfer of %s is %s, want %q", c.code, got.Status, "confirmed")
		}
		if gain := w.b.balance(c); gain.Sub(gain, before).Cmp(c.units("5.25")) != 0 {
			w.t.Errorf("internal transfer of 5.25 %s brought %v, want 0", c.code, gain)
		}
		if !c.memo && w.onChain(c, l.Address).Sign() != 0 {
			w.t.Errorf("internal transfer of %s is on the chain", c.code)
		}
	}
}

// unmovable requests withdrawals that no chain can pay: each is refused and changes nothing.
func (w *harness) unmovable() {
	for _, c := range w.currencies {
		before := w.a.balance(c)
		for _, address := range []string{"nowhere", ""} {
			err := w.a.call(http.MethodPost, "account/withdraw", params{"currency": c.code, "amount": "10", "address": address},
				map[string]string{"X-API-SECRET": w.a.APISecret}, nil)
			if !isCode(err, "invalid_address") && !isCode(err, "invalid_request") {
				w.t.Errorf("%s to %q: %v", c.code, address, err)
			}
		}
		if after := w.a.balance(c); after.Cmp(before) != 0 {
			w.t.Errorf("a refused withdrawal changed the balance of %s from %v to %v, want 0", c.code, before, after)
		}
	}
}
