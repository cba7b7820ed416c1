package webhook

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var (
	bg       = context.Background()
	loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	customer = bursar.ID{0xc0}
)

// harness is a database with an account, and a clock that the test sets.
type harness struct {
	testing.TB
	url   string
	clock *clocktest.Clock
	db    *store.DB
	next  atomic.Int64
}

// each runs a test on both databases, as storetest.Each does, with a clock that the test sets.
func each(t *testing.T, test func(t *testing.T, s *harness)) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		test(t, newHarness(t, storetest.URL(db)))
	})
}

func newHarness(t testing.TB, url string) *harness {
	t.Helper()
	s := &harness{TB: t, url: url, clock: clocktest.Running(time.Now())}
	s.db = s.open()
	s.do(func(tx *store.Tx) error {
		return tx.Accounts().Insert(bg, bursar.Account{ID: customer, Name: "customer", CreatedAt: tx.Now(),
			WebhookGeneration: 1})
	})
	return s
}

// open opens the database once more, as another process would.
func (s *harness) open() *store.DB {
	s.Helper()
	return storetest.OpenAt(s, s.url, s.clock.Now)
}

func (s *harness) do(f func(tx *store.Tx) error) {
	s.Helper()
	if err := s.db.Do(bg, f); err != nil {
		s.Fatal(err)
	}
}

// event records an event to a URL and returns its ID.
func (s *harness) event(url string) bursar.ID {
	s.Helper()
	return s.events(url, 1)[0]
}

func (s *harness) events(url string, n int) []bursar.ID {
	s.Helper()
	return s.eventsOf(customer, n, func(int) string { return url })
}

// eventsOf records an account's events, each to a URL of its own.
func (s *harness) eventsOf(account bursar.ID, n int, url func(i int) string) []bursar.ID {
	s.Helper()
	ids := make([]bursar.ID, n)
	s.do(func(tx *store.Tx) error {
		for i := range ids {
			k := s.next.Add(1)
			ids[i] = bursar.ID{0xe0, byte(k >> 16), byte(k >> 8), byte(k)}
			e, err := TestEvent(ids[i], account, url(i), tx.Now())
			if err != nil {
				return err
			}
			e.Kind = bursar.EventDeposit // a test event has fewer attempts
			if err := tx.Events().Insert(bg, e); err != nil {
				return err
			}
		}
		return nil
	})
	return ids
}

// find reads an event's delivery and its attempts.
func (s *harness) find(id bursar.ID) (found store.Delivery, past []store.Attempt) {
	s.Helper()
	err := s.db.View(bg, func(tx *store.Tx) error {
		list, err := tx.Deliveries().List(bg, customer, store.Page{Limit: 100_000})
		if err != nil {
			return err
		}
		i := slices.IndexFunc(list, func(d store.Delivery) bool { return d.ID == id })
		found = list[i]
		past, err = tx.Deliveries().Attempts(bg, found.Number)
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
	return found, past
}

// until polls a condition.
func (s *harness) until(what string, ok func() bool) {
	s.Helper()
	until(s.TB, what, ok)
}

func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(bg, 2*time.Minute) // for a machine that is busy
	defer cancel()
	for ticker := time.NewTicker(5 * time.Millisecond); !ok(); {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("timed out while waiting for: %s", what)
		}
	}
}

// tried waits until an event has so many attempts on record.
func (s *harness) tried(id bursar.ID, n int) (d store.Delivery, past []store.Attempt) {
	s.Helper()
	s.until("an attempt on record", func() bool {
		d, past = s.find(id)
		return len(past) >= n
	})
	return d, past
}

// fixedSecrets derives a different secret for each account and generation.
type fixedSecrets struct{}

func (fixedSecrets) WebhookSecret(account bursar.ID, generation uint32) []byte {
	secret := make([]byte, 32)
	copy(secret, account[:])
	secret[31] = byte(generation)
	return secret
}

// deliverer returns one that may dial loopback and polls the database all the time.
func (s *harness) deliverer(db *store.DB) *Deliverer {
	d := New(Config{DB: db, Secrets: fixedSecrets{}, AllowNetworks: loopback, Rand: func(n int64) int64 { return n / 2 }})
	d.times.poll = 5 * time.Millisecond
	return d
}

// run runs a deliverer until the test ends or stop is called.
func (s *harness) run(d *Deliverer) (stop func()) {
	ctx, cancel := context.WithCancel(bg)
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				s.Errorf("Run returned %v", err)
			}
		case <-time.After(40 * time.Second):
			s.Error("Run did not return")
		}
	})
	s.Cleanup(stop)
	return stop
}

// request is what a receiver received.
type request struct {
	header http.Header
	body   []byte
}

// receiver records its requests and answers them with its handler; a nil handler answers 204.
type receiver struct {
	*httptest.Server
	mu  sync.Mutex
	got []request
}

func newReceiver(t testing.TB, answer http.HandlerFunc) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Errorf("the body was cut: %v", err)
		}
		r.mu.Lock()
		r.got = append(r.got, request{req.Header.Clone(), body})
		r.mu.Unlock()
		if answer == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		answer(w, req)
	}))
	t.Cleanup(func() { r.CloseClientConnections(); r.Close() })
	return r
}

func (r *receiver) all() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

func (r *receiver) count() int { return len(r.all()) }

// ids counts how often each event was received.
func (r *receiver) ids() map[string]int {
	counts := map[string]int{}
	for _, got := range r.all() {
		counts[got.header.Get("webhook-id")]++
	}
	return counts
}

// hanging answers nothing until the sender gives up or the test ends.
func hanging(t testing.TB) *receiver {
	end := make(chan struct{})
	r := newReceiver(t, func(_ http.ResponseWriter, req *http.Request) {
		select {
		case <-req.Context().Done():
		case <-end:
		}
	})
	t.Cleanup(func() { close(end) }) // runs before the server is closed
	return r
}
