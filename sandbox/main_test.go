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

// anyPort makes several sandboxes run beside each other.
var anyPort = []string{"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--control", "127.0.0.1:0"}

// begin runs a sandbox and returns its first line and how to end it.
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
		case <-time.After(30 * time.Second):
			return errors.New("it does not end")
		}
	}
}

func factsOf(t *testing.T, line []byte) facts {
	t.Helper()
	var f facts
	if err := json.Unmarshal(line, &f); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return f
}

func TestTheSameDirectoryIsTheSameSandbox(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	line, end := begin(t, "--json", "--data", dir)
	first := factsOf(t, line)
	if first.API == "" || first.Dashboard == "" || first.Control == "" || first.WebhookSecret == "" ||
		len(first.Chains) != len(chains.Available()) || first.Chains["ethereum"].RPC == "" {
		t.Errorf("says %s", line)
	}
	answer, err := http.Get(first.API + "/healthz")
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("the API is not there: %v", err)
	}
	answer.Body.Close()
	if err := run(t.Context(), append(anyPort, "--data", dir), io.Discard, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "another sandbox") {
		t.Errorf("two sandboxes share a directory: %v", err)
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	line, end = begin(t, "--json", "--data", dir, "--chains", "bitcoin")
	again := factsOf(t, line)
	if again.AccountID != first.AccountID || again.APIKey != first.APIKey || again.APISecret != first.APISecret ||
		again.WebhookSecret != first.WebhookSecret {
		t.Error("the account is another one")
	}
	if len(again.Chains) != 1 {
		t.Errorf("chains %v", again.Chains)
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"account.json", "seed.age", "bursar.yaml"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
}

func TestNothingOutlivesASandboxWithoutDirectory(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	_, end := begin(t, "--json")
	if list, err := os.ReadDir(temporary); err != nil || len(list) == 0 {
		t.Errorf("it is elsewhere: %v", err)
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadDir(temporary)
	if err != nil || len(list) != 0 {
		t.Errorf("left behind: %v %v", list, err)
	}
}

// What a person is told can be pasted, and names the real addresses and key.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := settings{manual: true, chains: []bursar.ChainID{"bitcoin"}}
	f := facts{API: "http://a", Dashboard: "http://d", Control: "http://c", APIKey: "KEY", WebhookSecret: "whsec_x",
		native: "BTC", webhook: "http://w", Chains: map[bursar.ChainID]chainFacts{"bitcoin": {"http://n"}}}
	if err := describe(&out, s, f); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"http://d", "http://n", "whsec_x", "GET http://c/webhooks",
		"curl -s http://a/api/v1/wallet -H 'X-API-KEY: KEY' -d currency=BTC -d webhook=http://w", "curl -s http://c/pay",
		"http://a/api/v1/account", "http://c/mine"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("%q is missing in:\n%s", part, &out)
		}
	}
}

// Whichever port is taken, it is said how to take another.
func TestAPortThatIsTaken(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, flag := range []string{"--listen", "--admin", "--control"} {
		err := run(t.Context(), append(anyPort, "--chains", "xrpl", flag, taken.Addr().String()), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), taken.Addr().String()) ||
			!strings.Contains(err.Error(), "port 0 picks a free one") {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

func TestFlagsThatAreRefused(t *testing.T) {
	t.Parallel()
	for says, args := range map[string][]string{
		"the sandbox has bitcoin, litecoin": {"--chains", "bitcoin,dogecoin"},
		"named twice":                       {"--chains", "bitcoin,bitcoin"},
		"auto or manual":                    {"--blocks", "often"},
		"not a flag":                        {"bitcoin"},
		"1 to 8":                            {"--endpoints", "9"},
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
		t.Errorf("help: %v\n%s", err, &help)
	}
}
