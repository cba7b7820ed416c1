package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/replicas"
)

// ask sends a request of a customer to a process. A request whose outcome is unknown stays open.
func (h *history) ask(
	n uint32, customer int, path string, body any, interrupts []replicas.Interrupt, then func(replicas.Answer),
) {
	text, err := json.Marshal(body)
	if err != nil {
		h.fail(err)
		return
	}
	h.requests++
	r := &request{customer: customer, then: then, Request: replicas.Request{Customer: h.Template.Customers[customer],
		Method: http.MethodPost, Path: path, Key: fmt.Sprint("request ", h.requests), Body: string(text)}}
	h.open = append(h.open, r)
	h.send(n, r, interrupts)
}

// send sends a request once. Its callback then is called once for a request, however often it is sent.
func (h *history) send(n uint32, r *request, interrupts []replicas.Interrupt) {
	p := h.process(n)
	h.requests++
	outcome := p.Do(fmt.Sprint("request ", h.requests), interrupts, func(ctx context.Context) error {
		answer, err := p.Ask(ctx, r.Request)
		if err != nil {
			return err
		}
		h.answered(r, answer)
		return nil
	})
	if outcome != "ok" {
		h.log("  %s: outcome of %s is %s", p.Name, r.Key, outcome)
	}
}

func (h *history) answered(r *request, answer replicas.Answer) {
	h.log("  %s %s: %d %s", r.Path, r.Key, answer.Status, answer.Body)
	if answer.Status >= http.StatusInternalServerError || answer.Status == http.StatusConflict ||
		answer.Status == http.StatusTooManyRequests {
		return // it may have happened all the same
	}
	if i := slices.Index(h.open, r); i >= 0 {
		h.open = slices.Delete(h.open, i, i+1)
	}
	// An attempt that was refused says nothing about an earlier one that is still under way: nobody sends it again, but
	// the customer hears of it if it succeeds. After a restore such an attempt may do what the older database has
	// forgotten: the customer hears of both, and has what the database has.
	done := answer.Status == http.StatusOK || answer.Status == http.StatusCreated
	if !done || r.done != nil && (r.restored == h.restored || string(r.done) == string(answer.Body)) {
		return
	}
	r.done, r.restored = answer.Body, h.restored
	r.then(answer)
}

// hookKinds are the receivers of wallets, the good ones most often.
var hookKinds = []string{"good", "good", "good", "flaky", "slow", "dead", "gone"}

func (h *history) newWallet(e Event, charge bool) {
	customer, currency := h.customer(e.B), h.currency(e.C)
	kind := hookKinds[int(e.B>>8)%len(hookKinds)]
	hook := fmt.Sprintf("https://%s.c%d.example/hook", kind, customer)
	path, body := "wallet", map[string]any{"currency": currency.Code, "webhook": hook}
	if charge {
		path, body["minimum"], body["expires"] = "charge", currency.Exact(bursar.Units(replicas.Unit/10)), 60+e.B%3600
	}
	h.ask(e.A, customer, path, body, e.Interrupts, func(a replicas.Answer) { h.madeWallet(a, customer, currency, hook) })
}

func (h *history) madeWallet(a replicas.Answer, customer int, currency bursar.Currency, hook string) {
	var made struct {
		Response struct {
			Wallet, Charge struct {
				WalletID, ChargeID bursar.ID
				Address            string
			}
		}
	}
	if err := json.Unmarshal(a.Body, &made); err != nil {
		h.fail(fmt.Errorf("read %s: %w", a.Body, err))
		return
	}
	id, text := made.Response.Wallet.WalletID, made.Response.Wallet.Address
	if id.IsZero() {
		id, text = made.Response.Charge.ChargeID, made.Response.Charge.Address
	}
	address, err := h.Chain(currency.Chain).ParseAddress(text)
	if err != nil {
		h.fail(fmt.Errorf("the address of wallet %s: %w", id, err))
		return
	}
	key := string(currency.Chain) + " " + address.String()
	if other, given := h.given[key]; given && other != id {
		h.fail(fmt.Errorf("address %s was given to wallet %s and to wallet %s", text, other, id))
	}
	h.given[key] = id
	h.wallets = append(h.wallets, &wallet{
		id:       id,
		customer: customer,
		currency: currency,
		address:  address,
		hook:     hook,
		number:   len(h.wallets),
	})
}

// withdraw requests a payment to an external address that no other withdrawal pays.
func (h *history) withdraw(e Event) {
	currency := h.currency(e.C)
	to := bursar.Address{Base: h.Chain(currency.Chain).Named(fmt.Sprint("outsider ", h.requests))}
	h.order(e, currency, to, nil)
}

// inside requests a payment to a wallet of this service.
func (h *history) inside(e Event) {
	if len(h.wallets) > 0 {
		w := h.wallets[int(e.C)%len(h.wallets)]
		h.order(e, w.currency, w.address, w)
	}
}

func (h *history) order(e Event, currency bursar.Currency, to bursar.Address, inside *wallet) {
	amount := uint64(500 + e.B%(2*replicas.Unit))
	if e.A>>16%8 == 0 {
		amount *= 12
	}
	o := &order{customer: h.customer(e.A >> 4), currency: currency, amount: bursar.Units(amount), to: to, inside: inside}
	body := map[string]any{"currency": currency.Code, "amount": currency.Exact(o.amount), "address": to.String()}
	h.ask(e.A, o.customer, "account/withdraw", body, e.Interrupts, func(a replicas.Answer) { h.ordered(a, o) })
}

func (h *history) ordered(a replicas.Answer, o *order) {
	var made struct {
		Response struct {
			Withdrawal struct {
				WithdrawalID bursar.ID
				Fee          string
			}
		}
	}
	err, one := json.Unmarshal(a.Body, &made), *o
	if err == nil {
		one.fee, err = bursar.ParseDecimal(made.Response.Withdrawal.Fee, o.currency.Decimals)
	}
	if err != nil {
		h.fail(fmt.Errorf("read %s: %w", a.Body, err))
		return
	}
	one.id = made.Response.Withdrawal.WithdrawalID
	h.orders = append(h.orders, &one)
}
