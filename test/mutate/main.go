// Command mutate checks whether the tests of the packages that move money would notice a mistake: it changes one place
// of the code at a time – a condition forced, a comparison turned, a statement or a call left out – and runs the short
// tests that reach it. A mutant that no test notices has survived. It owns the mutants and the list of survivors, and
// never changes a source file.
//
// All mutants are compiled into each test binary at once and selected by the environment, so that one costs the run
// of a few tests and no compilation. Without arguments it evaluates every mutant of every such package and prints one
// table: how many were killed, how many survived that test/mutate/survivors.txt lists with a reason, and which others
// survived. It exits with 1 if there are others, if less than 90 % of a package's mutants that are not equivalent to
// the code are killed, or if the list names mutants that no longer exist.
//
// Mutants that all other tests of a package have let pass are evaluated by whole histories (package simulation, the
// chaos tests of package outgoing), which are the same every time. Code that only writes log lines has no mutants.
// Listed survivors are not evaluated again, because each costs all tests that reach it; -again evaluates them. -run
// evaluates with some tests alone, which is quick if it is known which should notice. On two cores, 500 mutants of
// packages with quick tests of their own take two minutes; all 7,100 mutants with all tests take hours. While tests of
// a package are written, evaluate that package alone, and then its survivors:
//
//	go run ./test/mutate -packages sweep -tests sweep > alive.txt
//	go run ./test/mutate -packages sweep -tests sweep,outgoing -named alive.txt
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// money are the packages whose mistakes cost money, and provers those whose tests must notice them.
var (
	money = []string{"ledger", "follow", "deposit", "withdrawal", "outgoing", "sweep", "signer", "unattributed",
		"recovery", "wallet", "account", "treasury", "audit",
		"reconcile"}
	provers = append(slices.Clone(money), "signer/remote", "store", "charge", "service", "simulation")
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// options are what the command line asks for.
type options struct {
	packages, tests []string
	sample          int
	seed            uint64
	workers         int
	only, named     string
	onlyTests       *regexp.Regexp
	again           bool
	budget          time.Duration
}

func readOptions() (o options, err error) {
	packages := flag.String("packages", strings.Join(money, ","), "comma-separated packages to change")
	tests := flag.String("tests", strings.Join(provers, ","), "comma-separated packages whose tests run")
	flag.IntVar(&o.sample, "sample", 0, "evaluate so many mutants, selected by -seed; 0: all")
	flag.Uint64Var(&o.seed, "seed", 1, "selects the sample")
	flag.IntVar(&o.workers, "workers", runtime.NumCPU(), "number of test processes that run in parallel")
	flag.StringVar(&o.only, "only", "", "evaluate only mutants whose name contains this")
	flag.StringVar(&o.named, "named", "",
		"evaluate only the mutants whose names, or whose files' names, begin the lines of this file, such as the report "+
			"of an earlier run")
	onlyTests := flag.String("run", "", "evaluate only with the tests whose names match this expression")
	flag.BoolVar(&o.again, "again", false,
		"evaluate the listed survivors too, and report those that a test notices by now")
	flag.DurationVar(&o.budget, "budget", 40*time.Second,
		"limit of processor time for the tests of one mutant; the slowest are left out")
	flag.Parse()
	o.packages, o.tests = strings.Split(*packages, ","), strings.Split(*tests, ",")
	if o.onlyTests, err = regexp.Compile(*onlyTests); err != nil {
		return o, fmt.Errorf("-run: %w", err)
	}
	return o, nil
}

func run(ctx context.Context) error {
	o, err := readOptions()
	if err != nil {
		return err
	}
	root, err := top()
	if err != nil {
		return err
	}
	b, last, err := prepare(ctx, root, o.packages, o.tests)
	if err != nil {
		return err
	}
	defer os.RemoveAll(b.work)
	defer os.RemoveAll(b.scratch)
	listed, err := readSurvivors(b.root)
	if err != nil {
		return err
	}
	if gone := stale(listed, b.sites, o.packages); len(gone) > 0 {
		return fmt.Errorf("%s lists mutants that no longer exist: %s", survivorsFile, strings.Join(gone, " "))
	}
	watched, err := b.watch(ctx, last, o.workers, o.onlyTests, say)
	if err != nil {
		return err
	}
	j := &evaluator{built: b, tests: watched, budget: o.budget, killers: map[string][]string{}}
	if !o.again {
		j.listed = listed
	}
	chosen, err := o.choose(b.sites)
	if err != nil {
		return err
	}
	sayUnreached(chosen, watched)
	outcomes, err := j.all(ctx, chosen, o.workers)
	return errors.Join(report(os.Stdout, outcomes, listed, wanted), err)
}

// top returns the repository's top directory, which is where the command runs.
func top() (string, error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat("go.mod"); err != nil {
		return "", errors.New("run it in the repository's top directory: go run ./test/mutate")
	}
	return root, nil
}

// choose returns the sites that are evaluated.
func (o options) choose(sites []site) ([]site, error) {
	chosen, err := choose(sites, o.only, o.named)
	return sampleOf(chosen, o.sample, o.seed), err
}

// sayUnreached names the sites that no test reaches: they survive.
func sayUnreached(chosen []site, watched []test) {
	for _, s := range chosen {
		if !slices.ContainsFunc(watched, func(t test) bool { return t.sites[s.id] }) {
			say("no test reaches %s:%d %s %q", s.file, s.line, s.kind, oneLine(s.text))
		}
	}
}

func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05 ")+format+"\n", args...)
}

