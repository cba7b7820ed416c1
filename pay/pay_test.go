package pay_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/pay"
)

// describe changes what a client wrote about a charge.
func (h *harness) describe(name, description, contact string) {
	h.Change(name, func(d *charge.Shown, _ map[bursar.ChainID]uint64) { d.Description, d.Contact = description, contact })
}

const wantedPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types bursar"

// Every answer forbids what the page does not need, sets no cookie and is kept by nobody.
func TestHeaders(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for _, path := range []string{h.path("waiting"), h.path("waiting") + "/qr/BTC", "/pay/" + bursar.ID{9}.String(),
		"/pay/nonsense"} {
		answer, _ := h.ask(http.MethodGet, path)
		for name, want := range map[string]string{"Content-Security-Policy": wantedPolicy, "Referrer-Policy": "same-origin",
			"Cache-Control": "no-store", "X-Robots-Tag": "noindex, nofollow", "X-Content-Type-Options": "nosniff",
			"Set-Cookie": ""} {
			if got := answer.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
	}
}

// What does not exist is answered alike, whatever was asked for.
func TestWhatDoesNotExist(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	_, want := h.ask(http.MethodGet, "/pay/"+bursar.ID{9}.String())
	if !strings.Contains(want, "There is no such payment") {
		t.Errorf("an unknown token shows %q, want that there is no such payment", want)
	}
	for _, path := range []string{"/pay/", "/pay/x", "/pay/" + bursar.ID{9}.String() + "/events", h.path("waiting") + "/x",
		"/pay/" + bursar.ID{9}.String() + "/qr/BTC", h.path("waiting") + "/qr/ETH", h.path("paid") + "/qr/USDT",
		h.path("waiting") + "/"} {
		if answer, page := h.ask(http.MethodGet, path); answer.StatusCode != http.StatusNotFound || page != want {
			t.Errorf("%s: status %d, want 404 and the page of an unknown token", path, answer.StatusCode)
		}
	}
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodOptions} {
		if answer, _ := h.ask(method, h.path("waiting")); answer.StatusCode != http.StatusNotFound {
			t.Errorf("%s is %d, want 404", method, answer.StatusCode)
		}
	}
	if answer, _ := h.ask(http.MethodGet, "/pay/assets/page.css"); answer.StatusCode != http.StatusNotFound {
		t.Errorf("an asset of another name is %d, want 404", answer.StatusCode)
	}
}

// A payer chooses a currency by a form, without scripts, and sees its address then.
func TestChooseACurrency(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	_, page := h.ask(http.MethodGet, h.path("choose")+"?lang=de")
	if !strings.Contains(page, `value="BTC"`) || !strings.Contains(page, "Wählen Sie") {
		t.Fatalf("the page offers no BTC in German, want it:\n%s", page)
	}
	answer, _ := h.post(h.path("choose")+"?lang=de", url.Values{"currency": {"BTC"}}, "Sec-Fetch-Site", "same-origin")
	to := answer.Header.Get("Location")
	if want := h.path("choose") + "?currency=BTC&lang=de"; answer.StatusCode != http.StatusSeeOther || to != want {
		t.Fatalf("the choice is %d to %q, want 303 to %q", answer.StatusCode, to, want)
	}
	if _, page = h.ask(http.MethodGet, to); !strings.Contains(page, `data-state="waiting"`) {
		t.Errorf("the page shows %s, want that it waits", page)
	}
}

// Another site cannot choose for a payer.
func TestAFormOfAnotherSite(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://evil.example"}} {
		answer, _ := h.post(h.path("choose"), url.Values{"currency": {"BTC"}}, header...)
		if answer.StatusCode != http.StatusForbidden {
			t.Errorf("%v is %d, want 403", header, answer.StatusCode)
		}
	}
	if _, page := h.ask(http.MethodGet, h.path("choose")); !strings.Contains(page, `data-state="choose"`) {
		t.Error("a currency was chosen, want none")
	}
}

