package service_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store/storetest"
)

// The operator's server serves metrics, the state of the chains, and a page.
func TestTheAdminServer(t *testing.T) {
	t.Parallel()
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	registry, err := bursar.NewRegistry([]bursar.Currency{native})
	if err != nil {
		t.Fatal(err)
	}
	node := sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin"})
	s, err := service.New(service.Parts{DB: storetest.Open(t, storetest.Reused(t)), Keys: keys, Registry: registry,
		Pace: 10 * time.Millisecond, Holder: "a",
		Chains: []service.ChainPart{{Chain: node, MaxFee: bursar.Units(1)}}, Listen: "127.0.0.1:0",
		AdminListen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	run(t, s)
	var metrics string
	eventually(t, "the chain is in the metrics", func() bool {
		metrics = get(t, s.Address("admin")+"/metrics")
		return strings.Contains(metrics, `bursar_chain_latest_height{chain="bitcoin"}`)
	})
	for _, line := range []string{`bursar_queue_waiting{chain="",queue="charges"} 0`,
		`bursar_queue_waiting{chain="",queue="deliveries"} 0`,
		`bursar_queue_waiting{chain="bitcoin",queue="withdrawals"} 0`,
		`bursar_ledger_liabilities{currency="COIN"} 0`, `bursar_chain_halted{chain="bitcoin"} 0`, "bursar_scrape_failed 0",
		`bursar_acts_head{hash=""} 0`,
		"bursar_signer_frozen 0", "bursar_signer_thaws_timestamp_seconds 0"} {
		if !strings.Contains(metrics, line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
	if page := get(t, s.Address("admin")+"/"); !strings.Contains(page, "Sign in") ||
		strings.Contains(page, s.Hot(bursar.Bitcoin).Base) {
		t.Errorf("the first page is not that to sign in alone:\n%s", page)
	}
	for path, want := range map[string]string{"/docs": "Create", "/docs/runbooks": "funds_low", "/llms.txt": "runbooks",
		"/docs/search?q=funds_low": "/docs/runbooks#funds_low", "/openapi.json": `"openapi"`} {
		if page := get(t, s.Address("admin")+path); !strings.Contains(page, want) {
			t.Errorf("the admin address serves at %s %.200q, want %q in it", path, page, want)
		}
	}
	if chains := get(t, s.Address("admin")+"/chains"); !strings.Contains(chains, s.Hot(bursar.Bitcoin).Base) {
		t.Errorf("the chains are %s", chains)
	}
	answer, err := http.Get(s.Address("admin") + "/debug/pprof/")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusNotFound {
		t.Errorf("/debug/pprof/ answers %d without being configured, want 404", answer.StatusCode)
	}
	if health := get(t, s.Address("api")+"/healthz"); health == "" {
		t.Error("the API does not serve its health")
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s answers %d, %v, want %v", url, answer.StatusCode, err, http.StatusOK)
	}
	return string(body)
}

// Profiles are served where they are configured.
func TestProfilesAreServedWhereTheyAreConfigured(t *testing.T) {
	t.Parallel()
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	registry, err := bursar.NewRegistry(nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := service.New(service.Parts{DB: storetest.Open(t, storetest.Reused(t)), Keys: keys, Registry: registry,
		Holder: "a", AdminListen: "127.0.0.1:0", AdminPprof: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	run(t, s)
	if page := get(t, s.Address("admin")+"/debug/pprof/"); !strings.Contains(page, "goroutine") {
		t.Errorf("the list of profiles is %q, want %q in it", page, "goroutine")
	}
	stacks := get(t, s.Address("admin")+"/debug/pprof/goroutine?debug=1")
	if !strings.Contains(stacks, "goroutine profile") {
		t.Errorf("the profile of goroutines is %q, want %q in it", stacks, "goroutine profile")
	}
}
