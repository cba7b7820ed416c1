package api_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/api"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/deposit"
	"github.com/bursar/bursar/destination"
	"github.com/bursar/bursar/netpolicy"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/service/charging"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/wallet"
	"github.com/bursar/bursar/webhook"
	"github.com/bursar/bursar/withdrawal"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// keys derives one key for each reference without a seed.
type keys struct{}

func (keys) Public(ref chain.KeyRef) (chain.PublicKey, error) {
	seed := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%d", ref.Family, ref.Branch, ref.Index))
	_, pub := btcec.PrivKeyFromBytes(seed[:])
	return pub.SerializeCompressed(), nil
}

// prices are rates in EUR: of USDT, and of BTC while it is known.
type prices struct{ away bool }

func (p *prices) Price(code bursar.CurrencyCode, unit bursar.Unit) bursar.Quote {
	rates := map[bursar.CurrencyCode]string{"USDT": "0.9", "TRX": "0.25"}
	rate, err := bursar.ParseRate(rates[code])
	if err != nil || p.away || unit.Code != "EUR" {
		return bursar.Quote{}
	}
	return bursar.Quote{Rate: rate, Source: "test", RateAt: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)}
}

func (p *prices) Covers(_ bursar.CurrencyCode, unit bursar.Unit) bool { return unit.Code == "EUR" }

func (p *prices) MaxAge() time.Duration { return 10 * time.Minute }

func (p *prices) All() (list []bursar.PairRate) {
	for _, code := range []bursar.CurrencyCode{"TRX", "USDT"} {
		q := p.Price(code, bursar.Unit{Code: "EUR"})
		if q.Rate.IsKnown() {
			list = append(list, bursar.PairRate{Currency: code, Unit: "EUR", Rate: q.Rate, Source: q.Source, At: q.RateAt})
		}
	}
	return list
}

// newClock returns the clock of every harness.
func newClock() *bursartest.Clock {
	return bursartest.NewClockAt(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
}

// harness is one replica of the service without its workers.
type harness struct {
	testing.TB
	clock    *bursartest.Clock
	url      string // of the database
	db       *store.DB
	ids      *bursar.IDs
	registry *bursar.Registry
	chains   map[bursar.ChainID]*sim.Chain
	accounts *account.Service
	config   api.Config
	prices   prices
	base     string // of the HTTP server
}

// families are the chains of a harness. Litecoin is left out: it is not configured.
var families = map[bursar.ChainID]sim.Config{
	bursar.Bitcoin:  {Family: "bc", Confirmations: 3},
	bursar.Ethereum: {Family: "evm", Spending: chain.AccountModel, Confirmations: 12},
	bursar.BSC:      {Family: "evm", Spending: chain.AccountModel},
	bursar.Polygon:  {Family: "evm", Spending: chain.AccountModel},
	bursar.Tron:     {Family: "tron", Spending: chain.AccountModel, Confirmations: 19},
	bursar.Solana:   {Family: "sol", Spending: chain.AccountModel},
	bursar.XRPL:     {Family: "xrp", Spending: chain.AccountModel, SharedAddress: true},
}

// newHarness starts a replica on a database with a clock. Several may share both.
func newHarness(t testing.TB, url string, at *bursartest.Clock, change ...func(*api.Config)) *harness {
	t.Helper()
	s := &harness{TB: t, clock: at, url: url, chains: map[bursar.ChainID]*sim.Chain{}}
	s.db = storetest.OpenAt(t, url, at.Now)
	s.ids = bursar.NewIDs(at.Now, nil)
	s.accounts = account.NewService(s.db, s.ids)
	s.build()
	s.config = s.services()
	for _, c := range change {
		c(&s.config)
	}
	server := httptest.NewUnstartedServer(nil)
	server.Config = api.Server(api.New(s.config), s.config.Log)
	server.Start()
	t.Cleanup(server.Close)
	s.base = server.URL
	return s
}

// build makes the chains and a registry whose tokens have contracts on them.
func (s *harness) build() {
	s.Helper()
	for id, config := range families {
		config.ID = id
		s.chains[id] = sim.New(config)
	}
	currencies := bursar.Standard()
	for i, c := range currencies {
		if c.Code == "SOL" {
			currencies[i].WithdrawalMaximum = bursar.Units(100e9)
		}
		if c.IsToken() {
			currencies[i].Contract = s.chains[c.Chain].Named(string(c.Code))
		}
	}
	var err error
	if s.registry, err = bursar.NewRegistry(currencies); err != nil {
		s.Fatal(err)
	}
}

func (s *harness) services() api.Config {
	s.Helper()
	log := slog.New(slog.DiscardHandler)
	walletChains, payChains := map[bursar.ChainID]wallet.Chain{}, map[bursar.ChainID]withdrawal.Chain{}
	listChains := map[bursar.ChainID]destination.Chain{}
	hot, capabilities := map[bursar.ChainID]string{}, map[bursar.ChainID]chain.Capabilities{}
	for id, c := range s.chains {
		walletChains[id], payChains[id], listChains[id], hot[id], capabilities[id] = c, c, c, s.hot(id), c.Capabilities()
	}
	wallets := wallet.NewService(s.db, keys{}, walletChains, s.registry, s.ids, netpolicy.Receivers{})
	withdrawals := withdrawal.NewService(withdrawal.Config{DB: s.db, Chains: payChains, Hot: hot, Registry: s.registry,
		IDs: s.ids, Log: log, Leave: outgoing.EndCancelled, Prices: &s.prices})
	credits := deposit.Announcer{Registry: s.registry, IDs: s.ids, Log: log, Prices: &s.prices}
	return api.Config{DB: s.db, Registry: s.registry, Accounts: s.accounts, Wallets: wallets, IDs: s.ids, Log: log,
		Chains:         capabilities,
		TestDeliveries: &webhook.TestDeliveries{DB: s.db, IDs: s.ids},
		Destinations: &destination.Service{DB: s.db, Chains: listChains, Registry: s.registry, IDs: s.ids,
			Hold: 24 * time.Hour},
		Charges: &charge.Service{DB: s.db, Registry: s.registry, Wallets: charging.Wallets{Service: wallets}, IDs: s.ids,
			Keeper: charging.Keeper{Announcer: credits}, Payer: charging.Payer{Service: withdrawals},
			Prices: &s.prices, Log: log},
		Prices:      &s.prices,
		Withdrawals: withdrawals}
}

// hot returns the hot wallet on a chain.
func (s *harness) hot(id bursar.ChainID) string {
	s.Helper()
	pub, _ := keys{}.Public(chain.Hot(s.chains[id].Capabilities().Family))
	address, err := s.chains[id].Address(pub, 0)
	if err != nil {
		s.Fatal(err)
	}
	return address.Base
}

// onEach runs a test on either database.
func onEach(t *testing.T, test func(t *testing.T, url string)) {
	bursartest.EachURL(t, test)
}

func (s *harness) account(withSecret bool) account.Issued {
	s.Helper()
	issued, err := s.accounts.Create(context.Background(), "a shop", withSecret)
	if err != nil {
		s.Fatal(err)
	}
	return issued
}

func (s *harness) do(f func(tx *store.Tx) error) {
	s.Helper()
	if err := s.db.Do(context.Background(), f); err != nil {
		s.Fatal(err)
	}
}

// send sends a request and returns what came back.
func (s *harness) send(r *http.Request) (*http.Response, []byte) {
	s.Helper()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	body := readAll(s.TB, response.Body)
	return response, body
}
