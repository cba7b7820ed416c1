package charge_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/store"
)

// link makes a payment link of 100 EUR in BTC and ETH.
func (r *harness) link(change func(*charge.NewLink)) bursar.PaymentLink {
	r.t.Helper()
	n := charge.NewLink{Terms: charge.Terms{Account: r.account, Currencies: []bursar.CurrencyCode{"BTC", "ETH"},
		Unit: "EUR", Fiat: true, Amount: "100.00", Webhook: "https://receiver.example/hook", Life: 10 * time.Minute}}
	if change != nil {
		change(&n)
	}
	l, err := r.Charges.CreateLink(ctx, n)
	r.must(err)
	return l
}

// Each payer who submits the page of a link gets a charge of their own, with an address once a currency is chosen.
func TestEachVisitOfALinkMakesACharge(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		r.prices.rates["BTC"], r.prices.rates["ETH"] = "50000", "2000"
		l := r.link(func(n *charge.NewLink) { n.Fields = []string{"email", "order"} })
		answers := map[string]string{"email": "a@shop.example", "order": " 7 "}
		first, err := r.Charges.FromLink(ctx, charge.Visit{Token: l.Token, Answers: answers})
		r.must(err)
		second, err := r.Charges.FromLink(ctx, charge.Visit{Token: l.Token, Currency: "ETH", Answers: answers})
		r.must(err)
		if first.ID == second.ID || first.Option("BTC").Wallet != 0 || second.Option("ETH").Wallet == 0 ||
			second.Option("BTC").Wallet != 0 {
			t.Fatalf("the charges are %+v and %+v, want one without an address and one with", first, second)
		}
		v := r.view(second)
		if v.LinkID == nil || *v.LinkID != l.ID || v.Answers["order"] != "7" || v.Answers["email"] != "a@shop.example" {
			t.Errorf("the charge is of %v with %v, want the link's with the answers", v.LinkID, v.Answers)
		}
		for field, visit := range map[string]charge.Visit{
			"email":    {Answers: map[string]string{"order": "7"}},
			"order":    {Answers: map[string]string{"email": "x", "order": strings.Repeat("x", 256)}},
			"fields":   {Answers: map[string]string{"email": "x", "order": "7", "more": "z"}},
			"amount":   {Answers: answers, Amount: "5"},
			"currency": {Answers: answers, Currency: "XRP"},
		} {
			visit.Token = l.Token
			if _, err := r.Charges.FromLink(ctx, visit); refusal(err) == nil || refusal(err).Field != field {
				t.Errorf("%+v: %v, want a refusal of %s", visit, err, field)
			}
		}
	})
}

// Where a link leaves the amount open, each payer says how much.
func TestALinkWithAnOpenAmount(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		l := r.link(func(n *charge.NewLink) {
			n.Currencies, n.Unit, n.Fiat, n.Amount = []bursar.CurrencyCode{"BTC"}, "BTC", false, ""
		})
		_, err := r.Charges.FromLink(ctx, charge.Visit{Token: l.Token})
		r.refuses(err, bursar.CodeInvalidAmount, "amount")
		_, err = r.Charges.FromLink(ctx, charge.Visit{Token: l.Token, Amount: "-1"})
		r.refuses(err, bursar.CodeInvalidAmount, "amount")
		d, err := r.Charges.FromLink(ctx, charge.Visit{Token: l.Token, Amount: "0.002"})
		r.must(err)
		r.send(d, "BTC", "BTC", 200_000)
		r.mine(bursar.Bitcoin, 3)
		r.shows(d, "paid")
		if events := r.heardOf("paid"); events[0].LinkID == nil || *events[0].LinkID != l.ID {
			t.Errorf("the event is about link %v, want %s", events[0].LinkID, l.ID)
		}
	})
}

