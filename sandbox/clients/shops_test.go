package clients

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/client"
)

// shopPage is the tutorial with a shop in each language.
const shopPage = "docs/first-shop.md"

// shopProgram returns a program of the tutorial.
func shopProgram(t *testing.T, fence string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", shopPage))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```" + fence + "\n(.*?)```").FindSubmatch(text)
	if block == nil {
		t.Fatalf("%s has no shop in %s", shopPage, fence)
	}
	return string(block[1])
}

// playShops has somebody buy in each shop of the tutorial and pay, and looks at the order: a webhook that verifies
// makes it paid, and one that does not changes nothing.
func playShops(t *testing.T, s *sandbox, dist string) {
	t.Helper()
	clients, err := filepath.Abs(own)
	if err != nil {
		t.Fatal(err)
	}
	for fence, start := range map[string]func(folder, listen string) []string{
		"go": func(folder, _ string) []string {
			run(t, filepath.Join("..", ".."), "go", "build", "-o", filepath.Join(folder, "shop"), filepath.Join(folder,
				"shop.go"))
			return []string{filepath.Join(folder, "shop")}
		},
		"typescript": func(_, _ string) []string { return []string{"node", filepath.Join(dist, "shop.js")} },
		"python":     func(folder, _ string) []string { return []string{"python3", filepath.Join(folder, "shop.py")} },
		"php": func(folder, listen string) []string {
			return []string{"php", "-d", "sys_temp_dir=" + folder, "-d", "include_path=" + clients, "-S", listen,
				filepath.Join(folder, "shop.php")}
		},
	} {
		t.Run("the shop in "+fence, func(t *testing.T) {
			t.Parallel()
			folder, listen := t.TempDir(), freeAddress(t)
			name := "shop." + map[string]string{"go": "go", "python": "py", "php": "php", "typescript": "ts"}[fence]
			if err := os.WriteFile(filepath.Join(folder, name), []byte(shopProgram(t, fence)), 0o600); err != nil {
				t.Fatal(err)
			}
			var c customer
			s.control(t, "/account", map[string]any{"name": "shop in " + fence}, &c)
			args := start(folder, listen)
			shop := exec.Command(args[0], args[1:]...)
			shop.Env = append(os.Environ(), "BURSAR_API="+s.API, "BURSAR_API_KEY="+c.APIKey, "LISTEN="+listen,
				"BURSAR_WEBHOOK_SECRET="+c.WebhookSecret, "PYTHONPATH="+filepath.Join(clients, "python"),
				"PYTHONDONTWRITEBYTECODE=1")
			var said strings.Builder
			shop.Stdout, shop.Stderr = &said, &said
			if err := shop.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = shop.Process.Kill() // it serves until then
				_ = shop.Wait()         // it was killed
				if t.Failed() {
					t.Logf("the shop says %s", said.String())
				}
			})
			buys(t, s, c, "http://"+listen)
		})
	}
}

// buys buys, pays, and waits until the shop knows it.
func buys(t *testing.T, s *sandbox, c customer, shop string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	order := func() string { return got(t, ctx, http.MethodGet, shop+"/order?order=1001", nil) }
	page := got(t, ctx, http.MethodPost, shop+"/buy", url.Values{"order": {"1001"}})
	if again := got(t, ctx, http.MethodPost, shop+"/buy", url.Values{"order": {"1001"}}); again != page ||
		!strings.Contains(page, "/pay/") {
		t.Fatalf("the payer is sent to %q and %q, want one page of a charge", page, again)
	}
	if forged := got(t, ctx, http.MethodPost, shop+"/hook", url.Values{"charge": {"paid"}}); forged != "400" {
		t.Errorf("a webhook without a signature is answered %s, want 400", forged)
	}
	if now := order(); strings.TrimSpace(now) != "" {
		t.Errorf("before the payment the order is %q, want nothing known of it", now)
	}
	p, err := newGoPlayer(s.API, c)
	if err != nil {
		t.Fatal(err)
	}
	made, err := p.ChargesOf(client.ChargeFilter{Reference: "1001"})(ctx, client.Page{})
	if err != nil || len(made.Items) != 1 {
		t.Fatalf("there are the charges %+v, %v, want one", made.Items, err)
	}
	pay := map[string]any{"chargeID": made.Items[0].ChargeID, "apiKey": c.APIKey}
	s.control(t, "/test/charge/pay", pay, new(any))
	for now := order(); strings.TrimSpace(now) != "paid"; now = order() {
		pause(t, ctx, "the order is "+now)
	}
}

// pause waits a moment, unless it is too late.
func pause(t *testing.T, ctx context.Context, now string) {
	t.Helper()
	select {
	case <-ctx.Done():
		t.Fatalf("%s, want something else by now", now)
	case <-time.After(10 * time.Millisecond):
	}
}

// got sends a request once the shop listens, and returns where it leads to, its text, or its status where that is an
// error.
func got(t *testing.T, ctx context.Context, method, target string, form url.Values) string {
	t.Helper()
	stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for {
		r, err := http.NewRequestWithContext(ctx, method, target, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer, err := stay.Do(r)
		if err != nil {
			pause(t, ctx, err.Error()) // it does not listen yet
			continue
		}
		text, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		switch {
		case err != nil:
			t.Fatal(err)
		case answer.StatusCode == http.StatusSeeOther:
			return answer.Header.Get("Location")
		case answer.StatusCode >= http.StatusBadRequest:
			return answer.Status[:3]
		}
		return string(text)
	}
}
