package charge_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
)

// quote chooses a currency.
func (r *harness) quote(d bursar.InvoiceDetail, code bursar.CurrencyCode) error {
	r.t.Helper()
	_, err := r.Charges.Quote(ctx, r.change(d), code)
	return err
}

// A price in fiat is paid in several currencies, each with an address once it is chosen, and their values add up.
func TestAPriceIsPaidInSeveralCurrencies(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		r.prices.rates["BTC"], r.prices.rates["TOK"] = "50000", "0.9"
		d := r.inEuro("BTC", "TOK", "ETH")
		v := r.shows(d, "open")
		if len(v.Options) != 2 || v.Options[0].Address != nil || *v.Options[0].Due != "0.00200000" || v.Currency != "BTC" ||
			*v.Options[1].Due != "111.12" || v.Required.Currency != "EUR" || v.Options[0].LockedUntil != nil {
			t.Fatalf("a new charge is %+v, want options of BTC and TOK: ETH has no rate", v)
		}
		r.must(r.quote(d, "BTC"))
		v = r.view(d)
		if o := v.Options[0]; o.Address == nil || o.LockedUntil == nil ||
			!o.LockedUntil.Equal(r.DB.Now().Add(charge.DefaultRateLock)) || *o.RateSource != "test" {
			t.Fatalf("the chosen option is %+v", o)
		}
		version := v.Version
		r.must(r.quote(d, "BTC")) // its rate is locked
		if v = r.view(d); v.Version != version {
			t.Errorf("the same quote makes version %d, want %d", v.Version, version)
		}
		r.prices.rates["BTC"] = "40000" // the locked one counts
		r.send(d, "BTC", "BTC", 100_000)
		r.mine(bursar.Bitcoin, 3)
		if v = r.shows(d, "open partial"); v.Received != "50.00" || v.Due != "50.00" || *v.Options[1].Due != "55.56" {
			t.Fatalf("half of it makes %+v, want %q and %q", v, "50.00", "55.56")
		}
		r.must(r.quote(d, "TOK"))
		r.send(d, "TOK", "TOK", 55_560_000)
		r.mine(bursar.Ethereum, 2)
		if v = r.shows(d, "paid"); v.Received != "100.004" || *v.Payments[1].Rate != "0.9" {
			t.Fatalf("all of it makes %+v, want %q and %q", v, "100.004", "0.9")
		}
		r.heardOf("paid")
		if err := refusal(r.quote(d, "ETH")); err == nil || err.Code != bursar.CodeChargeClosed {
			t.Errorf("a quote of a paid charge: %v, want charge_closed", err)
		}
	})
}

// After its lock a payment counts at the rate of its first sight; without one, it waits for a person.
func TestAPaymentAfterTheLock(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		r.prices.rates["BTC"] = "50000"
		d := r.inEuro("BTC")
		r.mine(bursar.Bitcoin, 15)
		r.prices.rates["BTC"] = "40000"
		r.send(d, "BTC", "BTC", 100_000)
		r.mine(bursar.Bitcoin, 3)
		if v := r.shows(d, "open partial"); v.Received != "40.00" {
			t.Fatalf("a payment after the lock makes %+v, want 40.00", v)
		}
		delete(r.prices.rates, "BTC")
		r.send(d, "BTC", "BTC", 200_000)
		r.mine(bursar.Bitcoin, 1)
		r.prices.rates["BTC"] = "50000" // it was not known at first sight, and nothing is guessed
		r.mine(bursar.Bitcoin, 2)
		if v := r.shows(d, "open partial unrated !"); *v.Payments[1].Why != "no_rate" || v.Payments[1].Value != nil {
			t.Fatalf("a payment without a rate makes %+v", v)
		}
		r.heardOf("attention")
		r.must(r.resolve(d, 1, bursar.ResolveAccept))
		r.shows(d, "paid unrated marked")
	})
}

// A block that is read long after it was made has no rate of its time, unless the rate was locked then.
func TestABlockThatIsReadLateCountsAtTheLockedRate(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		r.prices.rates["BTC"] = "50000"
		locked, open := r.inEuro("BTC"), r.inEuro("BTC")
		r.chains[bursar.Bitcoin].Mine(1)
		r.send(locked, "BTC", "BTC", 200_000)
		r.chains[bursar.Bitcoin].Mine(14)
		r.send(open, "BTC", "BTC", 200_000)
		r.chains[bursar.Bitcoin].Mine(3)
		r.clock.Set(started.Add(50 * time.Minute))
		r.must(r.quote(locked, "BTC")) // a new quote does not take the old one's payments
		r.step(bursar.Bitcoin)
		r.shows(locked, "paid")
		r.shows(open, "open unrated !")
	})
}

