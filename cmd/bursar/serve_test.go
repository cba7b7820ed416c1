package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bursar/bursar/signer/command"
)

// A pause reads the same in both formats: 774540992 would have no unit.
func TestDurationsAreReadableInEitherLog(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		var out strings.Builder
		flags := command.LogFlags{LogFormat: format, LogLevel: "info"}
		flags.Logger(&out).Info("endpoint in cool-down", "pause", 1500*time.Millisecond)
		if !strings.Contains(out.String(), "1.5s") {
			t.Errorf("%s: %s, want %q in it", format, out.String(), "1.5s")
		}
	}
}

func TestServeStartsAndEnds(t *testing.T) {
	t.Parallel()
	for _, end := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(end.String(), func(t *testing.T) {
			t.Parallel()
			d := newSeededHarness(t)
			created := parse[createdAccount](d, "account", "create", "--name", "shop", "--json")
			ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
			defer cancel()
			serving := d.command(ctx, "serve", "--log-format", "json")
			log, err := serving.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := serving.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(log)
			answer := ask(t, listening(t, lines)+"/api/v1/account", created.APIKey)
			if !strings.Contains(answer, created.AccountID.String()) {
				t.Errorf("the account is %s, want %v in it", answer, created.AccountID.String())
			}
			asked := time.Now()
			if err := serving.Process.Signal(end); err != nil {
				t.Fatal(err)
			}
			rest := drain(lines)
			if err := serving.Wait(); err != nil {
				t.Errorf("it ended with %v", err)
			}
			if took := time.Since(asked); took > 30*time.Second {
				t.Errorf("it took %s to end, want at most %v", took, 30*time.Second)
			}
			if !strings.Contains(rest, `"msg":"stopped"`) {
				t.Errorf("the end was logged as %s, want %q in it", rest, `"msg":"stopped"`)
			}
		})
	}
}

// listening reads the log up to the line with the address.
func listening(t *testing.T, lines *bufio.Scanner) string {
	t.Helper()
	for lines.Scan() {
		var line struct{ Msg, Address, Side string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("the log has %s: %v", lines.Text(), err)
		}
		if line.Msg == "listening" {
			return line.Address
		}
	}
	t.Fatal("it never listened")
	return ""
}

func drain(lines *bufio.Scanner) string {
	var rest strings.Builder
	for lines.Scan() {
		rest.WriteString(lines.Text() + "\n")
	}
	return rest.String()
}

func ask(t *testing.T, url, key string) string {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-API-KEY", key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestServeReportsWhyItCannotStart(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	d.env = append(d.env, "BURSAR_LISTEN=192.0.2.1:1") // an address that no machine has (RFC 5737)
	d.fails(exitFailed, "listen on 192.0.2.1:1", "serve")
}

func TestServeStopsWaitingAfterATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		asked := time.Now()
		err := waitFor(ctx, make(chan error), slog.New(slog.DiscardHandler))
		if took := time.Since(asked); err == nil || took >= 30*time.Second {
			t.Errorf("it gave up with %v after %s, want an error and less than %v", err, took, 30*time.Second)
		}
	})
}
