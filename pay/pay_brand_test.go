package pay_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/pay"
	"github.com/bursar/bursar/pay/paytest"
)

// Each account's page has its own name and colours; that of an account without any has those of the service.
func TestThePageOfAnAccountHasItsBrand(t *testing.T) {
	t.Parallel()
	style := regexp.MustCompile(`/pay/assets/page-[0-9a-f]{16}\.css`)
	for own, want := range map[bool][2]string{true: {"Moss &amp; Co", "#7a1fa2"}, false: {"Fern &amp; Fig", "#0f5132"}} {
		h := newHarness(t, func(c *pay.Config) {
			c.Brands = map[bursar.ID]pay.Brand{{9}: {Name: "Moss & Co", Accent: "#7a1fa2", OnAccent: "#ffffff"}}
		})
		if own {
			h.Change("waiting", func(d *charge.Shown, _ map[bursar.ChainID]uint64) { d.AccountID = bursar.ID{9} })
		}
		_, page := h.ask(http.MethodGet, h.path("waiting"))
		_, css := h.ask(http.MethodGet, style.FindString(page))
		if !strings.Contains(page, want[0]) || !strings.Contains(css, "--accent:"+want[1]) {
			t.Errorf("own brand %v: the page has the name %v and the style begins with %.60q, want %v", own,
				strings.Contains(page, want[0]), css, want)
		}
	}
}

// The pages that an account's shop names may show its payers' pages in a frame; those of other accounts may not, and an
// error is shown in none.
func TestWhoMayFrameThePage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ all, own, want string }{
		"nobody":                {"", "", "'none'"},
		"those of all":          {"https://shop.example", "", "'none'"}, // the account has a brand of its own
		"those of the account":  {"https://shop.example", "https://moss.example", "https://moss.example"},
		"without a brand of it": {"https://shop.example", "-", "https://shop.example"},
	} {
		h := newHarness(t, func(cfg *pay.Config) {
			origins := func(one string) []string { return strings.Fields(one) }
			cfg.Brand.Frames = origins(c.all)
			if c.own != "-" {
				cfg.Brands = map[bursar.ID]pay.Brand{{9}: {Accent: "#7a1fa2", OnAccent: "#ffffff", Frames: origins(c.own)}}
			}
		})
		h.Change("waiting", func(d *charge.Shown, _ map[bursar.ChainID]uint64) { d.AccountID = bursar.ID{9} })
		for path, want := range map[string]string{h.path("waiting"): c.want, h.path("waiting") + "?fragment=1": c.want,
			"/pay/nonsense": "'none'"} {
			answer, _ := h.ask(http.MethodGet, path)
			got := answer.Header.Get("Content-Security-Policy")
			if !strings.Contains(got, "; frame-ancestors "+want+"; ") {
				t.Errorf("%s: %s has the policy %q, want the ancestors %s", name, path, got, want)
			}
		}
	}
}

// An error is shown in no frame, also where the link that led to it is found.
func TestAnErrorOfALinkIsShownInNoFrame(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(cfg *pay.Config) {
		cfg.Brand.Frames = []string{"https://shop.example"}
		cfg.FromLink = func(context.Context, charge.Visit) (bursar.InvoiceDetail, error) {
			return bursar.InvoiceDetail{}, errors.New("the database does not answer")
		}
	})
	path := "/pay/link/" + paytest.LinkToken.String()
	page, _ := h.ask(http.MethodGet, path)
	failed, _ := h.post(path, url.Values{}, "Sec-Fetch-Site", "same-origin")
	for want, answer := range map[string]*http.Response{"https://shop.example": page, "'none'": failed} {
		got := answer.Header.Get("Content-Security-Policy")
		if !strings.Contains(got, "; frame-ancestors "+want+"; ") {
			t.Errorf("status %d has the policy %q, want the ancestors %s", answer.StatusCode, got, want)
		}
	}
	if failed.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("the form is answered %d, want %d", failed.StatusCode, http.StatusServiceUnavailable)
	}
}

// A wallet that opens by its maker's site is linked where it is named, for its currency alone, and the page goes on as
// without it.
func TestAWalletOfTheMakersSite(t *testing.T) {
	t.Parallel()
	const link = `href="https://xaman.app/detect/request:`
	for name, want := range map[string]bool{"waiting-xrp": true, "waiting": false} {
		h := newHarness(t, func(c *pay.Config) { c.Apps = []string{"xaman"} })
		answer, page := h.ask(http.MethodGet, h.path(name))
		if strings.Contains(page, link) != want {
			t.Errorf("%s links to the site: %t, want %t", name, !want, want)
		}
		if want && (!strings.Contains(page, "&amp;network=XRPL&amp;dt=") ||
			!strings.Contains(page, `rel="noopener noreferrer">Open in wallet: <bdi>Xaman</bdi>`)) {
			t.Errorf("%s has\n%s\nwant a link with the tag that opens by itself and tells nothing of the page", name, page)
		}
		if policy := answer.Header.Get("Content-Security-Policy"); strings.Contains(policy, "xaman") {
			t.Errorf("%s: the policy is %s, want nothing of another host in it", name, policy)
		}
	}
	if _, page := newHarness(t).ask(http.MethodGet, newHarness(t).path("waiting-xrp")); strings.Contains(page, link) {
		t.Error("a page whose operator names no wallet links to the site, want that it does not")
	}
}
