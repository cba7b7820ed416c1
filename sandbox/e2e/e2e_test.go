package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/bursar/bursar/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// The whole, from outside: deposits, charges, transfers, reorganisations, nodes that fail, a process that is killed, and
// withdrawals, on both databases; and in the end books that equal the chains to the unit.
func TestSandbox(t *testing.T) {
	if testing.Short() {
		t.Skip("the sandbox as a process is left out by -short")
	}
	p := build(t)
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		play(newWorld(t, p, "", "bitcoin,ethereum"))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		play(newWorld(t, p, storetest.Postgres(t), "bitcoin,ethereum"))
	})
}

func play(w *world) {
	for _, scene := range []struct {
		name string
		play func()
	}{
		{"several outputs", w.severalOutputs}, {"below minimum", w.belowMinimum}, {"charge", w.charge}, {"internal transfer", w.internal},
		{"reorganisation", w.reorganise}, {"reversal", w.reverse}, {"faults", w.faults}, {"withdrawals", w.withdraw},
		{"killed in a burst", w.killedInBurst}, {"killed while paying", w.killedWhilePaying}, {"audit", w.audit},
	} {
		began := time.Now()
		scene.play()
		w.t.Logf("%-20s %v", scene.name, time.Since(began).Round(time.Millisecond))
	}
	if err := w.box.stop(); err != nil {
		w.t.Fatalf("the sandbox does not end cleanly: %v\n%s", err, w.box.log)
	}
}

// severalOutputs pays wallets of two accounts, one of them twice, in one transaction, and follows it from its first block
// to its webhooks.
func (w *world) severalOutputs() {
	for _, currency := range currencies {
		w.blocks("manual")
		one, two, other := w.a.wallet(currency), w.a.wallet(currency), w.b.wallet(currency)
		hash := w.pay(currency, share{one, "3.5"}, share{two, "2.25"}, share{other, "1.125"}, share{one, "0.0625"})
		w.mine(currency, 1)
		w.settled(one, hash, "pending", 2)
		b, err := w.a.balances()
		w.must(err)
		if units(currency, b.Balance[currency]).Sign() != 0 || units(currency, b.Pending[currency]).Cmp(units(currency, "5.8125")) != 0 {
			w.t.Errorf("%s before finality: %v", currency, b)
		}
		w.mine(currency, 4)
		w.settled(one, hash, "confirmed", 2)
		w.credited(two, hash, "2.25")
		w.credited(other, hash, "1.125")
		for _, amount := range []string{"3.5", "0.0625"} {
			eventually(w.t, patience, "webhook of one output", func() error { return w.a.told("deposit", of(hash, amount)) })
		}
		var found struct {
			Deposit  deposit
			Deposits []deposit
		}
		w.must(w.b.call(http.MethodGet, "wallet/deposit/hash", params{"hashID": hash}, nil, &found))
		if len(found.Deposits) != 1 || found.Deposit.WalletID != other.WalletID {
			w.t.Errorf("the second account sees %d deposits of the transaction", len(found.Deposits))
		}
		w.blocks("auto")
	}
}

// belowMinimum pays less than is credited: it is recorded, and no more.
func (w *world) belowMinimum() {
	for currency, amount := range map[string]string{"BTC": "0.00005", "ETH": "0.0005"} {
		l, before := w.b.wallet(currency), w.b.balance(currency)
		hash := w.pay(currency, share{l, amount})
		w.small[currency] = amount
		w.settled(l, hash, "below_minimum", 1)
		if after := w.b.balance(currency); after.Cmp(before) != 0 {
			w.t.Errorf("%s below the minimum changed the balance from %v to %v", currency, before, after)
		}
		if w.b.told("deposit", of(hash, "")) == nil {
			w.t.Errorf("%s below the minimum was announced", currency)
		}
	}
}

type charge struct {
	ChargeID, Address string
	Paid              bool
	DepositIDs        []string
}

// charge asks for an amount, gets it, and hears of it.
func (w *world) charge() {
	for currency, amount := range map[string]string{"BTC": "0.2", "ETH": "1.5"} {
		var made struct{ Charge charge }
		w.must(w.a.call(http.MethodPost, "charge", params{"currency": currency, "minimum": amount, "webhook": w.hook}, nil, &made))
		w.remember(currency, made.Charge.Address)
		w.pay(currency, share{wallet{Address: made.Charge.Address}, amount})
		eventually(w.t, patience, "charge is paid", func() error {
			return w.a.told("paid", func(e event) bool {
				c := e.Response.Webhook.Charge
				return c != nil && c.ChargeID == made.Charge.ChargeID && units(currency, c.Amount).Cmp(units(currency, amount)) == 0
			})
		})
		w.must(w.a.call(http.MethodGet, "charge", params{"chargeID": made.Charge.ChargeID}, nil, &made))
		if !made.Charge.Paid || len(made.Charge.DepositIDs) != 1 {
			w.t.Errorf("charge after its webhook: %+v", made.Charge)
		}
	}
}

// internal withdraws to a wallet of another account: no chain is involved.
func (w *world) internal() {
	for _, currency := range currencies {
		l, before := w.b.wallet(currency), w.b.balance(currency)
		o := w.order(w.a, currency, "0.05", l.Address)
		w.must(o.place())
		got, err := o.look()
		w.must(err)
		if got.Status != "confirmed" {
			w.t.Errorf("internal transfer is %s", got.Status)
		}
		if gain := w.b.balance(currency); gain.Sub(gain, before).Cmp(units(currency, "0.05")) != 0 {
			w.t.Errorf("internal transfer of 0.05 %s brought %v", currency, gain)
		}
		if held, err := w.onChain(currency, l.Address); err != nil || units(currency, held).Sign() != 0 {
			w.t.Errorf("internal transfer is on the chain: %s %v", held, err)
		}
	}
}
