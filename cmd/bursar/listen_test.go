package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bursar/bursar/client"
)

const listenSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// TestListenForwardsWhatTheServiceRecorded forwards a test event of a real service to a receiver, which verifies it as
// a customer's does.
func TestListenForwardsWhatTheServiceRecorded(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	shop := parse[createdAccount](d, "account", "create", "--name", "shop", "--json")
	base := d.serving()
	got := make(chan client.Event, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		event, err := client.VerifyWebhook(listenSecret, r.Header, body, time.Now())
		if err != nil {
			t.Errorf("%v: %s, want a webhook that verifies", err, body)
		}
		w.WriteHeader(http.StatusAccepted)
		got <- event
	}))
	defer receiver.Close()
	d.answer("POST", base+"/api/v1/account/webhooks/test?webhook=https://shop.example/hook", shop, "203.0.113.1", 200,
		"test")
	d.env = append(d.env, "BURSAR_API_KEY="+shop.APIKey, "BURSAR_WEBHOOK_SECRET="+listenSecret)
	d.callsTheAPI(base)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	process := d.command(ctx, "listen", "--api", base, "--since", "1h", "--forward-to", receiver.URL, "--event",
		"test")
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.Contains(lines.Text(), "202 Accepted") {
		t.Errorf("listen prints %q, want the event with 202 Accepted", lines.Text())
	}
	if event := <-got; event.Event != client.EventTest || !strings.Contains(lines.Text(), event.EventID) {
		t.Errorf("forwarded is %+v, want the test event of the line %q", event, lines.Text())
	}
	if err := process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		t.Errorf("listen prints %q as well, want one line", lines.Text())
	}
	if err := process.Wait(); err != nil {
		t.Errorf("listen ends with %v, want success", err)
	}
}

func TestListenSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	for want, args := range map[string][]string{
		"BURSAR_API_KEY": {"listen"},
		"--forward-to":   {"listen", "--forward-to", "ftp://x"},
		"BaseURL":        {"listen", "--api", "x"},
		"--since must":   {"listen", "--since=-1h"},
	} {
		if want != "BURSAR_API_KEY" {
			d.env = append(d.env, "BURSAR_API_KEY=bk_x")
		}
		o := d.run("", args...)
		if o.code != 2 || !strings.Contains(o.err, want) {
			t.Errorf("%v: %d %q, want 2 with %s", args, o.code, o.err, want)
		}
		d.env = d.env[:1]
	}
}

// The secret is the one in the environment, or else follows from the key: the same in every run, another for another
// key, and without a word of the key.
func TestListenPrintsItsSecret(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.fails(exitUsage, "BURSAR_API_KEY", "listen", "--print-secret")
	plain := d.env
	var printed []string
	for _, key := range []string{"bk_one", "bk_one", "bk_two"} {
		d.env = append(slices.Clone(plain), "BURSAR_API_KEY="+key)
		secret := strings.TrimSpace(d.ok("listen", "--print-secret"))
		raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || len(raw) != 32 || strings.Contains(string(raw), key) {
			t.Errorf("the secret of %s is %q, %v, want whsec_ and 32 bytes without it", key, secret, err)
		}
		printed = append(printed, secret)
	}
	if printed[0] != printed[1] || printed[0] == printed[2] {
		t.Errorf("the secrets are %q, want one for each key", printed)
	}
	d.env = append(slices.Clone(plain), "BURSAR_API_KEY=bk_one", "BURSAR_WEBHOOK_SECRET="+listenSecret)
	if got := d.ok("listen", "--print-secret"); got != listenSecret+"\n" {
		t.Errorf("it prints %q, want the secret of the environment", got)
	}
	d.env = append(slices.Clone(plain), "BURSAR_API_KEY=bk_one", "BURSAR_WEBHOOK_SECRET=secret")
	d.fails(exitUsage, "is not whsec_ and base64", "listen", "--print-secret")
}

// callsTheAPI sends a request that succeeds and one that is refused.
func (d *harness) callsTheAPI(base string) {
	d.Helper()
	if got := d.ok("api", "--api", base, "get", "account/events", "limit=1"); !strings.Contains(got, `"event": "test"`) {
		d.Errorf("api prints %s, want the test event", got)
	}
	o := d.run("", "api", "--api", base, "POST", "wallet", "currency=XYZ", "webhook=https://shop.example/hook")
	if o.code != 1 || !strings.Contains(o.out, "unsupported_currency") || !strings.Contains(o.err, "400 Bad Request") {
		d.Errorf("a refused request: %d %s %s, want 1 with unsupported_currency and 400", o.code, o.out, o.err)
	}
}
