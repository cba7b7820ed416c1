package browser

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/bursar/bursar/pay"
	"github.com/bursar/bursar/pay/paytest"
	"github.com/bursar/bursar/sandbox/clients"
)

// started is when every page is drawn: pictures of it do not age.
var started = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// patience is for one step of a browser on a busy machine. There is none for all steps together: the last ones would
// fail for what those before them took.
const patience = 3 * time.Minute

// payer is a browser on the pages of charges in memory. One browser plays all.
type payer struct {
	testing.TB
	*paytest.Book
	url   string
	looks chan struct{} // each lets the pages look for changes
	tab   context.Context
	axe   string

	program string // the browser

	mu         sync.Mutex
	otherHosts []string // requests to other hosts
}

func newPayer(t *testing.T) *payer {
	t.Helper()
	p := launch(t, paytest.New(func() time.Time { return started }))
	p.serve()
	p.open(p.program, observe+stopsTheClock)
	return p
}

// launch finds what a payer needs; open starts the browser.
func launch(t *testing.T, book *paytest.Book) *payer {
	t.Helper()
	if testing.Short() {
		t.Skip("needs Chromium, zbarimg and the client libraries")
	}
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("Chromium is missing: run go run ./test -install chromium: %v", err)
	}
	folder, err := clients.Folder()
	if err != nil {
		t.Fatal(err)
	}
	axe, err := os.ReadFile(filepath.Join(folder, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return &payer{TB: t, Book: book, looks: make(chan struct{}), axe: string(axe), program: program}
}

func (p *payer) serve() {
	p.Helper()
	c := p.Config()
	c.Sleep = func(ctx context.Context, _ time.Duration) bool {
		select {
		case <-ctx.Done():
			return false
		case <-p.looks:
			return true
		}
	}
	handler, err := pay.New(c)
	if err != nil {
		p.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.Serve(w, r, netip.MustParsePrefix("127.0.0.1/32"))
	}))
	p.Cleanup(func() { handler.Close(); server.Close() })
	p.url = server.URL
}

// observe runs before a page's own script: it notes what the page's policy forbids.
const observe = `window.forbidden = [];
addEventListener('securitypolicyviolation', (e) => forbidden.push(e.violatedDirective + ' ' + e.blockedURI));
`

// stopsTheClock is for pages whose charges are in memory.
const stopsTheClock = `Date.now = () => 1795521600000;`

// open starts the browser, in whose pages a script runs before their own.
func (p *payer) open(program, script string) {
	p.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.UserDataDir(p.TempDir()), chromedp.Flag("force-color-profile", "srgb"))
	ctx, cancel := chromedp.NewExecAllocator(p.Context(), options...)
	p.Cleanup(cancel)
	p.tab, cancel = chromedp.NewContext(ctx)
	p.Cleanup(cancel)
	err := chromedp.Listen(p.tab, func(event any) {
		sent, is := event.(*network.EventRequestWillBeSent)
		if is && !strings.HasPrefix(sent.Request.URL, p.url+"/") && !strings.HasPrefix(sent.Request.URL, "data:") {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.otherHosts = append(p.otherHosts, sent.Request.URL)
		}
	})
	if err != nil {
		p.Fatal(err)
	}
	if err := chromedp.Do(p.tab); err != nil { // starts the browser, which ends with its tab alone
		p.Fatal(err)
	}
	call(p, network.Enable, network.EnableParams{})
	call(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
	p.do(chromedp.EmulateViewport(390, 844))
}

// call sends the browser a command of its protocol.
func call[P, R any](p *payer, command cdp.Command[P, R], params P) {
	p.Helper()
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	}))
}

// result returns what an action finds.
func result[T any](p *payer, action chromedp.Action[T]) T {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.tab, patience)
	defer cancel()
	found, err := chromedp.Run(ctx, action)
	if err != nil {
		p.Fatalf("%v, at %s", err, p.where())
	}
	return found
}

// where says which page is open, and what it says of a passkey, for a step that failed.
func (p *payer) where() string {
	const place = `location.href + ' ' + (document.querySelector('main')?.dataset.state ?? '') + ' ' +
		(document.querySelector('[data-said]')?.textContent ?? '')`
	ctx, cancel := context.WithTimeout(p.tab, time.Minute)
	defer cancel()
	said, err := chromedp.Run(ctx, chromedp.Evaluate[string](place))
	if err != nil {
		return "a page that does not say: " + err.Error()
	}
	return said
}

// do lets the browser do something.
func (p *payer) do(actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	result(p, chromedp.Steps(actions...))
}

// visit opens a charge's page.
func (p *payer) visit(name, query string) {
	p.Helper()
	p.do(chromedp.Navigate(p.url+"/pay/"+p.Token(name).String()+query), chromedp.WaitReady(chromedp.CSS("main")))
}

// shows returns the state that the page shows.
func (p *payer) shows() string {
	p.Helper()
	return result(p, chromedp.AttributeValue(chromedp.CSS("main"), "data-state")).Value
}

// until waits for a state, which changes without that the page is loaded again.
func (p *payer) until(state string) {
	p.Helper()
	p.do(chromedp.WaitReady(chromedp.CSS(`main[data-state="` + state + `"]`)))
}

// eval evaluates an expression.
func eval[T any](p *payer, expression string) T {
	p.Helper()
	return result(p, chromedp.Evaluate[T](expression))
}
