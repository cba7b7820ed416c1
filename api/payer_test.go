package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/api"
	"github.com/bursar/bursar/pay"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/wire"
)

const pages = "https://pay.shop.example"

// withPages has a replica serve payers' pages.
func withPages(t *testing.T) func(*api.Config) {
	return func(c *api.Config) {
		c.Checkout = wire.Checkout{URL: pages, Name: "Fern & Fig"}
		handler, err := pay.New(pay.Config{
			Find:     c.Charges.Shown,
			Changes:  c.Charges.Changes,
			Quote:    c.Charges.Quote,
			Refund:   c.Charges.ProposeRefund,
			FindLink: c.Charges.LinkByToken,
			FromLink: c.Charges.FromLink,
			Registry: c.Registry,
			Prices:   c.Prices.Price,
			Checkout: c.Checkout,
			Now:      c.DB.Now,
			Sleep:    c.DB.Sleep,
			Log:      c.Log,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(handler.Close)
		c.Pages = handler
	}
}

// charged makes a charge and returns it.
func (s *harness) charged(key, query string) (made wire.Invoice) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.base+"/api/v1/charge?"+query, http.NoBody)
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("X-API-KEY", key)
	answer, body := s.send(r)
	var found struct{ Response struct{ Charge wire.Invoice } }
	if err := json.Unmarshal(body, &found); err != nil || answer.StatusCode != http.StatusOK {
		s.Fatalf("the charge is %d %s (%v), want it", answer.StatusCode, body, err)
	}
	return found.Response.Charge
}

// look asks for a path of the page of a charge.
func (s *harness) look(method, path string, body url.Values) (*http.Response, string) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.base+path, strings.NewReader(body.Encode()))
	if err != nil {
		s.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, text := s.send(r)
	return answer, string(text)
}

// A charge names its payer's page, on which its payer chooses a currency; then the charge has an address.
func TestAChargeHasAPage(t *testing.T) {
	onEach(t, func(t *testing.T, database string) {
		s := newHarness(t, database, newClock(), withPages(t))
		key := s.account(false).APIKey
		made := s.charged(key, "currency=TRX,USDT&price=9&priceCurrency=EUR&expires=3600&webhook=https://shop.example/x"+
			"&customer=secret-customer&reference=secret-reference&metadata=secret-metadata&description=shoes")
		if made.CheckoutURL == nil || !strings.HasPrefix(*made.CheckoutURL, pages+"/pay/") ||
			strings.Contains(*made.CheckoutURL, made.ChargeID.String()) {
			t.Fatalf("the page is %v, want one below %s that does not show the charge's ID", made.CheckoutURL, pages)
		}
		path := strings.TrimPrefix(*made.CheckoutURL, pages)
		answer, page := s.look(http.MethodGet, path, nil)
		if answer.StatusCode != http.StatusOK || !strings.Contains(page, `data-state="choose"`) ||
			!strings.Contains(page, "shoes") || strings.Contains(page, "secret") {
			t.Fatalf("the page is %d with\n%s\nwant the choice, and nothing that only the client knows", answer.StatusCode, page)
		}
		_, page = s.look(http.MethodPost, path, url.Values{"currency": {"USDT"}})
		if !strings.Contains(page, `data-state="waiting"`) || !strings.Contains(page, `id="copy-address"`) {
			t.Errorf("after the choice the page is\n%s\nwant that it waits, with an address", page)
		}
		_, page = s.look(http.MethodGet, path+"?fragment=1&currency=USDT", nil)
		if !strings.Contains(page, `data-key="2.waiting"`) {
			t.Errorf("the changing part is\n%s\nwant version 2", page)
		}
		if answer, _ := s.look(http.MethodGet, path+"/qr/USDT", nil); answer.Header.Get("Content-Type") != "image/svg+xml" {
			t.Errorf("the code is %q, want an image", answer.Header.Get("Content-Type"))
		}
		s.clock.Advance(time.Hour)
		if _, page = s.look(http.MethodGet, path, nil); !strings.Contains(page, `data-state="expired"`) {
			t.Errorf("after its end the page is\n%s\nwant that it has expired", page)
		}
	})
}

