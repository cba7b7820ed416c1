package service_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/remote"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/wallet"
	"github.com/bursar/bursar/withdrawal"
)

// harness is a signer behind a socket, which runs when a test opens it.
type harness struct {
	t      *testing.T
	at     remote.Address
	server remote.Server
}

func newHarness(t *testing.T, node *sim.Chain) *harness {
	t.Helper()
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	signs, err := signer.New(keys,
		map[bursar.ChainID]signer.Bounds{node.Capabilities().ID: {Capabilities: node.Capabilities(), Signable: node,
			MaxFee: bursar.Units(1 << 30)}})
	if err != nil {
		t.Fatal(err)
	}
	exported, err := keys.Export()
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "bursar") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return &harness{t: t, at: remote.Address{URL: "unix:" + filepath.Join(folder, "s")},
		server: remote.Server{Signer: signs, KeyExport: exported, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}}
}

// open runs the signer until the returned function ends it.
func (d *harness) open() (stop func()) {
	d.t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	listener, err := d.at.Listen(ctx)
	if err != nil {
		d.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- d.server.Run(ctx, listener) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			d.t.Errorf("the signer ended with %v", err)
		}
	}
}

// A service without the seed credits deposits while its signer is unreachable; withdrawals wait for it and are paid
// once.
func TestAServiceWithoutTheSeed(t *testing.T) {
	t.Parallel()
	node := sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin", Confirmations: 2})
	d := newHarness(t, node)
	keys, err := signer.FromKeyExport(d.server.KeyExport)
	if err != nil {
		t.Fatal(err)
	}
	client, err := remote.Dial(d.at)
	if err != nil {
		t.Fatal(err)
	}
	registry, err := bursar.NewRegistry([]bursar.Currency{native})
	if err != nil {
		t.Fatal(err)
	}
	s, err := service.New(service.Parts{DB: open(t, storetest.Reused(t)), Keys: keys, Signer: client, Registry: registry,
		Pace:   10 * time.Millisecond,
		Holder: "a", Chains: []service.ChainPart{{Chain: node, MaxFee: bursar.Units(1 << 30)}}})
	if err != nil {
		t.Fatal(err)
	}
	run(t, s)
	issued, err := s.Accounts.Create(ctx, "shop", false)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Wallets.Create(ctx, wallet.New{Account: issued.AccountID, Currency: native.Code,
		Webhook: "https://receiver.example"})
	if err != nil {
		t.Fatal(err)
	}
	node.Pay(chain.Payment{Address: w.Address, Amount: bursar.Units(1_000_000_000)})
	eventually(t, "the deposit is credited", func() bool {
		node.Mine(1)
		return available(t, s.DB, issued.AccountID) == bursar.Units(1_000_000_000)
	})
	order, err := s.Withdrawals.Request(ctx,
		withdrawal.Request{Account: issued.AccountID, Currency: native.Code, Amount: "0.1", Address: node.Named("outside")})
	if err != nil {
		t.Fatal(err)
	}
	status := func() bursar.WithdrawalStatus {
		now, err := s.Withdrawals.Get(ctx, issued.AccountID, order.ID)
		if err != nil {
			t.Fatal(err)
		}
		return now.Status
	}
	for range 3 {
		node.Mine(1)
	}
	if got := status(); got != bursar.WithdrawalQueued {
		t.Fatalf("without a signer it is %s, want %v", got, bursar.WithdrawalQueued)
	}
	stop := d.open()
	eventually(t, "the withdrawal is signed", func() bool { return status() != bursar.WithdrawalQueued })
	stop() // signed transactions need no signer any more
	eventually(t, "the withdrawal is confirmed", func() bool {
		node.Mine(1)
		return status() == bursar.WithdrawalConfirmed
	})
	if got := node.Balance(node.Named("outside"), ""); got != bursar.Units(10_000_000) {
		t.Errorf("the receiver holds %s, want %v", got, bursar.Units(10_000_000))
	}
}
