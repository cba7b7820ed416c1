package main

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

var noRedirect = &http.Client{CheckRedirect: func(*http.Request,
	[]*http.Request) error {
	return http.ErrUseLastResponse
}}

// posted sends a form as a browser on a page of an origin does, and returns where it is led.
func posted(t *testing.T, target, origin string, form url.Values) (status int, location string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", origin)
	response, err := noRedirect.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode, response.Header.Get("Location")
}

// TestTheDemoShopSells buys something, has the sandbox pay for it, and waits until the shop has heard of it by a
// webhook.
func TestTheDemoShopSells(t *testing.T) {
	t.Parallel()
	line, end := begin(t, "--json", "--chains", "xrpl,solana")
	f := startInfoOf(t, line)
	if home := fetched(t, f.Shop); !strings.Contains(home, "Mug with a fish") {
		t.Fatalf("the shop shows %s, want what it sells", home)
	}
	if status, _ := posted(t, f.Shop+"/buy", "http://evil.example",
		url.Values{"product": {"mug"}, "life": {"1h0m0s"}}); status != 403 {
		t.Errorf("a form of another site: got %d, want 403", status)
	}
	if status, _ := posted(t, f.Shop+"/buy", f.Shop, url.Values{"product": {"yacht"}, "life": {"1h0m0s"}}); status != 400 {
		t.Errorf("what the shop does not have: got %d, want 400", status)
	}
	status, order := posted(t, f.Shop+"/buy", f.Shop, url.Values{"product": {"mug"}, "life": {"1h0m0s"}})
	if status != http.StatusSeeOther {
		t.Fatalf("buy: got %d, want 303", status)
	}
	if page := fetched(t, f.Shop+order); !strings.Contains(page, "Waits for your payment") {
		t.Errorf("the new order: got %s, want one that waits", page)
	}
	if status, _ := posted(t, f.Shop+order+"/pay", f.Shop,
		url.Values{"currency": {"SOL"}, "how": {"no_tag"}}); status != 400 {
		t.Errorf("a payment that is not possible: got %d, want 400", status)
	}
	if status, _ := posted(t, f.Shop+order+"/pay", f.Shop,
		url.Values{"currency": {"XRP"}, "how": {"exact"}}); status != 303 {
		t.Fatalf("pay: got %d, want 303", status)
	}
	heard := regexp.MustCompile(`Last webhook</dt><dd>paid`)
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for page := ""; !heard.MatchString(page); {
		select {
		case <-deadline.C:
			t.Fatalf("the order: got %s, want one that a webhook says is paid", page)
		case <-ticker.C:
		}
		page = fetched(t, f.Shop+order)
	}
	if page := fetched(t, f.Shop+order); !strings.Contains(page, "on its way") {
		t.Errorf("the paid order: got %s, want one that is delivered", page)
	}
	forged, err := http.Post(f.Shop+"/hook", "application/json", strings.NewReader(`{"type":"charge"}`))
	if err != nil {
		t.Fatal(err)
	}
	forged.Body.Close()
	if forged.StatusCode != http.StatusBadRequest {
		t.Errorf("a forged webhook: got %d, want 400", forged.StatusCode)
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
}
