package client_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/rate"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// harness is a whole service over a simulated chain, an account on it, and the account's receiver.
type harness struct {
	*testing.T
	*client.Client
	recorder *recorder
	node     *sim.Chain
	service  *service.Service
	issued   account.Issued
	secret   string           // of its webhooks
	memory   *memory.RAM      // of its signer
	clock    *clocktest.Clock // runs from when the simulated chain starts
	url      string           // of the receiver

	mu     sync.Mutex
	events map[string]client.Event // by ID
	wrong  []error
}

// native is the one currency.
var native = bursar.Currency{Code: "COIN", Chain: bursar.Bitcoin, Decimals: 8, Places: 8, Minimum: bursar.Units(1000),
	WithdrawalMinimum: bursar.Units(1000), WithdrawalFee: bursar.Fee{Network: true}}

func newHarness(t *testing.T) *harness {
	t.Helper()
	s := &harness{T: t, clock: clocktest.Running(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)),
		events: map[string]client.Event{}, memory: memory.NewRAM(),
		node: sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin", Confirmations: 2})}
	db := storetest.OpenAt(t, storetest.Reused(t), s.clock.Now)
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	s.need(err)
	registry, err := bursar.NewRegistry([]bursar.Currency{native})
	s.need(err)
	rates := s.rates()
	s.service, err = service.New(service.Parts{DB: db, Keys: keys, Registry: registry, Rates: rates, Prices: s.prices(),
		Pace: 10 * time.Millisecond, Holder: "one", Memory: s.memory, RequestLog: time.Hour,
		TestHooks: service.TestHooks{Clock: s.clock.Now},
		Chains:    []service.ChainPart{{Chain: s.node, MaxFee: bursar.Units(1 << 30)}},
		Allowed:   []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Listen: "127.0.0.1:0"})
	s.need(err)
	s.need(s.service.Listen())
	s.run()
	s.eventually("the rates are known", func() bool { return rates.Rate("COIN").IsKnown() })
	s.issued, err = s.service.Accounts.Create(t.Context(), "shop", true)
	s.need(err)
	s.secret = signer.WebhookSecretText(keys.WebhookSecret(s.issued.AccountID, 1))
	s.recorder = &recorder{asked: map[string]bool{}, params: map[string]bool{}}
	s.Client, err = client.New(client.Config{BaseURL: s.service.Address("api"), Key: s.issued.APIKey,
		Secret: s.issued.APISecret, HTTP: &http.Client{Transport: s.recorder}})
	s.need(err)
	receiver := httptest.NewServer(http.HandlerFunc(s.receive))
	t.Cleanup(receiver.Close)
	s.url = receiver.URL
	return s
}

// rates makes the service fetch rates over HTTP while it runs.
func (s *harness) rates() *rate.Feed {
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"coin":{"usdt":65000.5}}`)
	}))
	s.Cleanup(source.Close)
	return rate.NewFeed(rate.FeedConfig{URL: source.URL, Pointers: map[bursar.CurrencyCode]string{"COIN": "/coin/usdt"},
		Every: time.Hour, MaxAge: time.Hour, Now: s.clock.Now,
		Log: slog.New(slog.DiscardHandler)})
}

// prices are rates in EUR that two sources stand for.
func (s *harness) prices() *rate.Board {
	pair := rate.Pair{Currency: "COIN", Unit: "EUR"}
	hundred, err := bursar.ParseRate("100")
	s.need(err)
	fixed := rate.Fixed{Rates: map[rate.Pair]bursar.Rate{pair: hundred}, Now: s.clock.Now}
	return &rate.Board{Age: time.Hour, Now: s.clock.Now, Sources: []rate.Named{
		{Name: "a", Pairs: []rate.Pair{pair}, Source: fixed}, {Name: "b", Pairs: []rate.Pair{pair}, Source: fixed}}}
}

func (s *harness) need(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *harness) run() {
	running, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.service.Run(running) }()
	s.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			s.Errorf("the service ended with %v", err)
		}
	})
}

func (s *harness) receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	var event client.Event
	if err == nil {
		event, err = client.VerifyWebhook(s.secret, r.Header, body, s.clock.Now())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || r.Header.Get("webhook-id") != event.EventID {
		s.wrong = append(s.wrong, err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.events[event.EventID] = event
	w.WriteHeader(http.StatusNoContent)
}

// notified waits for an event of a kind.
func (s *harness) notified(kind string) (event client.Event) {
	s.Helper()
	s.eventually(kind+" is delivered", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, event = range s.events {
			if event.Event == kind {
				return true
			}
		}
		return false
	})
	return event
}

func (s *harness) eventually(what string, holds func() bool) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			s.Fatalf("it did not come about that %s: %v", what, s.wrong)
		case <-ticker.C:
		}
	}
}

// pay pays an address and makes the payment final.
func (s *harness) pay(address string, units uint64) {
	s.Helper()
	to, err := s.node.ParseAddress(address)
	s.need(err)
	s.node.Pay(chain.Payment{Address: to, Amount: bursar.Units(units)})
	s.node.Mine(2)
}