// A link has as many uses as it was made with: a charge that ends unpaid gives its use back.
func TestTheUsesOfALink(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		l := r.link(func(n *charge.NewLink) {
			n.Currencies, n.Unit, n.Fiat, n.Amount = []bursar.CurrencyCode{"BTC"}, "BTC", false, "0.001"
			n.MaxUses, n.Closes = 1, started.Add(5*time.Hour)
		})
		visit := charge.Visit{Token: l.Token}
		_, err := r.Charges.FromLink(ctx, visit)
		r.must(err)
		_, err = r.Charges.FromLink(ctx, visit)
		r.refuses(err, bursar.CodeRateLimited, "")
		r.clock.Set(started.Add(time.Hour)) // nothing has recorded that the first one has expired
		d, err := r.Charges.FromLink(ctx, visit)
		r.must(err)
		r.send(d, "BTC", "BTC", 100_000)
		r.mine(bursar.Bitcoin, 3)
		_, err = r.Charges.FromLink(ctx, visit)
		r.refuses(err, bursar.CodeChargeClosed, "")
		ends := r.link(func(n *charge.NewLink) { n.Closes = r.clock.Now().Add(time.Minute) })
		r.clock.Set(r.clock.Now().Add(time.Minute))
		_, err = r.Charges.FromLink(ctx, charge.Visit{Token: ends.Token})
		r.refuses(err, bursar.CodeChargeClosed, "")
	})
}

// Many visits at the same time share no use.
func TestVisitsAtTheSameTime(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		r.prices.rates["BTC"], r.prices.rates["ETH"] = "50000", "2000"
		l := r.link(func(n *charge.NewLink) { n.MaxUses = 2 })
		errs := make(chan error)
		for range 6 {
			go func() {
				_, err := r.Charges.FromLink(ctx, charge.Visit{Token: l.Token})
				errs <- err
			}()
		}
		made := 0
		for range 6 {
			if err := <-errs; err == nil {
				made++
			} else if got := refusal(err); got == nil || got.Code != bursar.CodeRateLimited {
				t.Errorf("a visit: %v, want rate_limited", err)
			}
		}
		if made != 2 {
			t.Errorf("%d charges are made, want 2", made)
		}
	})
}

// A link that its client has closed makes no more charges; its links are listed newest first and are theirs alone.
func TestLinksAreClosedAndListed(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		r.prices.rates["BTC"] = "50000"
		first, second := r.link(nil), r.link(nil)
		for range 2 {
			closed, err := r.Charges.CloseLink(ctx, r.account, first.ID, nil)
			if r.must(err); closed.ClosedAt.IsZero() {
				t.Fatalf("the link is %+v, want a closed one", closed)
			}
		}
		_, err := r.Charges.FromLink(ctx, charge.Visit{Token: first.Token})
		r.refuses(err, bursar.CodeChargeClosed, "")
		_, err = r.Charges.CloseLink(ctx, r.payer, second.ID, nil)
		r.refuses(err, bursar.CodeNotFound, "")
		list, err := r.Charges.Links(ctx, r.account, store.Page{Limit: 5})
		if r.must(err); len(list) != 2 || list[0].ID != second.ID || list[1].ClosedAt.IsZero() {
			t.Errorf("the links are %+v, want the second and the closed one", list)
		}
		for field, change := range map[string]func(*charge.NewLink){
			"maxUses":    func(n *charge.NewLink) { n.MaxUses = -1 },
			"closesAt":   func(n *charge.NewLink) { n.Closes = started },
			"fields":     func(n *charge.NewLink) { n.Fields = []string{"a", "a"} },
			"price":      func(n *charge.NewLink) { n.Amount = "-1" },
			"currencies": func(n *charge.NewLink) { n.Currencies = nil },
		} {
			n := charge.NewLink{Terms: charge.Terms{Account: r.account, Currencies: []bursar.CurrencyCode{"BTC"},
				Unit: "EUR", Fiat: true, Amount: "1.00", Webhook: "https://receiver.example/hook"}}
			change(&n)
			if _, err := r.Charges.CreateLink(ctx, n); refusal(err) == nil || refusal(err).Field != field {
				t.Errorf("%s: %v, want a refusal of it", field, err)
			}
		}
	})
}
