package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The committed document says what the committed figures say, and nothing else.
func TestTheDocumentIsMadeFromTheFigures(t *testing.T) {
	t.Parallel()
	r, err := readReport("results/performance.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Parts) == 0 {
		t.Fatal("bench/results/performance.json has no figures")
	}
	document, err := os.ReadFile("../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(document, r.document()) {
		t.Error("docs/performance.md differs from bench/results/performance.json: run " +
			"go run ./bench --render --json bench/results/performance.json --write docs/performance.md")
	}
}

func TestEveryPartHasASection(t *testing.T) {
	t.Parallel()
	for _, name := range []string{partRequests, partDeposits, partWebhooks, partBlocks, partLatency, partScale,
		partReplicas, partFootprint, partPeers, partAdapters} {
		if !slices.ContainsFunc(sections, func(s section) bool { return s.name == name }) {
			t.Errorf("part %s has no section in the document", name)
		}
	}
}

// sample is a report with one figure of each kind.
func sample(name string, commit string) report {
	var r report
	p := r.part(name, conditions{Date: "1 May 2026", Commit: commit, Machine: "2 cores", Go: "Go 1.26", SQLite: "1.2",
		Settings: "each measurement 5s"})
	p.row(row{
		Database:    "postgres",
		Name:        "GET account",
		Connections: 64,
		Reference:   &load{PerSecond: 10_000},
		Service:     load{PerSecond: 12_345, P50: 5 * time.Millisecond, P99: 20 * time.Millisecond},
		Ratio:       1.2345,
		Target:      0.8,
	})
	p.figure(figure{Database: "postgres", Name: "deliveries", Unit: "per second", Value: 99.5}.beside("bare", 199))
	p.time("postgres", "seen", 3*time.Second, 400*time.Millisecond)
	p.time("postgres", "seen", 2*time.Second, 400*time.Millisecond)
	return r
}

func TestADocumentHasEveryFigure(t *testing.T) {
	t.Parallel()
	text := string(sample(partRequests, "abc").document())
	for _, want := range []string{
		"## Requests\n",
		"Measured 1 May 2026, commit abc, on 2 cores, Go 1.26, SQLite driver 1.2; each measurement 5s.\n",
		"| measurement | database | connections | reference | service | ratio | target | p50 | p99 |\n",
		"| GET account | postgres | 64 | 10,000/s | 12,345/s | 1.23 | ≥ 0.80 | 5ms | 20ms |\n",
		"| deliveries | postgres | 99.5 per second | bare | 199 | 0.50 |\n", // no column without a value
		"| seen | postgres | 2s | < 400ms |\n",                              // the shorter of two rounds
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the document lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "## Webhooks") {
		t.Error("the document has a section of a part that was not measured")
	}
}

func TestAReportKeepsWhatWasNotMeasuredAgain(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "r.json")
	older := report{Parts: slices.Concat(sample(partWebhooks, "old").Parts, sample(partRequests, "old").Parts)}
	if err := older.save(file); err != nil {
		t.Fatal(err)
	}
	kept, err := readReport(file)
	if err != nil {
		t.Fatal(err)
	}
	merged := sample(partRequests, "new").over(kept)
	var got []string
	for _, p := range merged.Parts {
		got = append(got, p.Name+" "+p.Run.Commit)
	}
	if want := []string{"requests new", "webhooks old"}; !slices.Equal(got, want) {
		t.Errorf("the parts are %q, want %q", got, want)
	}
	if !bytes.Equal(merged.document(), merged.over(report{}).document()) {
		t.Error("merging with nothing changes the document")
	}
	var table bytes.Buffer
	if err := merged.print(&table); err != nil || !strings.Contains(table.String(), "GET account") {
		t.Errorf("the table is %s, %v, want %q in it", &table, err, "GET account")
	}
	if none, err := readReport(filepath.Join(t.TempDir(), "none.json")); err != nil || len(none.Parts) > 0 {
		t.Errorf("a file that does not exist gives %v, %v", none, err)
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0.4: "0.4", 1.234: "1.23", 5: "5", 12.34: "12.3", 55.04: "55", 100: "100",
		999.6: "1,000", 12345: "12,345", 1e7: "10,000,000"} {
		if got := number(v); got != want {
			t.Errorf("%v is written as %s, want %s", v, got, want)
		}
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	s, err := parseFlags([]string{"--quick", "--database", "sqlite", "--only", "GET"}, io.Discard)
	if err != nil || len(s.databases) != 1 || s.rounds != 1 || !s.only.MatchString("GET account") {
		t.Errorf("the settings are %+v, %v", s, err)
	}
	for _, args := range [][]string{{"more"}, {"--database", "mysql"}, {"--only", "("}, {"--render"}, {"--wallets", "1"},
		{"--peer", "blnk"}, {"--peer", "other=http://127.0.0.1:1"}, {"--peer", "blnk=127.0.0.1:1"}} {
		if _, err := parseFlags(args, io.Discard); err == nil {
			t.Errorf("%q is accepted, want an error", args)
		}
	}
}

