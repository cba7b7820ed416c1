package api_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/api"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/netpolicy"
	"github.com/bursar/bursar/service/charging"
	"github.com/bursar/bursar/wallet"
)

// panickingKeys are keys that panic on one chain.
type panickingKeys struct {
	keys
	family bursar.Family
}

func (k panickingKeys) Public(ref chain.KeyRef) (chain.PublicKey, error) {
	if ref.Family == k.family {
		panic("SELECT secret FROM /var/lib at http://user:pass@10.0.0.1")
	}
	return k.keys.Public(ref)
}

// frighten serves the harness again with keys that panic on the chains of the EVM family.
func (s *harness) frighten(log io.Writer) {
	s.Helper()
	chains := map[bursar.ChainID]wallet.Chain{}
	for id, sim := range s.chains {
		chains[id] = sim
	}
	s.serve(func(c *api.Config) {
		c.Log = slog.New(slog.NewJSONHandler(log, nil))
		c.Wallets = wallet.NewService(s.db, panickingKeys{family: "evm"}, chains, s.registry, s.ids, netpolicy.Receivers{})
		c.Charges = &charge.Service{DB: s.db, Registry: s.registry, Wallets: charging.Wallets{Service: c.Wallets}}
	})
}

// order requests a wallet or a charge.
func (s *harness) order(key, path, currency string) (*http.Response, []byte) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodPost,
		s.base+"/api/v1/"+path+"?webhook=https://shop.example&currency="+currency, nil)
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("X-API-KEY", key)
	return s.send(r)
}

// TestAPanicFailsOneRequestOnly makes wallets, some of which panic in the middle of a transaction, in the writer's
// goroutine and in the one that derives ahead. Each such request is answered 500 with an ID that is in the log with the
// cause; all others are served, and the work of the panicked requests is rolled back.
func TestAPanicFailsOneRequestOnly(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		log := &journal{}
		s := newHarness(t, url, newClock())
		s.frighten(log)
		mine, books := s.account(false), openLedgers(t, url)
		before, err := books.read()
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for range 3 {
			for _, path := range []string{"wallet", "charge"} {
				ids = append(ids, s.panics(mine.APIKey, path))
			}
		}
		if after, err := books.read(); err != nil || after != before {
			t.Errorf("something is left of them: %v\n%s", err, difference(before, after))
		}
		if response, body := s.order(mine.APIKey, "wallet", "BTC"); response.StatusCode != http.StatusOK {
			t.Errorf("afterwards: %d %s, want %d", response.StatusCode, body, http.StatusOK)
		}
		for _, id := range ids {
			s.logged(log.String(), id)
		}
	})
}

// panics sends a request that panics and returns the ID of the request.
func (s *harness) panics(key, path string) string {
	s.Helper()
	response, body := s.order(key, path, "ETH")
	var said struct {
		Error     struct{ Code, Message string }
		RequestID string
	}
	if err := json.Unmarshal(body, &said); err != nil {
		s.Fatal(err)
	}
	id := response.Header.Get("X-Request-ID")
	if response.StatusCode != http.StatusInternalServerError || said.Error.Code != "internal" || said.RequestID != id ||
		strings.Contains(string(body), "SELECT") {
		s.Errorf("%s answers %d %s", path, response.StatusCode, body)
	}
	return id
}

// logged requires one log line about a request that names the cause and the place.
func (s *harness) logged(log, id string) {
	s.Helper()
	n := 0
	for line := range strings.Lines(log) {
		var said struct{ Level, Request string }
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			s.Fatalf("the log has %s", line)
		}
		if said.Request == id && said.Level == "ERROR" && strings.Contains(line, "SELECT secret") &&
			strings.Contains(line, "serve_panic_test.go") {
			n++
		}
	}
	if n != 1 {
		s.Errorf("%d lines name request %s in\n%.2000s, want 1", n, id, log)
	}
}
