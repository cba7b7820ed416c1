package main

import (
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

const sample = `package money

import "errors"

var errShort = errors.New("short")

// Pay takes a fee and an amount from a balance.
func Pay(balance, amount, fee int, frozen bool) (left int, err error) {
	if frozen || amount == 0 {
		return balance, errShort
	}
	if amount+fee > balance {
		return balance, errShort
	}
	left = balance - amount
	left -= fee
	return left, nil
}

// Settle calls what has to be called.
func Settle(book func() error, notify func()) error {
	if err := book(); err != nil {
		return err
	}
	for i := 0; i < 2; i++ {
		notify()
	}
	return later(true)
}

func later(well bool) error {
	if well {
		return nil
	}
	return errShort
}
`

const sampleTest = `package money

import "testing"

func TestPay(t *testing.T) {
	if left, err := Pay(10, 3, 1, false); left != 6 || err != nil {
		t.Fatal(left, err)
	}
	if left, err := Pay(10, 9, 1, false); left != 0 || err != nil {
		t.Fatal(left, err)
	}
	if _, err := Pay(10, 10, 1, false); err == nil {
		t.Fatal("paid too much")
	}
	if _, err := Pay(10, 1, 1, true); err == nil {
		t.Fatal("paid from a frozen account")
	}
}

func TestSettle(t *testing.T) {
	notified := 0
	if err := Settle(func() error { return nil }, func() { notified++ }); err != nil || notified != 2 {
		t.Fatal(err, notified)
	}
	if err := Settle(func() error { return errShort }, func() {}); err == nil {
		t.Fatal("the error is lost")
	}
}
`

func sampleModule(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module sample\n\ngo 1.25\n", "money/money.go": sample, "money/money_test.go": sampleTest,
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestSitesAreWrittenIntoTheCode(t *testing.T) {
	sites, err := find(sampleModule(t), "money")
	if err != nil {
		t.Fatal(err)
	}
	for i := range sites {
		sites[i].id = i
	}
	out, err := rewrite([]byte(sample), sites)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := format.Source(out); err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(out), "\n") != strings.Count(sample, "\n") {
		t.Error("lines have moved")
	}
	var kinds []string
	for _, s := range sites {
		if s.fn == "Pay" {
			kinds = append(kinds, s.kind+" "+s.text)
		}
	}
	for _, want := range []string{"and frozen || amount == 0", "not amount == 0", "true frozen || amount == 0",
		"or equal amount+fee > balance", "skip left -= fee"} {
		if !slices.Contains(kinds, want) {
			t.Errorf("there is no mutant %q among %q", want, kinds)
		}
	}
}

// TestLinesOfTheLogAreNoMutants checks that code that only writes to the log has no mutants, and code that does more
// has.
func TestLinesOfTheLogAreNoMutants(t *testing.T) {
	root := t.TempDir()
	text := `package money

func (s *service) pay(fee int) {
	s.Log.Info("paid", "fee", fee)
	if fee > 10 {
		s.Log.Warn("dear")
	}
	if fee > s.most() {
		s.Log.Warn("dearest")
	}
	if err := s.pack(fee > 2); err != nil && ctx.Err() == nil {
		s.Log.Warn("not packed")
	}
	tx.After(func() { s.Log.Info("committed") })
	tx.After(func() { s.notify() })
	s.tell(fee)
	s.record(fee)
	s.last = fee
}

func (s *service) tell(fee int) {
	attrs := []any{"fee", fee}
	if fee > 3 {
		attrs = append(attrs, "much", true)
	}
	s.say("told", attrs...)
}

func (s *service) say(what string, attrs ...any) { s.Log.Info(what, attrs...) }

func (s *service) record(fee int) {
	s.Log.Info("recorded")
	s.total += fee
}
`
	if err := os.WriteFile(filepath.Join(root, "money.go"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	sites, err := find(root, ".")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, s := range sites {
		found = append(found, s.kind+" "+s.text)
	}
	pack := "if err := s.pack(fee > 2); err != nil && ctx.Err() == nil {\n\t\ts.Log.Warn(\"not packed\")\n\t}"
	want := []string{"true fee > s.most()", "false fee > s.most()", "or equal fee > s.most()",
		"skip " + pack, "or equal fee > 2", "skip tx.After(func() { s.notify() })", "skip s.notify()",
		"skip s.record(fee)", "skip s.last = fee", "skip s.total += fee"}
	if !slices.Equal(found, want) {
		t.Errorf("the mutants are %q, want %q", found, want)
	}
}

// TestSurvivorsAreWhatNoTestNotices checks that mutants survive exactly where no test checks the code.
func TestSurvivorsAreWhatNoTestNotices(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and runs programs: left out by -short")
	}
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("marks are kept in a memory-mapped file, which this system maps in another way")
	}
	b, last, err := prepare(t.Context(), sampleModule(t), []string{"money"}, []string{"money"})
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(b.work)
	defer os.RemoveAll(b.scratch)
	tests, err := b.watch(t.Context(), last, 2, regexp.MustCompile("Test"), t.Logf)
	if err != nil || len(tests) != 2 {
		t.Fatalf("%d tests are watched (%v), want 2 of them", len(tests), err)
	}
	j := &evaluator{built: b, tests: tests, budget: time.Minute, killers: map[string][]string{}}
	outcomes, err := j.all(t.Context(), b.sites, 2)
	if err != nil {
		t.Fatal(err)
	}
	var alive []string
	for _, o := range outcomes {
		if o.killer == "" {
			alive = append(alive, o.site.fn+" "+o.site.kind+" "+o.site.text)
		}
	}
	slices.Sort(alive)
	want := []string{"Settle return nil return later(true)", "later return nil return errShort", "later true well"}
	if !slices.Equal(alive, want) {
		t.Fatalf("alive are %q, want %q", alive, want)
	}
	var out strings.Builder
	if err := report(&out, outcomes, map[string]string{}, 50); err == nil {
		t.Error("unlisted survivors are no error")
	}
	listed := map[string]string{}
	for _, o := range outcomes {
		if o.killer == "" {
			listed[o.site.name()] = "the sample's tests never make later fail"
		}
	}
	if err := report(&out, outcomes, listed, 80); err != nil {
		t.Errorf("listed survivors are an error: %v\n%s", err, out.String())
	}
	if text := out.String(); !strings.Contains(text, "money") || !strings.Contains(text, "alive") {
		t.Errorf("the table is\n%s, want %q in it and %q in it", text, "money", "alive")
	}
	for name := range listed {
		listed[name] = equivalent + " nobody hears of it"
	}
	if err := report(&out, outcomes, listed, 100); err != nil {
		t.Errorf("equivalent mutants are an error: %v\n%s", err, out.String())
	}
	if gone := stale(listed, b.sites, []string{"money"}); len(gone) > 0 {
		t.Errorf("%q is reported as missing", gone)
	}
	listed["money/money.go:Pay:skip:00000000"], listed["other/x.go:F:skip:00000000"] = "was changed", "is not evaluated"
	if gone := stale(listed, b.sites,
		[]string{"money"}); !slices.Equal(gone, []string{"money/money.go:Pay:skip:00000000"}) {
		t.Errorf("%q is reported as missing", gone)
	}
	j.listed = listed
	if o := j.of(t.Context(), b.sites[slices.IndexFunc(b.sites, func(s site) bool {
		return listed[s.name()] != ""
	})]); !o.skipped {
		t.Errorf("a listed survivor is evaluated again: %+v", o)
	}
}

func TestEqualSitesHaveTwoNames(t *testing.T) {
	one := site{file: "money/money.go", fn: "Pay", kind: "skip", text: "log()"}
	sites := []site{one, one, {file: "money/money.go", fn: "Pay", kind: "true", text: "log()"}, one}
	number(sites)
	names := map[string]bool{}
	for _, s := range sites {
		names[s.name()] = true
	}
	if len(names) != 4 || sites[0].name() != one.name() || sites[3].name() != one.name()+"#3" {
		t.Errorf("names are %v", names)
	}
}
