package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
	"github.com/bursar/bursar/chain/solana"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer/command"
	"github.com/bursar/bursar/signer/host"
)

// start runs a command until the test ends, and returns its log.
func (d *harness) start(args ...string) (lines *bufio.Scanner) {
	d.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	process := d.command(ctx, append(args, "--log-format", "json")...)
	log, err := process.StderrPipe()
	if err != nil {
		d.Fatal(err)
	}
	if err := process.Start(); err != nil {
		d.Fatal(err)
	}
	d.pid = process.Process.Pid
	lines = bufio.NewScanner(log)
	d.Cleanup(func() {
		defer cancel()
		if err := process.Process.Signal(syscall.SIGTERM); err != nil {
			d.Error(err)
		}
		drain(lines)
		if err := process.Wait(); err != nil {
			d.Errorf("bursar %s ended with %v", args, err)
		}
	})
	return lines
}

// says reads a log up to a message.
func (d *harness) says(lines *bufio.Scanner, message string) {
	d.Helper()
	for lines.Scan() {
		var line struct{ Msg string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			d.Fatalf("the log has %s: %v", lines.Text(), err)
		}
		if line.Msg == message {
			return
		}
	}
	d.Fatalf("it never said %q", message)
}

// TestTheServiceRunsWithARemoteSigner runs the service without seed and passphrase beside the process that has them.
func TestTheServiceRunsWithARemoteSigner(t *testing.T) {
	t.Parallel()
	folder, err := os.MkdirTemp("", "bursar") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	lines := []string{"signer: {address: 'unix:" + filepath.Join(folder, "s") + "'}",
		"chains: {solana: {rpc: http://127.0.0.1:1}, bitcoin: {rpc: http://127.0.0.1:1}}"}
	vault, front := newSeededHarness(t, lines...), newHarness(t, lines...)
	front.env = nil // no passphrase
	front.fails(exitFailed, "the signer does not answer", "account", "create", "--name", "shop")
	if o := front.run("", "doctor"); o.code != exitFailed || !strings.Contains(o.out, "run `bursar signer` at unix:") {
		t.Errorf("the doctor says %+v, want %v and %q in it", o, exitFailed, "run `bursar signer` at unix:")
	}
	log := front.start("serve")
	front.says(log, "waiting for remote signer")
	vault.says(vault.start("signer"), "signer listening")
	api := listening(t, log)

	shop := parse[createdAccount](front, "account", "create", "--name", "shop", "--json")
	cfg, err := config.Load(filepath.Join(vault.dir, "bursar.yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	seed, err := host.OpenKeys(cfg, (&command.Call{Environ: vault.env}).Getenv)
	if err != nil {
		t.Fatal(err)
	}
	first, err := seed.Public(chain.KeyRef{Family: chain.FamilySolana, Branch: chain.DepositBranch})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := solana.New(solana.Private(), rpc.Config{URLs: []string{"http://127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	address, err := rules.Address(first, 0)
	if err != nil {
		t.Fatal(err)
	}
	for currency, want := range map[string]string{"SOL": address.Base, "BTC": "bcrt1"} {
		body := create(t, api+"/api/v1/wallet?webhook=https://receiver.example&currency="+currency, shop.APIKey)
		var made struct {
			Response struct{ Wallet struct{ Address string } }
		}
		if err := json.Unmarshal([]byte(body), &made); err != nil || want == "" ||
			!strings.HasPrefix(made.Response.Wallet.Address, want) {
			t.Errorf("the first %s wallet is %s (%v), want %s", currency, body, err, want)
		}
	}
}

func create(t *testing.T, url, key string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-API-KEY", key)
	response, err := http.DefaultClient.Do(r)
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