// What is recorded about a charge is found by its token, that of an unknown one is left out.
func TestVersionsByToken(t *testing.T) {
	onEach(t, func(t *testing.T, database string) {
		s := newHarness(t, database, newClock(), withPages(t))
		made := s.charged(s.account(false).APIKey, "currency=USDT&amount=5&webhook=https://shop.example/x")
		token, err := bursar.ParseID((*made.CheckoutURL)[len(pages+"/pay/"):])
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.config.Charges.Changes(t.Context(), []bursar.ID{token, {15: 9}})
		if err != nil || len(got.Records) != 1 || got.Records[token].Version != 1 ||
			!got.Records[token].TurnsAt.Equal(made.ExpiresAt) {
			t.Errorf("the changes are %+v, %v, want version 1 of the one charge, with its end", got, err)
		}
	})
}

// Pages count against the limit of a client's address, by a counter of their own.
func TestLimitOfPages(t *testing.T) {
	t.Parallel()
	at := newClock()
	s := newHarness(t, storetest.SQLite(t), at, withPages(t), func(c *api.Config) {
		c.RateLimits.Address = api.Limit{PerSecond: 1, Burst: 3}
	})
	path := "/pay/" + bursar.ID{9}.String()
	for range 3 {
		if answer, _ := s.look(http.MethodGet, path, nil); answer.StatusCode != http.StatusNotFound {
			t.Errorf("an unknown page is %d, want 404", answer.StatusCode)
		}
	}
	answer, _ := s.look(http.MethodGet, path, nil)
	if answer.StatusCode != http.StatusTooManyRequests || answer.Header.Get("Retry-After") == "" {
		t.Errorf("the fourth request is %d, want 429 with a time", answer.StatusCode)
	}
	// Who asks whether the service is healthy may share the payers' address, behind a proxy that is not configured.
	if answer, _ = s.look(http.MethodGet, "/healthz", nil); answer.StatusCode != http.StatusOK {
		t.Errorf("after too many payers the health is %d, want 200", answer.StatusCode)
	}
}

// A payer of a link says how much and who they are, and comes to the page of a charge of their own; opening the page
// makes none.
func TestTheLinksPage(t *testing.T) {
	onEach(t, func(t *testing.T, database string) {
		s := newHarness(t, database, newClock(), withPages(t))
		key := s.account(false).APIKey
		path := "/pay/link/" + s.linked(key, "currency=USDT&webhook=https://shop.example/x&fields=email&description=Gifts")
		answer, page := s.look(http.MethodGet, path, nil)
		if answer.StatusCode != http.StatusOK || !strings.Contains(page, "Gifts") ||
			!strings.Contains(page, `name="field-email"`) || !strings.Contains(page, "Amount in USDT") {
			t.Fatalf("the page is %d with\n%s\nwant that it asks for an amount and a mail address", answer.StatusCode, page)
		}
		for _, wrong := range []url.Values{{"amount": {"5"}}, {"amount": {"-1"}, "field-email": {"a@b.example"}}} {
			answer, page = s.look(http.MethodPost, path, wrong)
			if answer.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(page, `role="alert"`) {
				t.Errorf("%v is %d, want 422 with what is wrong", wrong, answer.StatusCode)
			}
		}
		_, page = s.look(http.MethodPost, path, url.Values{"amount": {"5,50"}, "field-email": {"a@b.example"}})
		if !strings.Contains(page, `data-state="waiting"`) || !strings.Contains(page, "5.50") {
			t.Errorf("the charge's page is\n%s\nwant that it waits for 5.50", page)
		}
		for _, unknown := range []string{"/pay/link/", "/pay/link/x", "/pay/link/" + bursar.ID{9}.String()} {
			if answer, _ := s.look(http.MethodGet, unknown, nil); answer.StatusCode != http.StatusNotFound {
				t.Errorf("%s is %d, want 404", unknown, answer.StatusCode)
			}
		}
		s.clock.Advance(48 * time.Hour)
		closing := "/pay/link/" +
			s.linked(key, "currency=USDT&amount=5&webhook=https://shop.example/x&closesAt=2026-01-05T00:00:00Z")
		s.clock.Advance(48 * time.Hour)
		if _, page = s.look(http.MethodGet, closing, nil); !strings.Contains(page, "This payment link has ended") {
			t.Errorf("the page of a link that has ended is\n%s\nwant that it says so", page)
		}
	})
}

// linked makes a payment link and returns its token.
func (s *harness) linked(key, query string) string {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.base+"/api/v1/link?"+query, http.NoBody)
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("X-API-KEY", key)
	answer, body := s.send(r)
	var found struct{ Response struct{ Link wire.Link } }
	if err := json.Unmarshal(body, &found); err != nil || answer.StatusCode != http.StatusOK {
		s.Fatalf("the link is %d %s (%v), want it", answer.StatusCode, body, err)
	}
	return found.Response.Link.Token.String()
}
