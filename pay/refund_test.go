package pay_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// Who paid late names an address for a refund; the page shows it, and pays nothing.
func TestNameAnAddressForARefund(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	const address = "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"
	form := func(address, again string) url.Values {
		return url.Values{"currency": {"USDT"}, "address": {address}, "again": {again}}
	}
	for name, wrong := range map[string]url.Values{
		"other characters":      form(address, "pRTv9x"),
		"too few":               form(address, "RTv8"),
		"nothing":               form("", ""),
		"an address of letters": form("nonsense", "nsense"),
	} {
		answer, _ := h.post(h.path("late")+"/refund?lang=en", wrong)
		to := answer.Header.Get("Location")
		if want := h.path("late") + "?lang=en&refund=wrong"; answer.StatusCode != http.StatusSeeOther || to != want {
			t.Errorf("%s: %d to %q, want 303 to %q", name, answer.StatusCode, to, want)
		}
		if _, page := h.ask(http.MethodGet, to); !strings.Contains(page, `role="alert"`) ||
			strings.Contains(page, "A refund would go to") {
			t.Errorf("%s: the page is\n%s\nwant that the address was not taken", name, page)
		}
	}
	answer, _ := h.post(h.path("late")+"/refund", form(address, "jpRTv8"))
	if to := answer.Header.Get("Location"); to != h.path("late") {
		t.Errorf("a good address leads to %q, want the page", to)
	}
	if _, page := h.ask(http.MethodGet, h.path("late")); !strings.Contains(page, "A refund would go to") ||
		!strings.Contains(page, address) || strings.Contains(page, `role="alert"`) {
		t.Errorf("the page is\n%s\nwant that it shows the address", page)
	}
}

// The form is shown only where something can be refunded, and is taken from no other site.
func TestWhereARefundIsAskedFor(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for _, name := range h.Names() {
		_, page := h.ask(http.MethodGet, h.path(name))
		wanted := name == "late" || name == "expired_partial" || name == "over"
		if asks := strings.Contains(page, `name="again"`); asks != wanted {
			t.Errorf("%s asks for an address: %t, want %t", name, asks, wanted)
		}
	}
	answer, _ := h.post(h.path("late")+"/refund", url.Values{}, "Sec-Fetch-Site", "cross-site")
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("a form of another site is %d, want 403", answer.StatusCode)
	}
	if answer, _ := h.post("/pay/nonsense/refund", url.Values{}); answer.StatusCode != http.StatusNotFound {
		t.Errorf("a form for nothing is %d, want 404", answer.StatusCode)
	}
}
