package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/bursar/bursar/store/storetest"
)

// every is the currencies of the interface.
var every = []string{"BTC", "ETH", "LTC", "BNB", "SOL", "MATIC", "XRP", "TRX", "USDT", "USDT-MATIC", "USDC-MATIC"}

// Every currency is received, moved between accounts and paid out, through a process that is killed while it pays; and in
// the end the books equal every chain to the unit.
func TestEveryCurrency(t *testing.T) {
	if testing.Short() {
		t.Skip("the sandbox as a process is left out by -short")
	}
	p := build(t)
	const chains = "bitcoin,litecoin,ethereum,bsc,polygon,tron,solana,xrpl"
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		playEvery(newWorld(t, p, "", chains))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		playEvery(newWorld(t, p, storetest.Postgres(t), chains))
	})
}

func playEvery(w *world) {
	paid := map[string]string{}
	wallets := map[string]wallet{}
	for _, currency := range every {
		wallets[currency] = w.a.wallet(currency)
		paid[currency] = w.pay(currency, share{wallets[currency], "30.5"})
	}
	for _, currency := range every {
		w.credited(wallets[currency], paid[currency], "30.5")
	}
	var orders []*order
	for _, currency := range every {
		inside := w.order(w.a, currency, "5.25", w.b.wallet(currency).Address)
		outside := w.order(w.a, currency, "12.75", w.outsider(currency))
		w.must(inside.place())
		w.must(outside.place())
		orders = append(orders, outside)
	}
	w.restart()
	for _, o := range orders {
		eventually(w.t, 2*patience, "withdrawal of "+o.currency+" is confirmed", func() error {
			got, err := o.look()
			if err == nil && got.Status != "confirmed" {
				err = fmt.Errorf("it is %s", got.Status)
			}
			return err
		})
		w.arrived(o)
	}
	for _, currency := range every {
		if got := w.b.balance(currency); got.Cmp(units(currency, "5.25")) != 0 {
			w.t.Errorf("the second account has %v of %s", got, currency)
		}
	}
	w.unmovable()
	w.balanced()
	w.examined()
	if err := w.box.stop(); err != nil {
		w.t.Fatalf("the sandbox does not end cleanly: %v\n%s", err, w.box.log)
	}
}

// unmovable orders what no chain can pay: it is refused and changes nothing.
func (w *world) unmovable() {
	for _, currency := range every {
		before := w.a.balance(currency)
		for _, address := range []string{"nowhere", ""} {
			err := w.a.call(http.MethodPost, "account/withdraw", params{"currency": currency, "amount": "10", "address": address},
				map[string]string{"X-API-SECRET": w.a.APISecret}, nil)
			if !isCode(err, "invalid_address") && !isCode(err, "invalid_request") {
				w.t.Errorf("%s to %q: %v", currency, address, err)
			}
		}
		if after := w.a.balance(currency); after.Cmp(before) != 0 {
			w.t.Errorf("a refused order changed the balance of %s from %v to %v", currency, before, after)
		}
	}
}

// balanced waits until nothing is under way and then has the books compared with every chain.
func (w *world) balanced() {
	w.t.Helper()
	eventually(w.t, 2*patience, "the books equal the chains", func() error {
		var lines []struct{ Currency, Missing, Surplus string }
		out := w.run("reconcile", "--json")
		if err := json.Unmarshal(out, &lines); err != nil {
			return fmt.Errorf("%s: %w", out, err)
		}
		if len(lines) != len(every) {
			return fmt.Errorf("%d currencies are compared: %s", len(lines), out)
		}
		for _, l := range lines {
			if strings.Trim(l.Missing, "0.") != "" || strings.Trim(l.Surplus, "0.") != "" {
				return fmt.Errorf("%s differs: %s missing, %s too much", l.Currency, l.Missing, l.Surplus)
			}
		}
		return nil
	})
}