// prepare finds the sites and compiles them into the test binaries. last is the highest number of a site.
func prepare(ctx context.Context, root string, packages, tests []string) (*built, int, error) {
	work, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, 0, err
	}
	b := &built{root: root, work: work, quiet: map[string]bool{}}
	if b.scratch, err = newScratch(); err != nil {
		return nil, 0, err
	}
	for _, pkg := range packages {
		sites, err := find(root, pkg)
		if err != nil {
			return nil, 0, err
		}
		b.sites = append(b.sites, sites...)
	}
	for i := range b.sites {
		b.sites[i].id = i
	}
	last := len(b.sites)
	say("%d mutants of %s", len(b.sites), strings.Join(packages, ", "))
	return b, last, b.compile(ctx, tests, say)
}

// choose returns the sites whose names contain a text and begin a line of a file; an empty text or file leaves none
// out.
func choose(sites []site, only, file string) ([]site, error) {
	named := map[string]bool{}
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			named[name] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(sites), func(s site) bool {
		return !strings.Contains(s.name(), only) || file != "" && !named[s.name()] && !named[s.file]
	}), nil
}

// sampleOf returns some of the sites in random order, so that an interrupted run has evaluated a sample as well; all in
// their own order if sample is 0.
func sampleOf(chosen []site, sample int, seed uint64) []site {
	if sample == 0 || sample >= len(chosen) {
		return chosen
	}
	random := rand.New(rand.NewPCG(seed, 1))
	random.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
	return chosen[:sample]
}

// all evaluates mutants, and returns the outcomes so far when ctx ends.
func (e *evaluator) all(ctx context.Context, chosen []site, workers int) ([]outcome, error) {
	outcomes := make([]outcome, len(chosen))
	var done, alive atomic.Int64
	err := parallel(workers, len(chosen), func(i int) error {
		o := e.of(ctx, chosen[i])
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if outcomes[i] = o; o.killer == "" && !o.skipped {
			alive.Add(1)
			say("survives: %s:%d %s %q", o.site.file, o.site.line, o.site.kind, oneLine(o.site.text))
		}
		if n := done.Add(1); n%50 == 0 {
			say("%d of %d evaluated, %d alive", n, len(chosen), alive.Load())
		}
		return nil
	})
	return slices.DeleteFunc(outcomes, func(o outcome) bool { return o.site.file == "" }), err
}
