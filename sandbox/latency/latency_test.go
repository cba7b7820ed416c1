package latency

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/sandbox/chains"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// setup is how a chain is measured: what is paid, in how many blocks a payment is final, and which configuration of
// the sandbox makes it so.
type setup struct {
	code    bursar.CurrencyCode
	amount  string // well above the minimum
	blocks  int
	replace []string
}

func setups() map[bursar.ChainID]setup {
	return map[bursar.ChainID]setup{
		bursar.Bitcoin:  {"BTC", "0.1", 1, []string{"confirmations: 3", "confirmations: 1"}},
		bursar.Ethereum: {"ETH", "0.1", 1, []string{"finality: finalized", "finality: 1"}},
		bursar.Solana:   {"SOL", "0.1", 4, nil}, // the last of four blocks makes the first one a root
		bursar.XRPL:     {"XRP", "20", 1, nil},
	}
}

// BenchmarkFromAnnouncementToWebhook makes one payment after another. Each operation begins with a block that is
// announced, and ends with the webhook of the credit. The time per operation includes that of paying; p50-ms and
// p99-ms do not.
func BenchmarkFromAnnouncementToWebhook(b *testing.B) {
	for _, id := range []bursar.ChainID{bursar.Bitcoin, bursar.Ethereum, bursar.Solana, bursar.XRPL} {
		for name, database := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite,
			"postgres": storetest.Postgres} {
			b.Run(fmt.Sprintf("%s/%s", id, name), func(b *testing.B) {
				if name == "postgres" && testing.Short() {
					b.Skip("needs PostgreSQL: left out by -short")
				}
				measure(b, newHarness(b, id, database(b)))
			})
		}
	}
}

func measure(b *testing.B, s *harness) {
	var took []time.Duration
	for b.Loop() {
		took = append(took, s.once())
	}
	slices.Sort(took)
	quantile := func(q float64) float64 {
		i := int(math.Ceil(q*float64(len(took)))) - 1
		return float64(took[max(i, 0)].Microseconds()) / 1000
	}
	b.ReportMetric(quantile(0.50), "p50-ms")
	b.ReportMetric(quantile(0.99), "p99-ms")
	b.ReportMetric(quantile(1), "max-ms")
}

// harness is a service on one chain with one wallet, all running.
type harness struct {
	*testing.B
	chain    *chains.Chain
	setup    setup
	currency bursar.Currency
	wallet   string
	credited chan time.Time // when each credit's webhook began
}

func newHarness(b *testing.B, id bursar.ChainID, database string) *harness {
	s := &harness{B: b, setup: setups()[id], credited: make(chan time.Time, 100)}
	var err error
	s.chain, err = chains.Start(b.Context(), id, chains.Options{Manual: true, Log: slog.New(slog.DiscardHandler)})
	s.must(err)
	b.Cleanup(func() { s.must(s.chain.Close()) })
	receiver := httptest.NewServer(http.HandlerFunc(s.receive))
	b.Cleanup(receiver.Close)
	running := s.serve(s.configure(database))
	account, err := running.Accounts.Create(context.Background(), "latency", false)
	s.must(err)
	c, err := client.New(client.Config{BaseURL: running.Address("api"), Key: account.APIKey})
	s.must(err)
	wallet, err := c.CreateWallet(context.Background(),
		client.NewWallet{Currency: string(s.setup.code), Webhook: receiver.URL})
	s.must(err)
	s.wallet = wallet.Address
	s.currency, err = running.Registry.Get(s.setup.code)
	s.must(err)
	for range 5 { // created at first use
		s.once()
	}
	return s
}

// configure writes the configuration that `bursar serve` would read.
func (s *harness) configure(database string) config.Config {
	dir := s.TempDir()
	mnemonic, err := signer.NewMnemonic(rand.Reader)
	s.must(err)
	phrase, err := signer.NewPassphrase("latency")
	s.must(err)
	const quick = 8
	sealed, err := signer.SealWith(mnemonic, phrase, quick)
	s.must(err)
	s.must(signer.WriteSeedFile(filepath.Join(dir, "seed.age"), sealed))
	text := fmt.Sprintf("listen: 127.0.0.1:0\nadmin_listen: 127.0.0.1:0\ndatabase: %q\nnetwork: regtest\nseed_file: "+
		"seed.age\npoll_interval: 10s\n"+
		"webhooks: {allow_networks: [127.0.0.0/8]}\nchains:\n  %s: %s\n", database, s.chain.ID,
		strings.NewReplacer(s.setup.replace...).Replace(s.chain.Settings))
	file := filepath.Join(dir, "bursar.yaml")
	s.must(os.WriteFile(file, []byte(text), 0o600))
	cfg, err := config.Load(file, nil)
	s.must(err)
	return cfg
}

// serve runs the service until the end of the benchmark.
func (s *harness) serve(cfg config.Config) *service.Service {
	running, err := service.Open(s.Context(), cfg,
		service.Options{Log: slog.New(slog.DiscardHandler), Getenv: func(name string) string {
			if name == signer.PassphraseVariable {
				return "latency"
			}
			return ""
		}})
	s.must(err)
	s.must(running.Listen())
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- running.Run(ctx) }()
	s.Cleanup(func() {
		stop()
		s.must(<-ended)
		s.must(running.Close())
	})
	return running
}

// receive records when a webhook of a credit begins.
func (s *harness) receive(_ http.ResponseWriter, r *http.Request) {
	began := time.Now()
	var event struct {
		Response struct{ Webhook client.Event }
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &event)
	}
	if err != nil {
		s.Error(err)
	}
	if event.Response.Webhook.Event == client.EventDeposit {
		s.credited <- began
	}
}

// once pays, makes the payment final and returns the time from there to the webhook. It is more than from the
// announcement, because the node makes and stores the block before it announces it.
func (s *harness) once() time.Duration {
	payment := chains.Payment{Address: s.wallet, Amount: s.amount()}
	_, err := s.chain.Pay(s.currency, []chains.Payment{payment})
	s.must(err)
	started := time.Now()
	s.must(s.chain.Mine(s.setup.blocks))
	select {
	case began := <-s.credited:
		return began.Sub(started)
	case <-time.After(20 * time.Second):
		s.Fatal("no webhook of the credit in time")
		return 0
	}
}

func (s *harness) amount() bursar.Amount {
	amount, err := s.currency.Parse(s.setup.amount)
	s.must(err)
	return amount
}

func (s *harness) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}
