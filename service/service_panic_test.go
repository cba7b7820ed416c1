package service_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/wallet"
)

// panickingChain is a chain whose adapter panics for a while.
type panickingChain struct {
	*sim.Chain
	left atomic.Int64
}

func (c *panickingChain) Head(ctx context.Context) (chain.Head, error) {
	if c.left.Add(-1) >= 0 {
		panic("an unforeseen response")
	}
	return c.Chain.Head(ctx)
}

// journal records what was logged.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// A panic in one chain's work stops neither the process nor that chain for good: what was not committed is repeated.
func TestAPanicOfOneChainIsSurvived(t *testing.T) {
	t.Parallel()
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	registry, err := bursar.NewRegistry([]bursar.Currency{native})
	if err != nil {
		t.Fatal(err)
	}
	node, log := &panickingChain{Chain: sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin"})}, &journal{}
	node.left.Store(1)
	db := open(t, storetest.SQLite(t))
	s, err := service.New(service.Parts{DB: db, Keys: keys, Registry: registry, Pace: 10 * time.Millisecond, Holder: "a",
		Log:    slog.New(slog.NewTextHandler(log, nil)),
		Chains: []service.ChainPart{{Chain: node, MaxFee: bursar.Units(1 << 30)}}})
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
	node.Pay(chain.Payment{Address: w.Address, Amount: bursar.Units(5_000_000)})
	eventually(t, "the deposit is credited", func() bool {
		node.Mine(1)
		return available(t, db, issued.AccountID) == bursar.Units(5_000_000)
	})
	if got := log.String(); !strings.Contains(got, "an unforeseen response") ||
		!strings.Contains(got, "service_panic_test.go") {
		t.Errorf("the log does not say what happened and where:\n%s", got)
	}
}
