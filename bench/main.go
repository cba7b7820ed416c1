// Command bench measures the service where a client meets it: the real binary as a process of its own, over HTTP, on a
// PostgreSQL that syncs every commit and on SQLite with full sync, in turns with small reference programs on the same
// database server. What it prints are ratios of one run, with the latencies beside them.
//
//	go run ./bench [--quick] [--database postgres|sqlite] [--only REGEXP] [--json FILE] [--write FILE]
//	               [--scale [--wallets N] [--entries N]] [--replicas] [--peer NAME=URL]
//	               [--for DURATION] [--profiles FOLDER] [--beside FOLDER]
//	go run ./bench --render --json FILE --write FILE
//
// It owns the report, from which docs/performance.md is written, and everything that a measurement starts: all of it
// ends with the run. It never changes how the service works to measure it, and never measures what it did not start.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// settings are the command's flags.
type settings struct {
	quick     bool
	databases []string
	only      *regexp.Regexp
	json      string // file for the figures; empty: none
	write     string // file for the document; empty: none
	render    bool   // measure nothing, write the document of the figures in json
	scale     bool
	wallets   int64 // of the large database
	entries   int64 // of the large database
	replicas  bool
	peers     []peer
	profiles  string        // folder for the service's profiles; empty: none
	beside    string        // folder with the programs of another version; empty: none
	seconds   time.Duration // of one measurement
	rounds    int
	conns     []int
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == referenceCommand {
		exit(serveReference(os.Args[2:]))
	}
	s, err := parseFlags(os.Args[1:], os.Stderr)
	if err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
		os.Exit(2)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	exit(run(ctx, s))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func parseFlags(args []string, stderr io.Writer) (settings, error) {
	s := settings{seconds: 5 * time.Second, rounds: 2, conns: []int{1, 16, 64, 256}}
	var database, only string
	var seconds time.Duration
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.BoolVar(&s.quick, "quick", false, "two minutes: one short round, with 64 connections and small counts")
	set.StringVar(&database, "database", "", "only this `database`: postgres or sqlite")
	set.StringVar(&only, "only", "", "only measurements whose name matches this `regexp`")
	set.StringVar(&s.json, "json", "", "write the figures as JSON to this `file`; parts that were not measured stay")
	set.StringVar(&s.write, "write", "", "write the figures as a document to this `file`")
	set.BoolVar(&s.render, "render", false, "measure nothing: write the document of the figures in --json")
	set.BoolVar(&s.scale, "scale", false, "also measure a large database beside a small one; takes long")
	set.Int64Var(&s.wallets, "wallets", 10_000_000, "`number` of wallets of the large database of --scale")
	set.Int64Var(&s.entries, "entries", 10_000_000, "`number` of ledger entries of the large database of --scale")
	set.BoolVar(&s.replicas, "replicas", false, "also measure one, two and four replicas on one PostgreSQL")
	set.StringVar(&s.profiles, "profiles", "",
		"write a processor profile of the service under each kind of request into this `folder`")
	set.StringVar(&s.beside, "beside", "",
		"measure nothing else than requests, in turns with another version, whose programs bursar and sandbox are in this "+
			"`folder`")
	set.DurationVar(&seconds, "for", 0, "how long to measure each number of connections in a round")
	set.Func("peer", "also measure another ledger that is running, `NAME=URL` with the name blnk or formance; repeatable",
		func(text string) error {
			p, err := parsePeer(text)
			s.peers = append(s.peers, p)
			return err
		})
	if err := set.Parse(args); err != nil {
		return s, err
	}
	if set.NArg() > 0 {
		return s, fmt.Errorf("%.60q is not a flag: use --help for the list", set.Arg(0))
	}
	if s.render && (s.json == "" || s.write == "") {
		return s, errors.New("--render needs --json and --write")
	}
	if s.wallets < smallWallets || s.entries < smallEntries {
		return s, fmt.Errorf("--wallets and --entries must be at least %d and %d, which the small database has",
			smallWallets, smallEntries)
	}
	if s.quick {
		s.seconds, s.rounds, s.conns = time.Second, 1, []int{64}
	}
	if seconds > 0 {
		s.seconds = seconds
	}
	s.databases = []string{"postgres", "sqlite"}
	if database != "" {
		if !slices.Contains(s.databases, database) {
			return s, fmt.Errorf("--database is %.40q: use %s", database, strings.Join(s.databases, " or "))
		}
		s.databases = []string{database}
	}
	var err error
	if s.only, err = regexp.Compile(only); err != nil {
		return s, fmt.Errorf("--only: %w", err)
	}
	return s, nil
}

// run measures what the settings ask for, prints the tables and writes the files.
func run(ctx context.Context, s settings) error {
	var measured report
	if !s.render {
		err := measure(ctx, s, &measured)
		if err != nil && len(measured.Parts) > 0 {
			progress("what was measured before it failed:")
			_ = measured.print(os.Stdout)
		}
		if err != nil {
			return err
		}
		if err := measured.print(os.Stdout); err != nil {
			return err
		}
	}
	if s.json != "" {
		older, err := readReport(s.json)
		if err != nil {
			return err
		}
		measured = measured.over(older)
		if err := measured.save(s.json); err != nil {
			return err
		}
	}
	if s.write == "" {
		return nil
	}
	if err := os.WriteFile(s.write, measured.document(), 0o644); err != nil {
		return fmt.Errorf("write the document: %w", err)
	}
	return nil
}

// measure runs all suites that the settings ask for, in a directory that is removed at the end.
func measure(ctx context.Context, s settings, into *report) error {
	work, err := os.MkdirTemp("", "bursar-bench-")
	if err != nil {
		return fmt.Errorf("create a directory: %w", err)
	}
	defer os.RemoveAll(work)
	progress("building the binaries")
	programs, err := build(ctx, work)
	if err != nil {
		return err
	}
	all := &bench{settings: s, programs: programs, work: work, results: into, run: conditionsOf(ctx, s)}
	suites := only(s, all.suites())
	if len(suites) == 0 {
		return fmt.Errorf("--only %q matches no measurement", s.only)
	}
	return newPlan(suites).run(ctx)
}

func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...) }
