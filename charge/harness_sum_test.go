package charge_test

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
)

// prices are rates in EUR that can be changed while the service runs.
type prices struct {
	rates map[bursar.CurrencyCode]string
}

func newPrices() *prices { return &prices{rates: map[bursar.CurrencyCode]string{}} }

func (p *prices) Price(code bursar.CurrencyCode, unit bursar.Unit) bursar.Quote {
	rate, err := bursar.ParseRate(p.rates[code])
	if err != nil || unit.Code != "EUR" {
		return bursar.Quote{}
	}
	return bursar.Quote{Rate: rate, Source: "test", RateAt: started}
}

func (p *prices) Covers(code bursar.CurrencyCode, unit bursar.Unit) bool {
	return unit.Code == "EUR" && code != "XRP"
}

func (p *prices) MaxAge() time.Duration { return 10 * time.Minute }

func (p *prices) All() []bursar.PairRate { return nil }

// sum makes a charge whose deposits add up.
func (r *harness) sum(change func(*charge.Terms)) bursar.InvoiceDetail {
	r.t.Helper()
	t := charge.Terms{Account: r.account, Currencies: []bursar.CurrencyCode{"BTC"}, Unit: "BTC", Amount: "0.001",
		Webhook: "https://receiver.example/hook", Life: time.Hour, Hash: []byte("request")}
	if change != nil {
		change(&t)
	}
	d, err := r.Charges.CreateSum(ctx, t)
	r.must(err)
	return d
}

// inEuro makes a charge of 100 EUR that may be paid in several currencies.
func (r *harness) inEuro(codes ...bursar.CurrencyCode) bursar.InvoiceDetail {
	r.t.Helper()
	return r.sum(func(t *charge.Terms) { t.Currencies, t.Unit, t.Fiat, t.Amount = codes, "EUR", true, "100.00" })
}

// send pays units of a currency to the address of an option.
func (r *harness) send(d bursar.InvoiceDetail, option, code bursar.CurrencyCode, units uint64) string {
	r.t.Helper()
	currency, err := r.Registry.Get(code)
	r.must(err)
	found := r.now(d)
	return r.chains[currency.Chain].Pay(chain.Payment{Address: found.Option(option).Address,
		Contract: currency.Contract, Amount: bursar.Units(units)})
}

// now returns a charge with all facts.
func (r *harness) now(d bursar.InvoiceDetail) bursar.InvoiceDetail {
	r.t.Helper()
	found, err := r.Charges.Find(ctx, r.account, d.ID)
	r.must(err)
	return *found.Sum
}

// view returns a charge as a client sees it.
func (r *harness) view(d bursar.InvoiceDetail) wire.Invoice {
	r.t.Helper()
	found := r.now(d)
	return wire.NewInvoice(&found, found.State(r.DB.Now()), r.Registry, r.prices.Price, wire.Checkout{}, r.DB.Now())
}

// shows checks the status and labels of a charge, with ! for attention: "paid over !".
func (r *harness) shows(d bursar.InvoiceDetail, want string) wire.Invoice {
	r.t.Helper()
	v := r.view(d)
	got := []string{string(v.Status)}
	for _, l := range v.Labels {
		got = append(got, string(l))
	}
	if v.Attention {
		got = append(got, "!")
	}
	if text := strings.Join(got, " "); text != want {
		r.t.Fatalf("the charge is %q, want %q; its payments are %+v", text, want, v.Payments)
	}
	return v
}

// change names a charge of the harness's account.
func (r *harness) change(d bursar.InvoiceDetail) charge.Change {
	return charge.Change{Account: r.account, Charge: d.ID}
}

// deposit returns the ID of the nth payment of a charge.
func (r *harness) deposit(d bursar.InvoiceDetail, n int) bursar.ID {
	r.t.Helper()
	v := r.view(d)
	if len(v.Payments) <= n {
		r.t.Fatalf("there are %d payments, want more than %d", len(v.Payments), n)
	}
	return v.Payments[n].DepositID
}

// resolve decides about the nth payment of a charge.
func (r *harness) resolve(d bursar.InvoiceDetail, n int, kind bursar.PaymentResolution) error {
	r.t.Helper()
	_, err := r.Charges.Resolve(ctx, charge.Resolution{Change: r.change(d), Deposit: r.deposit(d, n), Kind: kind})
	return err
}

// heardOf checks the kinds of all events about charges whose deposits add up, in order, and that of each charge the
// version never falls.
func (r *harness) heardOf(kinds ...string) []wire.Invoice {
	r.t.Helper()
	var list []store.Delivery
	r.must(r.DB.View(ctx, func(tx *store.Tx) (err error) {
		list, err = tx.Deliveries().List(ctx, r.account, store.Page{Limit: 10_000})
		return err
	}))
	slices.Reverse(list)
	var got []string
	var charges []wire.Invoice
	versions := map[bursar.ID]int64{}
	for _, d := range list {
		var body struct {
			Response struct {
				Webhook struct {
					Type, Event string
					Charge      wire.Invoice
				}
			}
		}
		r.must(json.Unmarshal(d.Body, &body))
		event := body.Response.Webhook
		if event.Charge.Rule != "sum" || event.Type != "charge" || d.SubjectKey() != "charge" && event.Event != "paid" {
			r.t.Fatalf("an event is %s of %s about %q, want one about a charge that adds up", event.Event, event.Type,
				event.Charge.Rule)
		}
		if event.Charge.Version < versions[event.Charge.ChargeID] {
			r.t.Fatalf("version %d follows %d", event.Charge.Version, versions[event.Charge.ChargeID])
		}
		versions[event.Charge.ChargeID] = event.Charge.Version
		got, charges = append(got, event.Event), append(charges, event.Charge)
	}
	if !slices.Equal(got, kinds) {
		r.t.Fatalf("the events are %v, want %v", got, kinds)
	}
	return charges
}