// A browser that does not send Sec-Fetch-Site, such as Safari before 16.4, is known by the Origin of its form. It sends
// "null" there from a page whose policy is no-referrer (Fetch, "append a request Origin header"): nobody could pay.
func TestAFormOfAnOlderBrowser(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	answer, _ := h.ask(http.MethodGet, h.path("choose"))
	origin := "http://pay.example"
	if answer.Header.Get("Referrer-Policy") == "no-referrer" {
		origin = "null"
	}
	answer, _ = h.post(h.path("choose"), url.Values{"currency": {"BTC"}}, "Origin", origin)
	if answer.StatusCode != http.StatusSeeOther {
		t.Errorf("a choice from %s is %d, want 303", origin, answer.StatusCode)
	}
}

// A form that is too long, a currency that there is not, and too many choices change nothing.
func TestBoundsOfAChoice(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	long := url.Values{"currency": {strings.Repeat("x", 5000)}}
	if answer, _ := h.post(h.path("choose"), long); answer.StatusCode != http.StatusForbidden {
		t.Errorf("a form of 5000 bytes is %d, want 403", answer.StatusCode)
	}
	if answer, _ := h.post(h.path("choose"), url.Values{"currency": {"DOGE"}}); answer.StatusCode != http.StatusSeeOther {
		t.Errorf("an unknown currency is %d, want 303 back to the page", answer.StatusCode)
	}
	last := 0
	for range 20 {
		answer, _ := h.post(h.path("choose"), url.Values{"currency": {"BTC"}})
		last = answer.StatusCode
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the 21st choice of a minute is %d, want 429", last)
	}
}

// The changing part is answered again only once it has changed.
func TestThePartThatChanges(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	path := h.path("waiting") + "?fragment=1"
	answer, part := h.ask(http.MethodGet, path)
	tag := answer.Header.Get("ETag")
	if !strings.HasPrefix(strings.TrimSpace(part), "<main") || strings.Contains(part, "<html") || tag == "" {
		t.Fatalf("the part is %q with ETag %q, want the element main and a tag", part, tag)
	}
	if answer, _ := h.ask(http.MethodGet, path, "If-None-Match", tag); answer.StatusCode != http.StatusNotModified {
		t.Errorf("unchanged it is %d, want 304", answer.StatusCode)
	}
	h.describe("waiting", "changed", "")
	if answer, _ := h.ask(http.MethodGet, path, "If-None-Match", tag); answer.StatusCode != http.StatusOK {
		t.Errorf("changed it is %d, want 200", answer.StatusCode)
	}
}

// The files beside the page are kept for ever, since their names change with them.
func TestAssets(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	_, page := h.ask(http.MethodGet, h.path("waiting"))
	for _, mark := range []string{`<link rel="stylesheet" href="`, `<script type="module" src="`} {
		_, rest, _ := strings.Cut(page, mark)
		path, _, _ := strings.Cut(rest, `"`)
		answer, body := h.ask(http.MethodGet, path)
		if answer.StatusCode != http.StatusOK || !strings.Contains(answer.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s is %d, want 200 that is kept", path, answer.StatusCode)
		}
		if strings.HasSuffix(path, ".js") && len(body) > 8<<10 {
			t.Errorf("the script has %d bytes, want 8192 at most", len(body))
		}
	}
}

// A logo is a PNG and nothing else.
func TestLogo(t *testing.T) {
	t.Parallel()
	c := newHarness(t).Config()
	for _, logo := range []string{"GIF89a", "<svg xmlns='http://www.w3.org/2000/svg'/>",
		strings.Repeat("x", pay.MaxLogo+1)} {
		c.Brand.Logo = []byte(logo)
		if _, err := pay.New(c); err == nil {
			t.Errorf("a logo of %d bytes that is no PNG is taken, want an error", len(logo))
		}
	}
}
