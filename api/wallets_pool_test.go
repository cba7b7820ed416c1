package api_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/api"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/chain/solana"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/netpolicy"
	"github.com/bursar/bursar/service/charging"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/wallet"
)

// newPooledHarness is a replica whose SOL addresses are real ones, made from keys in the pool.
func newPooledHarness(t testing.TB, url string) (*harness, *wallet.Pool) {
	t.Helper()
	sol, err := solana.New(solana.Private(), rpc.Config{URLs: []string{"http://127.0.0.1:1"}}) // never asked
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sol.Close)
	seed, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	chains := map[bursar.ChainID]wallet.Chain{bursar.Solana: sol,
		bursar.Bitcoin: sim.New(sim.Config{ID: bursar.Bitcoin, Family: chain.FamilyBitcoin})}
	s := newHarness(t, url, newClock(), func(c *api.Config) {
		c.Wallets = wallet.NewService(c.DB, seed, chains, c.Registry, c.IDs, netpolicy.Receivers{})
		c.Charges = &charge.Service{DB: c.DB, Registry: c.Registry, Wallets: charging.Wallets{Service: c.Wallets}}
	})
	return s, &wallet.Pool{DB: s.db, Keys: seed, Families: []bursar.Family{chain.FamilySolana},
		Log: slog.New(slog.DiscardHandler)}
}

// While the pool is empty SOL is unavailable and nothing else is; the Idempotency-Key of a refused request works as
// soon as there are addresses again.
func TestAnEmptyPoolIsUnavailable(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		s, pool := newPooledHarness(t, url)
		mine := s.account(false)
		ask := func(path, currency string) (*http.Response, string) {
			body := `{"currency":"` + currency + `","webhook":"https://shop.example/hook","minimum":"1"}`
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-API-KEY", mine.APIKey)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Idempotency-Key", path+currency)
			response, answer := s.send(r)
			if err := theSpec(t).agrees(t.Context(), r, answered{response.StatusCode, response.Header, answer}); err != nil {
				t.Errorf("%s of %s: %v", path, currency, err)
			}
			return response, string(answer)
		}
		for _, path := range []string{"/api/v1/wallet", "/api/v1/charge"} {
			response, answer := ask(path, "SOL")
			if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" ||
				!strings.Contains(answer, `"unavailable"`) {
				t.Errorf("%s: %d %s, want %v and not %q and %q in it", path, response.StatusCode, answer,
					http.StatusServiceUnavailable, "", `"unavailable"`)
			}
			if response, answer := ask(path, "BTC"); response.StatusCode != http.StatusOK {
				t.Errorf("%s of BTC: %d %s, want %d", path, response.StatusCode, answer, http.StatusOK)
			}
		}
		if err := pool.Prime(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/api/v1/wallet", "/api/v1/charge"} {
			first, a := ask(path, "SOL")
			_, b := ask(path, "SOL")
			if first.StatusCode != http.StatusOK || a != b {
				t.Errorf("%s: %d %s, and again %s", path, first.StatusCode, a, b)
			}
		}
	})
}
