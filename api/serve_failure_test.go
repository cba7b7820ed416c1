package api_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/api"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// journal keeps the log.
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

// doorman refuses every request, by the error that it is made with.
type doorman struct{ authenticate func() error }

func (d doorman) Authenticate(context.Context, account.Credentials) (account.Identity, error) {
	return account.Identity{}, d.authenticate()
}
func (d doorman) RequireSecret(account.Identity, string) error { return nil }
func (d doorman) OrderTerms(context.Context, bursar.ID) (account.OrderTerms, error) {
	return account.OrderTerms{}, nil
}

func get(t *testing.T, handler http.Handler, path, key string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	r.Header.Set("X-API-KEY", key)
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

// TestInternalErrorsAreLoggedAndNotShown gets the same response for a panic, an internal error and an unreachable
// database.
func TestInternalErrorsAreLoggedAndNotShown(t *testing.T) {
	s := newHarness(t, storetest.SQLite(t), newClock())
	secret := "SELECT key FROM /var/lib/secret at http://user:pass@10.0.0.1"
	for name, c := range map[string]struct {
		authenticate func() error
		status       int
		code, logged string
	}{
		"a panic":  {func() error { panic(secret) }, 500, "internal", secret},
		"an error": {func() error { return errors.New(secret) }, 500, "internal", secret},
		"a row that is missing inside": {func() error {
			return s.db.View(t.Context(), func(tx *store.Tx) error {
				_, err := tx.Accounts().Get(t.Context(), bursar.ID{1})
				return err
			})
		}, 500, "internal", "read account"},
		"a lost race": {func() error { return context.DeadlineExceeded }, 503, "unavailable", "deadline"},
		"a refusal": {func() error {
			return bursar.Refuse(bursar.CodeRateLimited, "slow down")
		}, 429, "rate_limited", ""},
		"a client that leaves": {func() error { return context.Canceled }, 503, "unavailable", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &journal{}
			config := s.config
			config.Accounts, config.Log = doorman{c.authenticate}, slog.New(slog.NewTextHandler(log, nil))
			w := get(t, api.New(config), "/api/v1/account", "")
			id := w.Header().Get("X-Request-ID")
			if w.Code != c.status || !strings.Contains(w.Body.String(), `"code":"`+c.code+`"`) ||
				!strings.Contains(w.Body.String(), `"requestID":"`+id+`"`) {
				t.Errorf("answered %d %s, want %v and %v in it and %v in it", w.Code, w.Body, c.status, `"code":"`+c.code+`"`,
					`"requestID":"`+id+`"`)
			}
			if strings.Contains(w.Body.String(), "SELECT") || strings.Contains(w.Body.String(), "10.0.0.1") {
				t.Errorf("the body is %s, want no %q and no %q", w.Body, "SELECT", "10.0.0.1")
			}
			if got := log.String(); !strings.Contains(got, c.logged) || c.logged != "" && !strings.Contains(got, id) ||
				c.logged == "" && got != "" {
				t.Errorf("logged %s", got)
			}
		})
	}
}

func TestAnUnreachableDatabaseIsUnavailable(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		s := newHarness(t, url, newClock())
		mine := s.account(true)
		handler := api.New(s.config)
		if w := get(t, handler, "/readyz", ""); w.Code != http.StatusOK {
			t.Errorf("ready: %d %s, want %d", w.Code, w.Body, http.StatusOK)
		}
		if err := s.db.Close(); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/api/v1/account", "/readyz"} {
			w := get(t, handler, path, mine.APIKey)
			if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
				t.Errorf("%s: %d %s, want %v and not %q", path, w.Code, w.Body, http.StatusServiceUnavailable, "")
			}
		}
		if w := get(t, handler, "/healthz", ""); w.Code != http.StatusOK {
			t.Errorf("healthz: %d %s, want %d", w.Code, w.Body, http.StatusOK)
		}
	})
}

func TestClientsMayBeHeldToTheirNetworks(t *testing.T) {
	s := newHarness(t, storetest.SQLite(t), newClock())
	mine := s.account(false)
	config := s.config
	for networks, want := range map[string]int{"192.0.2.0/24": 200,
		"198.51.100.0/24": 403} { // a recorder's client is 192.0.2.1
		config.ClientNetworks = []netip.Prefix{netip.MustParsePrefix(networks)}
		w := get(t, api.New(config), "/api/v1/account", mine.APIKey)
		if w.Code != want {
			t.Errorf("of %s: %d %s, want %v", networks, w.Code, w.Body, want)
		}
	}
}

// TestABodyWithoutEndIsCutOff sends more than a body may have, without declaring its length.
func TestABodyWithoutEndIsCutOff(t *testing.T) {
	s := newHarness(t, storetest.SQLite(t), newClock())
	mine := s.account(false)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+"/api/v1/wallet", endless{})
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-API-KEY", mine.APIKey)
	r.Header.Set("Content-Type", "application/json")
	response, body := s.send(r)
	if response.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("%d %s, want %d", response.StatusCode, body, http.StatusRequestEntityTooLarge)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
