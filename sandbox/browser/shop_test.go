package browser

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/bursar/bursar/pay/paytest"
)

// Chromium plays a customer of the demo shop of a real sandbox, with scripts and without: buys something, reads the
// payer's page, has the sandbox pay by the shop's button, and sees in the shop that it is paid.
func TestACustomerInABrowser(t *testing.T) {
	t.Parallel()
	p := launch(t, paytest.New(time.Now))
	api := p.sandbox(t)
	p.open(p.program, observe)
	p.buysWithScripts()
	p.buysWithoutScripts()
	p.mu.Lock()
	defer p.mu.Unlock()
	elsewhere := slices.DeleteFunc(p.otherHosts, func(url string) bool { return strings.HasPrefix(url, api+"/") })
	if len(elsewhere) > 0 {
		t.Errorf("the browser asked %v, want the shop at %s and the payer's page at %s alone", elsewhere, p.url, api)
	}
}

// sandbox runs one until the test ends, whose shop is what the browser visits, and returns where its API is.
func (p *payer) sandbox(t *testing.T) (api string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "sandbox")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-w", "-o", program, "..").
		CombinedOutput(); err != nil {
		t.Fatalf("build the sandbox: %v\n%s", err, out)
	}
	const free = "127.0.0.1:0"
	command := exec.CommandContext(t.Context(), program, "--json", "--chains", "xrpl,solana", "--listen", free,
		"--admin", free, "--control", free, "--shop", free, "--data", t.TempDir())
	command.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "BURSAR_") })
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	command.Stderr = &log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill() // it may have ended already
		_ = command.Wait()         // it was killed
		if t.Failed() {
			t.Logf("the sandbox's log ends with\n%s", log.String()[max(0, log.Len()-4000):])
		}
	})
	line, err := bufio.NewReader(output).ReadBytes('\n')
	if err != nil {
		t.Fatalf("the sandbox does not start: %v", err)
	}
	var said struct{ API, Shop string }
	if err := json.Unmarshal(line, &said); err != nil || said.Shop == "" {
		t.Fatalf("the sandbox prints %q: %v, want where its shop is", line, err)
	}
	p.url = said.Shop
	return said.API
}

// buysWithScripts buys in a browser that runs the payer's page's module.
func (p *payer) buysWithScripts() {
	p.Helper()
	p.goesThrough(true)
}

// buysWithoutScripts goes the same way.
func (p *payer) buysWithoutScripts() {
	p.Helper()
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	defer call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{})
	p.goesThrough(false)
}

// goesThrough buys, looks at the payer's page, pays, and comes back from the page to the shop.
func (p *payer) goesThrough(scripts bool) {
	p.Helper()
	order := p.buys()
	p.do(chromedp.Click(chromedp.CSS("a.button")))
	p.choosesXRP()
	if none := eval[bool](p, "document.querySelector('noscript meta') !== null"); none == scripts {
		p.Errorf("the payer's page takes scripts to be off: %t, want %t", none, !scripts)
	}
	p.do(chromedp.Navigate(order))
	p.paysByTheButton()
	p.do(chromedp.Click(chromedp.CSS("a.button")))
	p.until("paid")
	p.allowed("the page of the paid charge")
	p.returns(order)
}

// buys orders a mug, and returns where the order is.
func (p *payer) buys() (order string) {
	p.Helper()
	p.do(chromedp.Navigate(p.url), chromedp.WaitReady(chromedp.CSS(".shelf")))
	p.allowed("the shop")
	p.do(chromedp.Click(chromedp.CSS(".shelf li:first-child button:not(.quiet)")),
		chromedp.WaitReady(chromedp.CSS("form.payer")))
	p.allowed("the order")
	p.showsInMain("Mug with a fish", "Waits for your payment.")
	return result(p, chromedp.Location())
}

// choosesXRP chooses the currency on the payer's page, which then shows what it takes to pay.
func (p *payer) choosesXRP() {
	p.Helper()
	p.until("choose")
	p.showsInMain("Mug with a fish", "12.5")
	p.do(chromedp.Click(chromedp.CSS(`form:has(input[value="XRP"]) button.option, a.option[href*="currency=XRP"]`)))
	p.until("waiting")
	p.showsInMain("XRP", "Time left")
}

// paysByTheButton has the sandbox pay the order that is open, and waits until the shop says that it is paid.
func (p *payer) paysByTheButton() {
	p.Helper()
	p.do(chromedp.SetValue(chromedp.CSS("select[name=currency]"), "XRP"),
		chromedp.Click(chromedp.CSS(`input[value="exact"]`)), chromedp.Click(chromedp.CSS("form.payer button")),
		chromedp.WaitReady(chromedp.CSS("p.status[data-status=paid]")))
	p.showsInMain("Mug with a fish", "€12.50", "Paid. It is on its way.")
}

// returns goes back from the payer's page to the shop.
func (p *payer) returns(order string) {
	p.Helper()
	p.do(chromedp.Click(chromedp.CSS("a.back")), chromedp.WaitReady(chromedp.CSS("p.status")))
	if at := result(p, chromedp.Location()); at != order {
		p.Errorf("the payer's page leads back to %s, want the order at %s", at, order)
	}
	p.showsInMain("Paid. It is on its way.")
}

// showsInMain looks for texts in the page that is open.
func (p *payer) showsInMain(wanted ...string) {
	p.Helper()
	text := eval[string](p, "document.querySelector('main').innerText") // at once: the page replaces what it holds
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			p.Errorf("%s says\n%s\nwant %q in it", p.where(), text, want)
		}
	}
}

// allowed says what the policy of the open page forbade.
func (p *payer) allowed(what string) {
	p.Helper()
	if forbidden := eval[[]string](p, "window.forbidden ?? []"); len(forbidden) > 0 {
		p.Errorf("%s: the policy forbids %v, want nothing", what, forbidden)
	}
}