func TestThePlan(t *testing.T) {
	t.Parallel()
	s, err := parseFlags([]string{"--quick", "--only", "block of|footprint: serve"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{settings: s, results: &report{}}
	var names []string
	for _, st := range only(s, b.suites()) {
		for _, one := range st.steps {
			if one.takes <= 0 {
				t.Errorf("%s takes no time", one.name)
			}
			names = append(names, st.name+": "+one.name)
		}
	}
	want := []string{"postgres: a block of 1,000 deposits", "sqlite: a block of 1,000 deposits",
		"footprint: footprint: serve with all chains"}
	if !slices.Equal(names, want) {
		t.Errorf("the steps are %q, want %q", names, want)
	}
	for _, test := range []struct{ total, done, took, want time.Duration }{
		{100, 0, 0, 100}, {100, 10, 40, 90}, {100, 50, 100, 100}, {100, 80, 40, 10}, {100, 100, 300, 0},
	} {
		if got := remaining(test.total, test.done, test.took); got != test.want {
			t.Errorf("of %d with %d done in %d remain %d, want %d", test.total, test.done, test.took, got, test.want)
		}
	}
}

func TestAdaptersFiguresAreRead(t *testing.T) {
	t.Parallel()
	const text = `goos: linux
BenchmarkThroughput/polygon/big=0s-2   	 1	 1.020 MB/block	  80.00 blocks/s	 82.19 peak-MB	 160.0 x-chain
BenchmarkThroughput/polygon/big=200ms-2 1	 1.020 MB/block	  70.00 blocks/s	 82.19 peak-MB	 140.0 x-chain
BenchmarkThroughput/big=400ms-2        	 1	 1.020 MB/block	  20.00 blocks/s	 105.5 peak-MB	 40.0 x-chain
BenchmarkThroughput/tip-16             	 1	 10.00 blocks/s	 20.0 x-chain
PASS
`
	figures, err := throughputs("evm", text)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range figures {
		got = append(got, f.String())
	}
	want := []string{
		"evm polygon, a node that answers at once: 80 blocks/s; the chain 0.5; ratio 160.00",
		"evm, a large answer takes 400 ms: 20 blocks/s; the chain 0.5; ratio 40.00",
		"evm, a large answer takes 400 ms, most memory beyond the start: 106 MB",
		"evm, block by block at the tip: 10 blocks/s; the chain 0.5; ratio 20.00",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the figures are %q, want %q", got, want)
	}
	for _, bad := range []string{
		"PASS\n",
		"BenchmarkThroughput/tip-2 1 x blocks/s\n",
		"BenchmarkThroughput/tip-2 1 4 posts\n",
	} {
		if _, err := throughputs("evm", bad); err == nil {
			t.Errorf("%q is read without an error", bad)
		}
	}
}
