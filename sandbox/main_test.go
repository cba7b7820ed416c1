package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"

	"github.com/bursar/bursar/sandbox/chains"
)

// anyPort lets several sandboxes run at the same time.
var anyPort = []string{"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--control", "127.0.0.1:0",
	"--shop", "127.0.0.1:0"}

// begin runs a sandbox and returns its first line of output and a function that ends it.
func begin(t *testing.T, args ...string) (line []byte, end func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	reader, writer := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, append(anyPort, args...), writer, io.Discard)
		writer.CloseWithError(err)
		ended <- err
	}()
	buffered := bufio.NewReader(reader)
	line, err := buffered.ReadBytes('\n')
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, buffered) }()
	return line, func() error {
		cancel()
		select {
		case err := <-ended:
			return err
		case <-time.After(2 * time.Minute):
			return errors.New("the sandbox does not end")
		}
	}
}

func startInfoOf(t *testing.T, line []byte) startInfo {
	t.Helper()
	var f startInfo
	if err := json.Unmarshal(line, &f); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return f
}

func TestTheSameDirectoryIsTheSameSandbox(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	line, end := begin(t, "--json", "--data", dir)
	first := startInfoOf(t, line)
	if first.API == "" || first.Dashboard == "" || first.Control == "" || first.WebhookSecret == "" ||
		len(first.Chains) != len(chains.Available()) || first.Chains["ethereum"].RPC == "" || len(first.Invitations) != 2 {
		t.Errorf("the sandbox prints %s", line)
	}
	answer, err := http.Get(first.API + "/healthz")
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("the API does not answer: %v", err)
	}
	answer.Body.Close()
	if err := run(t.Context(), append(anyPort, "--data", dir), io.Discard, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "another sandbox") {
		t.Errorf("a second sandbox in the same directory: got %v, want a refusal", err)
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	line, end = begin(t, "--json", "--data", dir, "--chains", "bitcoin")
	again := startInfoOf(t, line)
	if again.AccountID != first.AccountID || again.APIKey != first.APIKey || again.APISecret != first.APISecret ||
		again.WebhookSecret != first.WebhookSecret {
		t.Error("the account changed after a restart, want the same")
	}
	console := strings.TrimPrefix(again.Dashboard, "http://127.0.0.1")
	if len(again.Invitations) != 2 || again.Console != "http://localhost"+console+"/console/" ||
		!strings.HasPrefix(again.Invitations[1].Link, again.Console+"invited#") {
		t.Errorf("the console is at %q with the invitations %v, want those of two people who have no passkey yet",
			again.Console, again.Invitations)
	}
	if len(again.Chains) != 1 {
		t.Errorf("chains %v, want 1 of them", again.Chains)
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"account.json", "seed.age", "bursar.yaml"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v, want 0o600", name, info, err)
		}
	}
}

func TestNothingOutlivesASandboxWithoutDirectory(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	_, end := begin(t, "--json")
	if list, err := os.ReadDir(temporary); err != nil || len(list) == 0 {
		t.Errorf("the temporary directory is not where this test looks: %v", err)
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadDir(temporary)
	if err != nil || len(list) != 0 {
		t.Errorf("files are left behind: %v %v, want none", list, err)
	}
}

// TestSuggestions checks that the printed commands can be pasted and name the real addresses and key.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := settings{manual: true, chains: []bursar.ChainID{"bitcoin"}}
	f := startInfo{API: "http://a", Dashboard: "http://d", Control: "http://c", Shop: "http://s", APIKey: "KEY",
		WebhookSecret: "whsec_x", Console: "http://o/console/", Invitations: []invitation{{"Ada", "http://o/i#1"}},
		native: "BTC", webhook: "http://w", Chains: map[bursar.ChainID]chainInfo{"bitcoin": {"http://n"}}}
	if err := describe(&out, s, f); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"http://d", "http://o/console/\n", "Ada         http://o/i#1", "http://s", "http://n",
		"whsec_x", "GET http://c/webhooks",
		"curl -s http://a/api/v1/wallet -H 'X-API-KEY: KEY' -d currency=BTC -d webhook=http://w", "curl -s http://c/pay",
		"http://a/api/v1/account", "http://c/mine"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("%q is missing in:\n%s", part, &out)
		}
	}
}

// TestAPortThatIsTaken checks that the error about any port in use says how to pick a free one.
func TestAPortThatIsTaken(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, flag := range []string{"--listen", "--admin", "--control", "--shop"} {
		err := run(t.Context(), append(anyPort, "--chains", "xrpl", flag, taken.Addr().String()), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), taken.Addr().String()) ||
			!strings.Contains(err.Error(), "port 0 chooses a free port") {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

func TestFlagsThatAreRefused(t *testing.T) {
	t.Parallel()
	for says, args := range map[string][]string{
		"the sandbox has bitcoin, litecoin": {"--chains", "bitcoin,dogecoin"},
		"named twice":                       {"--chains", "bitcoin,bitcoin"},
		"use auto or manual":                {"--blocks", "often"},
		"not a flag":                        {"bitcoin"},
		"use 1 to 8":                        {"--endpoints", "9"},
		"only loopback":                     {"--control", "0.0.0.0:0"},
		"bursar.yaml":                       {"--database", "mysql://x"},
		"provided but not defined":          {"--colour"},
	} {
		if err := run(t.Context(), append(anyPort, args...), io.Discard, io.Discard); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want %q", args, err, says)
		}
	}
	var help bytes.Buffer
	if err := run(t.Context(), []string{"--help"}, io.Discard, &help); !errors.Is(err, flag.ErrHelp) ||
		!strings.Contains(help.String(), "go run ./sandbox") {
		t.Errorf("help: %v\n%s, want %v and %q in it", err, &help, flag.ErrHelp, "go run ./sandbox")
	}
}