func TestWithoutARateNothingIsOffered(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		r.prices.rates["BTC"] = "50000"
		d := r.inEuro("BTC", "TOK")
		if err := refusal(r.quote(d, "TOK")); err == nil || err.Code != bursar.CodeRateUnavailable {
			t.Errorf("a currency without a rate: %v, want rate_unavailable", err)
		}
		if err := refusal(r.quote(d, "ETH")); err == nil || err.Code != bursar.CodeUnsupportedCurrency {
			t.Errorf("a currency that is no option: %v, want unsupported_currency", err)
		}
		delete(r.prices.rates, "BTC")
		if v := r.view(d); len(v.Options) != 0 {
			t.Errorf("options are %+v, want none", v.Options)
		}
		for name, c := range map[string]struct {
			codes []bursar.CurrencyCode
			unit  bursar.CurrencyCode
			want  bursar.ErrorCode
		}{
			"no rate now":        {[]bursar.CurrencyCode{"BTC", "TOK"}, "EUR", bursar.CodeRateUnavailable},
			"never a rate":       {[]bursar.CurrencyCode{"BTC", "XRP"}, "EUR", bursar.CodeInvalidRequest},
			"another unit":       {[]bursar.CurrencyCode{"BTC"}, "USD", bursar.CodeInvalidRequest},
			"a currency, not":    {[]bursar.CurrencyCode{"BTC"}, "ETH", bursar.CodeInvalidRequest},
			"no currency at all": {nil, "EUR", bursar.CodeInvalidRequest},
		} {
			_, err := r.Charges.CreateSum(ctx, charge.Terms{Account: r.account, Currencies: c.codes, Unit: c.unit, Fiat: true,
				Amount: "1", Webhook: "https://receiver.example", Hash: []byte("x")})
			if got := refusal(err); got == nil || got.Code != c.want {
				t.Errorf("%s: got %v, want %s", name, err, c.want)
			}
		}
	})
}

// Value of another currency or chain at a charge's address is credited, shown and labelled, and never counted at par.
func TestOtherCurrenciesAtTheAddress(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(func(t *charge.Terms) {
			t.Currencies, t.Unit, t.Amount = []bursar.CurrencyCode{"ETH"}, "ETH", "0.0000001"
		})
		r.send(d, "ETH", "TOK", 2_000_000)
		r.mine(bursar.Ethereum, 2)
		if v := r.shows(d, "open other_asset unrated !"); v.Payments[0].Counted || v.Payments[0].Amount != "2.00" {
			t.Fatalf("another asset makes %+v", v)
		}
		r.send(d, "ETH", "BNB", 100_000_000_000)
		r.mine(bursar.BSC, 2)
		r.shows(d, "open other_asset other_network unrated !")
		r.holds("TOK", 2_000_000)
		r.holds("BNB", 100_000_000_000)
		r.must(r.resolve(d, 0, bursar.ResolveCredit))
		r.must(r.resolve(d, 1, bursar.ResolveAccept))
		r.shows(d, "paid other_asset other_network unrated marked")
		r.heardOf("attention", "paid")
	})
}

func TestAnotherCurrencyCountsAtItsRateWhereThatWasAsked(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		r.prices.rates["ETH"], r.prices.rates["TOK"], r.prices.rates["BNB"] = "2000", "0.5", "500"
		d := r.sum(func(t *charge.Terms) {
			t.Currencies, t.Unit, t.Fiat, t.Amount = []bursar.CurrencyCode{"ETH"}, "EUR", true, "100"
			t.Other = bursar.HandlingAccept
		})
		r.send(d, "ETH", "TOK", 100_000_000)
		r.send(d, "ETH", "BNB", 100_000_000_000_000_000)
		r.mine(bursar.Ethereum, 2)
		r.shows(d, "open partial other_asset")
		r.mine(bursar.BSC, 2)
		if v := r.shows(d, "paid other_asset other_network"); v.Received != "100.00" {
			t.Fatalf("both make %+v, want 100.00", v)
		}
	})
}

// An outage of ours makes no payment late: what was in a block before the end pays, however late it is read.
func TestAnOutageMakesNoPaymentLate(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(func(t *charge.Terms) { t.Life = 5 * time.Minute })
		r.chains[bursar.Bitcoin].Mine(3)
		r.send(d, "BTC", "BTC", 100_000)
		r.chains[bursar.Bitcoin].Mine(3)
		r.clock.Set(started.Add(time.Hour))
		_, err := r.Charges.Turn(ctx)
		r.must(err)
		r.shows(d, "expired") // as far as is known
		r.step(bursar.Bitcoin)
		r.shows(d, "paid")
	})
}
