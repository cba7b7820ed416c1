package clients

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/sandbox/loopback"
)

// playExamples runs the example of each client as its first lines say: it makes a wallet, the sandbox pays it, and the
// example says what was paid.
func playExamples(t *testing.T, s *sandbox, dist string) {
	t.Helper()
	var hook struct{ URL string }
	s.control(t, "/webhooks/url", nil, &hook)
	for language, command := range map[string][]string{
		"Go":         {"go", "run", "../../examples/wallet-go"},
		"TypeScript": {"node", filepath.Join(dist, "example.js")},
		"Python":     {"python3", filepath.Join(own, "python", "example.py")},
		"PHP":        {"php", filepath.Join(own, "php", "example.php")},
	} {
		t.Run("the example of "+language, func(t *testing.T) {
			t.Parallel()
			var c customer
			s.control(t, "/account", map[string]any{"name": "example of " + language}, &c)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			example := exec.CommandContext(ctx, command[0], append(command[1:], "BTC", hook.URL)...)
			example.Env = append(os.Environ(), "BURSAR_API="+s.API, "BURSAR_API_KEY="+c.APIKey, "PYTHONDONTWRITEBYTECODE=1")
			example.Stderr = os.Stderr
			out, err := example.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := example.Start(); err != nil {
				t.Fatal(err)
			}
			text := bufio.NewReader(out)
			first, err := text.ReadString('\n')
			address, found := strings.CutPrefix(strings.TrimSpace(first), "pay to ")
			if !found {
				t.Fatalf("the example prints %q, %v, want where to pay", first, err)
			}
			s.control(t, "/pay", map[string]any{"currency": "BTC", "address": address, "amount": "0.5"}, new(any))
			rest, err := io.ReadAll(text)
			if want := "paid 0.50000000\nbalance 0.50000000\n"; err != nil || string(rest) != want {
				t.Errorf("the example prints %q, %v, want %q", rest, err, want)
			}
			if err := example.Wait(); err != nil {
				t.Errorf("the example ends with %v, want success", err)
			}
		})
	}
}

// receiverSecret is that of webhooks to the receivers.
const receiverSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// takesWebhooks has the receiver of each language take a webhook as the service sends it, and refuse one that was
// changed on its way.
func takesWebhooks(t *testing.T, dist string) {
	t.Helper()
	receiver := filepath.Join(t.TempDir(), "receiver-go")
	run(t, filepath.Join("..", ".."), "go", "build", "-o", receiver, "./examples/receiver-go")
	for language, command := range map[string][]string{
		"TypeScript": {"node", filepath.Join(dist, "receiver.js")},
		"Python":     {"python3", filepath.Join(own, "python", "receiver.py")},
		"PHP":        {"php", "-S", "LISTEN", filepath.Join(own, "php", "receiver.php")},
		"Go":         {receiver},
		"JavaScript": {"node", filepath.Join(theReceiver(t), "server.mjs")},
	} {
		t.Run("the receiver of "+language, func(t *testing.T) {
			t.Parallel()
			listen := freeAddress(t)
			for i, word := range command {
				if word == "LISTEN" {
					command[i] = listen
				}
			}
			receiver := exec.CommandContext(t.Context(), command[0], command[1:]...)
			receiver.Env = append(os.Environ(), "BURSAR_WEBHOOK_SECRET="+receiverSecret, "LISTEN="+listen,
				"PYTHONDONTWRITEBYTECODE=1", "BURSAR_TAKEN="+filepath.Join(t.TempDir(), "taken"))
			if err := receiver.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = receiver.Process.Kill() // it may have ended already
				_ = receiver.Wait()         // it was killed
			})
			const body = `{"success":true,"response":{"webhook":{"eventID":"01991f2e-6c00-7a3b-8c1d-0123456789ab",` +
				`"accountID":"01991f2e-6c00-7a3b-8c1d-0123456789ac","type":"wallet","event":"deposit",` +
				`"createdAt":"2026-01-02T03:04:05Z","deposit":{"amount":"0.5"}}}}`
			if got := sent(t, listen, body, body); got != http.StatusNoContent {
				t.Errorf("a webhook is answered %d, want 204", got)
			}
			if got := sent(t, listen, body, strings.Replace(body, "0.5", "5.0", 1)); got != http.StatusBadRequest {
				t.Errorf("a webhook that was changed is answered %d, want 400", got)
			}
		})
	}
}

// theReceiver returns a folder with examples/receiver-js and its package, whose tests pass there.
func theReceiver(t *testing.T) string {
	t.Helper()
	const source = "../../examples/receiver-js"
	locked, err := os.ReadFile(filepath.Join(source, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	libraries := installed(t, "BURSAR_RECEIVER", "receiver")
	if found, err := os.ReadFile(filepath.Join(libraries, "package-lock.json")); !bytes.Equal(found, locked) {
		t.Fatalf("%s has no package of the receiver, or another, %v; run go run ./test -install receiver", libraries, err)
	}
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(libraries, "node_modules"), filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	run(t, folder, "npm", "test")
	return folder
}

// freeAddress is one on which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := loopback.Free()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// sent sends a body with the signature of another one, once the receiver listens, and returns the answer.
func sent(t *testing.T, listen, signed, body string) int {
	t.Helper()
	const id = "01991f2e-6c00-7a3b-8c1d-0123456789ab"
	at := time.Now()
	secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(receiverSecret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, secret) // as the specification of Standard Webhooks says
	fmt.Fprintf(mac, "%s.%d.%s", id, at.Unix(), signed)
	signature := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+listen+"/hooks/bursar", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("webhook-id", id)
		r.Header.Set("webhook-timestamp", fmt.Sprint(at.Unix()))
		r.Header.Set("webhook-signature", signature)
		answer, err := httpClient.Do(r)
		if err == nil {
			answer.Body.Close()
			return answer.StatusCode
		}
		if ctx.Err() != nil {
			t.Fatalf("the receiver does not listen: %v", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond): // it is starting
		}
	}
}
