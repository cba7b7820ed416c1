package service_test

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/bitcoin"
	"github.com/bursar/bursar/chain/rpc"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// observed runs a service with a value for every metric, and returns the metrics.
func observed(t *testing.T) (metrics string, s *service.Service) {
	t.Helper()
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	registry, err := bursar.NewRegistry([]bursar.Currency{native})
	if err != nil {
		t.Fatal(err)
	}
	node := sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin"})
	away := unreachable(t)
	db := open(t, storetest.Reused(t))
	s, err = service.New(service.Parts{DB: db, Keys: keys, Registry: registry, Pace: 10 * time.Millisecond, Holder: "a",
		Listen: "127.0.0.1:0", AdminListen: "127.0.0.1:0",
		Chains: []service.ChainPart{{Chain: node, MaxFee: bursar.Units(1), Push: []string{pushURL}},
			{Chain: away, MaxFee: bursar.Units(1)}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	run(t, s)
	err = db.Do(ctx, func(tx *store.Tx) error {
		return tx.Alarms().Raise(ctx, store.Alarm{Chain: bursar.Bitcoin, Kind: "funds_low", Ref: "x", Message: "m"})
	})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the service follows the chain", func() bool {
		states, err := s.ChainStatus(ctx)
		return err == nil && states[0].Height >= 0
	})
	node.Pay(chain.Payment{Address: bursar.Address{Base: s.Hot(bursar.Bitcoin).Base}, Amount: bursar.Units(7)})
	node.Mine(1)
	eventually(t, "the metrics show capital, and a node that failed", func() bool {
		metrics = get(t, s.Address("admin")+"/metrics")
		return strings.Contains(metrics, `bursar_ledger_balance{account="capital"`) &&
			strings.Contains(metrics, "bursar_rpc_faults_total")
	})
	return metrics, s
}

// unreachable is a chain with an unreachable node, under a URL full of secrets.
func unreachable(t *testing.T) chain.Chain {
	t.Helper()
	network, err := bitcoin.Litecoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	c, err := bitcoin.New(bitcoin.Config{ID: bursar.Litecoin, Network: network,
		Node: rpc.Config{URLs: []string{"http://me:hunter2@127.0.0.1:1/v3/0123456789abcdef?key=sesame"}}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// shape is the type of a metric and its labels.
type shape struct {
	kind   string
	labels []string
}

var (
	sample = regexp.MustCompile(`(?m)^(bursar_[a-z_]+)(?:\{([^}]*)\})? `)
	typed  = regexp.MustCompile(`(?m)^# TYPE (bursar_[a-z_]+) ([a-z]+)$`)
	partOf = regexp.MustCompile(`_(bucket|sum|count)$`)
	label  = regexp.MustCompile(`([a-z_]+)="`)
)

// exposed parses metrics in Prometheus' text format.
func exposed(text string) map[string]shape {
	all := map[string]shape{}
	for _, m := range typed.FindAllStringSubmatch(text, -1) {
		all[m[1]] = shape{kind: m[2]}
	}
	for _, m := range sample.FindAllStringSubmatch(text, -1) {
		name := m[1]
		if base := partOf.ReplaceAllString(name, ""); all[base].kind == "histogram" {
			name = base
		}
		s := all[name]
		s.labels = nil
		for _, l := range label.FindAllStringSubmatch(m[2], -1) {
			if l[1] != "le" { // the class of a histogram
				s.labels = append(s.labels, l[1])
			}
		}
		slices.Sort(s.labels)
		all[name] = s
	}
	return all
}

// described parses the table of docs/metrics.md.
func described(t *testing.T) map[string]shape {
	t.Helper()
	text, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]shape{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(bursar_[a-z_]+)` \\| ([a-z]+) \\| ([a-z, ]*) ?\\| .+ \\|$").FindAllStringSubmatch(string(text), -1) {
		s := shape{kind: m[2]}
		for name := range strings.FieldsFuncSeq(m[3], func(r rune) bool { return r == ',' || r == ' ' }) {
			s.labels = append(s.labels, name)
		}
		slices.Sort(s.labels)
		all[m[1]] = s
	}
	return all
}

var declaration = regexp.MustCompile(`= new(Gauge|Counter|Histogram)\("([a-z_]+)",\s+"[^"]*"((?:,\s+"[a-z]+")*)\)`)

// declared returns the metrics that the service can export, whether they have a value in a test or not.
func declared(t *testing.T) map[string]shape {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]shape{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range declaration.FindAllStringSubmatch(string(text), -1) {
			s, name := shape{kind: strings.ToLower(m[1])}, "bursar_"+m[2]
			if s.kind == "counter" {
				name += "_total"
			}
			for _, l := range value.FindAllStringSubmatch(m[3], -1) {
				s.labels = append(s.labels, l[1])
			}
			slices.Sort(s.labels)
			all[name] = s
		}
	}
	return all
}

// The exported metrics are the described ones: names, types and labels. Names keep Prometheus' conventions, no label
// contains a credential, and the API's address exports nothing.
func TestEveryMetricIsDescribed(t *testing.T) {
	t.Parallel()
	text, s := observed(t)
	exported, described := exposed(text), described(t)
	for _, name := range slices.Sorted(maps.Keys(exported)) {
		if d, is := described[name]; !is || d.kind != exported[name].kind || !slices.Equal(d.labels, exported[name].labels) {
			t.Errorf("%s is exported as %+v but described in docs/metrics.md as %+v", name, exported[name], d)
		}
	}
	can := declared(t)
	for _, name := range slices.Sorted(maps.Keys(can)) {
		if d := described[name]; d.kind != can[name].kind || !slices.Equal(d.labels, can[name].labels) {
			t.Errorf("%s is declared as %+v but described in docs/metrics.md as %+v, want %v and %+v", name, can[name], d,
				can[name].kind, can[name].labels)
		}
	}
	for name := range described {
		if can[name].kind == "" {
			t.Errorf("docs/metrics.md describes %s, which is not exported", name)
		}
	}
	if len(exported) < 15 {
		t.Errorf("only %d metrics are exported", len(exported))
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "bursar_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
	for _, secret := range []string{"hunter2", "sesame", "0123456789abcdef", "me:"} {
		if strings.Contains(text, secret) {
			t.Errorf("the metrics contain %q", secret)
		}
	}
	if !strings.Contains(text, `endpoint="http://127.0.0.1:1/…"`) || !strings.Contains(text, "\ngo_goroutines ") {
		t.Errorf("the metrics are\n%s, want %q in it and %q in it", text, `endpoint="http://127.0.0.1:1/…"`,
			"\ngo_goroutines ")
	}
	answer, err := http.Get(s.Address("api") + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusNotFound {
		t.Errorf("the API's address answers /metrics with %d, want %d", answer.StatusCode, http.StatusNotFound)
	}
}
