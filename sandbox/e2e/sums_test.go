package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// sum is a charge whose deposits add up.
type sum struct {
	ChargeID, Address, Status, Due string
	Labels                         []string
	Attention                      bool
	Version                        int64
	CreatedAt                      time.Time
	Payments                       []struct {
		DepositID, Status string
		Attention         bool
	}

	*currency
}

// sum creates a charge whose deposits add up, with webhooks to the hook.
func (a *account) sum(c *currency, amount string, life time.Duration) sum {
	a.w.t.Helper()
	var made struct{ Charge sum }
	a.w.must(a.call(http.MethodPost, "charge", params{"currency": c.code, "amount": amount, "events": "partial",
		"expires": strconv.Itoa(int(life.Seconds())), "webhook": a.w.hook.url}, nil, &made))
	made.Charge.currency = c
	a.w.remember(c, made.Charge.Address)
	return made.Charge
}

// shows waits for the event of a charge, and returns the charge as it is then.
func (w *harness) shows(k sum, kind, status string, labels ...string) sum {
	w.t.Helper()
	w.eventually("the charge of "+k.code+" is notified as "+kind, func() error {
		return w.a.notified(kind, func(e event) bool {
			c := e.Response.Webhook.Charge
			return c != nil && c.ChargeID == k.ChargeID && c.Status == status && c.Version > k.Version
		})
	})
	found := struct{ Charge sum }{sum{currency: k.currency}}
	w.must(w.a.call(http.MethodGet, "charge", params{"chargeID": k.ChargeID}, nil, &found))
	if now := found.Charge; now.Status != status || !slices.Equal(now.Labels, labels) {
		w.t.Errorf("the charge of %s is %s %v, want %s %v", k.code, now.Status, now.Labels, status, labels)
	}
	return found.Charge
}

// resolve decides about the payment of a charge that waits.
func (w *harness) resolve(k sum, resolution string) {
	w.t.Helper()
	for _, p := range k.Payments {
		if p.Attention {
			w.must(w.a.call(http.MethodPost, "charge/resolve",
				params{"chargeID": k.ChargeID, "depositID": p.DepositID, "resolution": resolution}, nil, nil))
			return
		}
	}
	w.t.Errorf("no payment of the charge of %s waits: %+v", k.code, k.Payments)
}

// sums pays charges in every currency in two parts, the second of which is what is due, and then too much; and creates
// those that will be paid late.
func (w *harness) sums() {
	w.blocks("manual")
	var open []sum
	for _, c := range w.currencies {
		w.lateSums = append(w.lateSums, w.a.sum(c, "7", chargeLife))
		k := w.a.sum(c, "7", time.Hour)
		w.pay(c, share{k.Address, "3.25"})
		open = append(open, k)
	}
	w.mine(untilFinal)
	for i, k := range open {
		open[i] = w.shows(k, "partial", "open", "partial")
		w.pay(k.currency, share{k.Address, open[i].Due})
	}
	w.mine(untilFinal)
	for i, k := range open {
		open[i] = w.shows(k, "paid", "paid")
		w.pay(k.currency, share{k.Address, "2.5"})
	}
	w.mine(untilFinal)
	for _, k := range open {
		over := w.shows(k, "attention", "paid", "over")
		w.resolve(over, "credit")
	}
	w.blocks("auto")
}

// paySumsLate pays charges that have expired: the money is credited, and counts once it is accepted.
func (w *harness) paySumsLate() {
	for _, k := range w.lateSums {
		w.eventually("the charge of "+k.code+" expires", func() error {
			var found struct{ Charge sum }
			err := w.a.call(http.MethodGet, "charge", params{"chargeID": k.ChargeID}, nil, &found)
			if err == nil && (found.Charge.Status != "expired" || time.Since(k.CreatedAt) < chargeLife+blockTime) {
				err = fmt.Errorf("charge %s: %+v", k.ChargeID, found.Charge)
			}
			return err
		})
		w.pay(k.currency, share{k.Address, "7"})
	}
	w.mine(untilFinal)
	for _, k := range w.lateSums {
		late := w.shows(k, "late", "expired", "late")
		w.resolve(late, "accept")
		w.shows(late, "paid", "paid", "late", "marked")
	}
}
