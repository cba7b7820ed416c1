package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/remote"
)

// lyingService is a service in the hands of an intruder: it has everything that a service has, and talks to a real
// signer process of mainnet over its real protocol. It has no seed.
type lyingService struct {
	*harness
	t *testing.T

	process *exec.Cmd
	ended   chan error
	client  *remote.Client
	keys    *signer.WatchOnly
	chains  map[bursar.ChainID]chain.Chain
	policy  roster.Policy // that approves installed
}

// limits is the signer's configuration. Litecoin has no limit, so nothing of it leaves.
const limits = `network: mainnet
signer: {address: "unix:s", lock_memory: preferred}
chains:
  bitcoin:
    rpc: "http://127.0.0.1:1"
    max_fee: "0.001"
    hourly_fees: "0.01"
    daily_fees: "0.03"
    cold: {vault: {kind: address, addresses: [bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4]}}
  litecoin: {rpc: "http://127.0.0.1:1"}
  polygon:
    rpc: "http://127.0.0.1:1"
    max_fee: "1"
    hourly_fees: "20"
    hourly_sweeps: 30
    hourly_to_cold: 6
    cold: {safe: {kind: safe, addresses: ["0x5B38Da6a701c568545dCfcB03FcB875f56beddC4"]}}
  tron: {rpc: "http://127.0.0.1:1", max_fee: "100"}
  solana: {rpc: "http://127.0.0.1:1", max_fee: "0.01"}
  xrpl: {rpc: "http://127.0.0.1:1", max_fee: "1"}
currencies:
  BTC: {hourly_limit: "1", daily_limit: "2", weekly_limit: "3"}
  MATIC: {hourly_limit: "100"}
  USDT-MATIC: {hourly_limit: "1000"}
  TRX: {hourly_limit: "1000"}
  USDT: {hourly_limit: "1000"}
  SOL: {hourly_limit: "10"}
  XRP: {hourly_limit: "100"}
`

// newLyingService starts a signer with a new seed.
func newLyingService(t *testing.T) *lyingService {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts signer processes, each of which opens the seed")
	}
	c := &lyingService{harness: newHarness(t), t: t, chains: map[bursar.ChainID]chain.Chain{}}
	c.write("bursar.yaml", limits)
	if _, says, code := c.run("seed", "new"); code != 0 {
		t.Fatalf("seed new exits with %d: %s, want 0", code, says)
	}
	c.start()
	t.Cleanup(func() { c.stop(syscall.SIGTERM) })
	return c
}

// start starts the signer's process and makes the first requests of a service.
func (c *lyingService) start() {
	c.t.Helper()
	c.launch()
	var err error
	c.client, err = remote.Dial(remote.Address{URL: "unix:" + filepath.Join(c.folder, "s")})
	c.must(err)
	c.t.Cleanup(c.client.Close)
	exported, err := c.client.Hello(c.t.Context())
	c.must(err)
	c.keys, err = signer.FromKeyExport(exported)
	c.must(err)
	c.resume()
	cfg, err := config.Load(filepath.Join(c.folder, "bursar.yaml"), nil)
	c.must(err)
	cfg, err = host.Canonical(cfg)
	c.must(err)
	connects := host.Connector{Network: cfg.Network, Keys: c.keys, Registry: cfg.Registry,
		Log: slog.New(slog.DiscardHandler)}
	for id, of := range cfg.Chains {
		if c.chains[id] == nil {
			c.chains[id], err = connects.Connect(c.t.Context(), of)
			c.must(err)
		}
	}
}

// launch starts the process and waits until it listens.
func (c *lyingService) launch() {
	c.t.Helper()
	p := exec.CommandContext(context.Background(), program)
	p.Dir, p.Env = c.folder, append([]string{"HOME=" + c.folder}, c.env...)
	log, err := p.StderrPipe()
	c.must(err)
	c.must(p.Start())
	listens, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		said := ""
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if said += lines.Text() + "\n"; strings.Contains(lines.Text(), "signer listening") {
				listens <- ""
				break
			}
		}
		_, _ = io.Copy(io.Discard, log)
		ended <- p.Wait()
		listens <- said
	}()
	if said := <-listens; said != "" {
		c.t.Fatalf("it says %s, want none", said)
	}
	c.process, c.ended = p, ended
}

// stop ends the process.
func (c *lyingService) stop(by syscall.Signal) {
	if c.process == nil {
		return
	}
	_ = c.process.Process.Signal(by) // it may have ended
	<-c.ended
	c.process = nil
}

// resume says that nothing is halted.
func (c *lyingService) resume() {
	c.t.Helper()
	_, err := c.client.SendHalts(c.t.Context(), signer.Halts{})
	c.must(err)
}

func (c *lyingService) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// thaw ends a freeze, as a person on the signer's machine.
func (c *lyingService) thaw() {
	c.t.Helper()
	if _, says, code := c.run("thaw", "--reason", "the next attack"); code != 0 && !strings.Contains(says, "not frozen") {
		c.t.Fatalf("thaw exits with %d: %s", code, says)
	}
}

// asked is one request for a signature.
type asked struct {
	id    bursar.ChainID
	order chain.TxRequest
	draft chain.UnsignedTx
}

func (c *lyingService) sign(a asked) (chain.SignedTx, error) {
	return c.client.Sign(c.t.Context(), a.id, a.order, a.draft)
}

// want asks for a signature and compares the reason of the refusal; empty: it is signed.
func (c *lyingService) want(name string, a asked, reason signer.Reason) {
	c.t.Helper()
	signed, err := c.sign(a)
	var refused *signer.RefusalError
	switch {
	case reason == "" && (err != nil || len(signed.Raw) == 0):
		c.t.Errorf("%s: got %v, want it signed", name, err)
	case reason != "" && (!errors.As(err, &refused) || refused.Reason != reason):
		c.t.Errorf("%s: got %v, want a refusal for %s", name, err, reason)
	}
}

// hot returns the hot wallet's source on a chain.
func (c *lyingService) hot(id bursar.ChainID) chain.Source {
	c.t.Helper()
	return c.source(id, chain.Hot(c.chains[id].Capabilities().Family))
}

// deposit returns the source of a deposit address, which the intruder knows too.
func (c *lyingService) deposit(id bursar.ChainID) chain.Source {
	c.t.Helper()
	return c.source(id, chain.KeyRef{Family: c.chains[id].Capabilities().Family, Branch: chain.DepositBranch, Index: 3})
}

func (c *lyingService) source(id bursar.ChainID, ref chain.KeyRef) chain.Source {
	c.t.Helper()
	public, err := c.keys.Public(ref)
	c.must(err)
	address, err := c.chains[id].Address(public, 0)
	c.must(err)
	return chain.Source{Key: ref, Base: address.Base}
}

// withdrawal is the order of a payment from the hot wallet.
func (c *lyingService) withdrawal(id bursar.ChainID, payments ...chain.Payment) chain.TxRequest {
	c.t.Helper()
	r := chain.TxRequest{ID: bursar.NewIDs(time.Now, nil).Next(), Kind: chain.KindWithdrawal, Payments: payments,
		MaxFee: bursar.Units(1 << 62)}
	if c.chains[id].Capabilities().Model == chain.UTXOModel {
		r.Change = c.hot(id)
	} else {
		r.From = c.hot(id)
	}
	return r
}

// to is a payment of the native asset.
func to(base string, units uint64) chain.Payment {
	return chain.Payment{Address: bursar.Address{Base: base}, Amount: bursar.Units(units)}
}
