package browser

import (
	"crypto/sha256"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/bursar/bursar/console/consoletest"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/oversight"
)

const (
	consolePictures = "../../docs/operations/console"
	oncePixels      = 1024 // how wide the pages are that are pictured once
)

// consolePages are the pages in the documents: the first ones on a phone and, in the dark, on a wide screen, the others
// once.
var consolePages = []struct {
	name, path string
	once       bool
}{
	{"home", "/console/", false},
	{"deposit", "/console/deposits/" + consoletest.Waiting.String(), false},
	{"balances", "/console/balances", false},
	{"charge", "/console/charges/" + consoletest.Charge.String(), false},
	{"wallet", "/console/wallets/" + consoletest.Wallet.String(), false},
	{"unattributed", "/console/unattributed", false},
	{"treasury", "/console/do/treasury.withdraw?object=0193a6a0-0a00-7000-8000-000000000000" +
		"&token=0193a6a0-0000-7000-8000-000000000000", false},
	{"sign-in", "/console/sign-in", true},
	{"withdrawal", "/console/withdrawals/" + consoletest.Payout.String(), true},
	{"search", "/console/search?q=bc1qother", true},
	{"chains", "/console/chains", true},
	{"webhooks", "/console/webhooks", true},
	{"ledger", "/console/ledger", true},
	{"account", "/console/accounts/" + consoletest.Shop.String(), true},
	{"act", "/console/do/halt?object=currency:USDT&token=0193a6a0-0000-7000-8000-000000000000", true},
	{"proposal", "/console/proposals/" + consoletest.Proposed.String(), true},
	{"approvals", "/console/approvals", false},
	{"proposals", "/console/proposals", true},
	{"people", "/console/people", true},
	{"audit", "/console/audit", true},
	{"settings", "/console/settings", true},
}

// reads looks at the pages of the operator's console, as somebody who may see and do everything.
func (p *payer) reads(t *testing.T) {
	t.Helper()
	server := httptest.NewServer(consoletest.New(t, operator.Roles()...))
	t.Cleanup(server.Close)
	before := p.url
	p.url = strings.Replace(server.URL, "127.0.0.1", "localhost", 1) // to sign in, a host needs a name
	defer func() { p.url = before }()
	// Lists share a template, and so do forms: one of each is enough beside those in the documents.
	more := []string{"/console/deposits?status=pending", "/console/charges", "/console/proposals", "/console/me",
		"/console/approvals/" + consoletest.Payout.String(), "/console/order-keys",
		"/console/do/limits.tighten?object=all",
		"/console/invited", "/console/nothing", "/console/do/withdrawal.reject?object=" + consoletest.Payout.String()}
	for _, one := range consolePages {
		more = append(more, one.path)
	}
	p.do(chromedp.EmulateViewport(320, 800))
	for _, one := range oversight.Pages() {
		if !strings.Contains(one.Path, "{") && !slices.Contains(more, "/console"+one.Path) {
			p.consolePage("/console" + one.Path)
			p.fits(one.Path)
		}
	}
	for _, path := range more {
		p.consolePage(path)
		p.fits(path)
		p.examine(path)
		if forbidden := eval[[]string](p, "forbidden"); len(forbidden) > 0 {
			p.Errorf("%s: the policy forbids %v, want nothing", path, forbidden)
		}
	}
	p.dark(true)
	for _, one := range consolePages {
		if !one.once || one.name == "act" || one.name == "proposal" || one.name == "sign-in" {
			p.consolePage(one.path)
			p.examine(one.name + " in the dark")
		}
	}
	p.dark(false)
	p.filtersWithoutScripts()
	p.consolePictures(t)
	p.do(chromedp.EmulateViewport(390, 844))
}

// widest names what sticks out of the screen, or out of its table: nothing is cut, and nothing has to be scrolled to
// the side.
const widest = `[...document.querySelectorAll('body *')].filter((e) =>
	(e.getBoundingClientRect().right > innerWidth || e.matches('.table') && e.scrollWidth > e.clientWidth) &&
	!e.closest('.unseen, .skip, pre, thead, svg')).map((e) => e.tagName + '.' + e.className + ' ' +
	e.textContent.trim().slice(0, 40)).slice(0, 5).join('; ')`

// fits has a page fit a screen of 320.
func (p *payer) fits(what string) {
	p.Helper()
	wide, out := eval[int](p, "document.documentElement.scrollWidth"), eval[string](p, widest)
	if wide > 320 || out != "" {
		p.Errorf("%s is %d wide on a screen of 320, want that it fits; out of it stick %s", what, wide, out)
	}
}

func (p *payer) consolePage(path string) {
	p.Helper()
	p.do(chromedp.Navigate(p.url+path), chromedp.WaitReady(chromedp.CSS("main")))
}

// filtersWithoutScripts narrows a list: its URL has the filter in it.
func (p *payer) filtersWithoutScripts() {
	p.Helper()
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	p.consolePage("/console/deposits")
	result(p, chromedp.WaitEvent(page.LoadEventFired, func(page.EventLoadEventFired) bool { return true },
		chromedp.Click(chromedp.CSS(".filters button"))))
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{})
	p.do(chromedp.WaitReady(chromedp.CSS("main")))
	if at := eval[string](p, "location.search"); !strings.Contains(at, "status=") {
		p.Errorf("the filters lead to %q, want them in the URL", at)
	}
}

// consolePictures compares what the pictures of the documents were taken of with the pages of today.
func (p *payer) consolePictures(t *testing.T) {
	t.Helper()
	var list strings.Builder
	style := p.get("/console/assets/console.css")
	for _, one := range consolePages {
		sum := sha256.Sum256([]byte(p.get(one.path) + style))
		fmt.Fprintf(&list, "%x %s\n", sum[:4], one.name)
		switch {
		case !*update:
		case one.once:
			p.consolePicture(t, one.path, one.name, oncePixels, false)
		default:
			p.consolePicture(t, one.path, one.name+"-phone", 390, false)
			p.consolePicture(t, one.path, one.name+"-wide", 1280, true)
		}
	}
	file := filepath.Join(consolePictures, "pictures.txt")
	if *update {
		if err := os.WriteFile(file, []byte(list.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if was, err := os.ReadFile(file); err != nil || string(was) != list.String() {
		t.Errorf("the pictures in docs/operations/console are of other pages than today's (%v), want the same: "+
			"in sandbox, go test ./browser -update", err)
	}
}

func (p *payer) consolePicture(t *testing.T, path, name string, width int, dark bool) {
	t.Helper()
	p.dark(dark)
	p.do(chromedp.EmulateViewport(int64(width), 900))
	p.consolePage(path)
	take := chromedp.FullScreenshot(100)
	if width == oncePixels { // the beginning of the page says what it is
		take = chromedp.CaptureScreenshot()
	}
	shot := result(p, take)
	if err := os.WriteFile(filepath.Join(consolePictures, name+".png"), shot, 0o644); err != nil {
		t.Fatal(err)
	}
	p.dark(false)
}
