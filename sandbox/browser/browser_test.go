package browser

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/pay/paytest"
)

// Chromium plays payers through every state, with scripts and without. One browser plays all, since it takes longer to
// start than to show a page.
func TestPayersInABrowser(t *testing.T) {
	t.Parallel()
	p := newPayer(t)
	p.everyState()
	p.paysWithScripts()
	p.paysWithoutScripts()
	p.fitsASmallScreen()
	p.codesAreRead(t)
	p.pictures(t)
	p.reads(t)
	p.acts(t)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.otherHosts) > 0 {
		t.Errorf("the browser asked %v, want no other host", p.otherHosts)
	}
}

// everyState has axe-core 4.14.1 examine every state, in light and in dark colours, and the browser's policy find
// nothing to forbid.
func (p *payer) everyState() {
	p.Helper()
	for _, name := range p.Names() {
		p.visit(name, "")
		if forbidden := eval[[]string](p, "forbidden"); len(forbidden) > 0 {
			p.Errorf("%s: the policy forbids %v, want nothing", name, forbidden)
		}
		p.examine(name)
	}
	p.dark(true)
	for _, name := range []string{"choose", "waiting-xrp", "confirming", "over"} {
		p.visit(name, "?lang=ar")
		p.examine(name + " in the dark, in Arabic")
	}
	p.dark(false)
	p.do(chromedp.Navigate(p.url + "/pay/unknown"))
	p.examine("an unknown charge")
	p.do(chromedp.Navigate(p.url + "/pay/link/" + paytest.LinkToken.String()))
	p.examine("a payment link")
}

func (p *payer) dark(on bool) {
	p.Helper()
	scheme := "light"
	if on {
		scheme = "dark"
	}
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
}

// standard are the rules of WCAG 2.2 AA, and what axe-core counts as good practice beside them.
const standard = `axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})
.then((r) => JSON.stringify(r.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.html).join(' | '))))`

func (p *payer) examine(what string) {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](p.axe + ";0"))
	found := result(p, chromedp.Evaluate[string](standard, chromedp.EvalAwaitPromise))
	var violations []string
	if err := json.Unmarshal([]byte(found), &violations); err != nil {
		p.Fatal(err)
	}
	for _, v := range violations {
		p.Errorf("%s: axe-core finds %s, want nothing", what, v)
	}
}

// paysWithScripts chooses a currency, and sees the payment come and be credited while the page stays.
func (p *payer) paysWithScripts() {
	p.Helper()
	p.visit("choose", "")
	p.do(chromedp.Click(chromedp.CSS("button.option")))
	p.until("waiting")
	if clock := eval[string](p, "document.querySelector('.clock').textContent"); clock != "15:00" {
		p.Errorf("the clock shows %q, want 15:00", clock)
	}
	p.do(chromedp.Evaluate[chromedp.Void]("window.kept = true; document.getElementById('copy-address').focus()"))
	token := p.Token("choose")
	p.comes(bursar.DepositPending)
	p.looks <- struct{}{}
	p.until("confirming")
	if said := eval[string](p, "document.getElementById('spoken').textContent"); said != "Your payment was found" {
		p.Errorf("a screen reader is told %q, want that the payment was found", said)
	}
	p.comes(bursar.DepositConfirmed)
	p.looks <- struct{}{}
	p.until("paid")
	if !eval[bool](p, "window.kept === true") || token != p.Token("choose") {
		p.Error("the page was loaded again, want that it changed by itself")
	}
	if forbidden := eval[[]string](p, "forbidden"); len(forbidden) > 0 {
		p.Errorf("while the page changed the policy forbade %v, want nothing", forbidden)
	}
}

// comes has a charge's payment come, as that of another charge has come.
func (p *payer) comes(status bursar.DepositStatus) {
	var payment bursar.Payment
	p.Change("confirming", func(d *charge.Shown, _ map[bursar.ChainID]uint64) { payment = d.Payments[0] })
	payment.Deposit.Status = status
	p.Change("choose", func(d *charge.Shown, _ map[bursar.ChainID]uint64) { d.Payments = []bursar.Payment{payment} })
}

// paysWithoutScripts chooses a currency, and finds everything that it takes to pay.
func (p *payer) paysWithoutScripts() {
	p.Helper()
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	defer call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{})
	p.visit("rate_ended", "")
	if got := p.shows(); got != "rate_ended" {
		p.Fatalf("the page shows %s, want rate_ended", got)
	}
	p.do(chromedp.Click(chromedp.CSS("button.main")))
	p.until("waiting")
	text := result(p, chromedp.Text(chromedp.CSS("main")))
	refresh := result(p, chromedp.AttributeValue(chromedp.CSS("noscript meta"), "content")).Value
	for _, want := range []string{"0.00059704", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "15 minutes left"} {
		if !strings.Contains(text, want) {
			p.Errorf("without scripts the page says\n%s\nwant %q in it", text, want)
		}
	}
	if strings.Contains(text, "Copy") || refresh != "20" {
		p.Errorf("without scripts there is a button that does nothing, or no refresh (%q), want 20 and none", refresh)
	}
}

// longer makes every text half as long again, as some languages are.
const longer = `(() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n; (n = walk.nextNode()); )
    if (n.data.trim() && !n.parentElement.closest('.code, svg')) n.data += ' ' + '⟦ẽxţŕå⟧ '.repeat(n.data.length / 16);
  return document.documentElement.scrollWidth;
})()`

// fitsASmallScreen looks for what is wider than a screen of 320 pixels.
func (p *payer) fitsASmallScreen() {
	p.Helper()
	p.do(chromedp.EmulateViewport(320, 640))
	for _, lang := range []string{"en", "de", "fr", "es", "pt-BR", "it", "nl", "pl", "tr", "uk", "ru", "ar", "zh-Hans",
		"ja",
		"ko"} {
		p.visit("waiting-xrp", "?lang="+lang)
		if wide := eval[int](p, "document.documentElement.scrollWidth"); wide > 320 {
			p.Errorf("in %s the page is %d pixels wide, want 320 at most", lang, wide)
		}
	}
	for _, name := range []string{"no_rate", "waiting-usdc-matic", "partial", "over"} {
		p.visit(name, "")
		if wide := eval[int](p, longer); wide > 320 {
			p.Errorf("with longer texts %s is %d pixels wide, want 320 at most", name, wide)
		}
	}
	p.do(chromedp.EmulateViewport(390, 844))
}
