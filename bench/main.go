// Command bench measures the service where a client meets it: the real binary as a process of its own, over HTTP, on a
// PostgreSQL that syncs every commit and on SQLite with full sync, in turns with small reference programs on the same
// database server. What it prints are ratios of one run, with the latencies beside them.
//
//	go run ./bench [--quick] [--database postgres|sqlite] [--only REGEXP] [--json FILE]
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
	seconds   time.Duration
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
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.BoolVar(&s.quick, "quick", false, "two minutes: one round of two seconds, with 64 connections only")
	set.StringVar(&database, "database", "", "only this `database`: postgres or sqlite")
	set.StringVar(&only, "only", "", "only measurements whose name matches this `regexp`")
	set.StringVar(&s.json, "json", "", "write the figures as JSON to this `file`")
	if err := set.Parse(args); err != nil {
		return s, err
	}
	if set.NArg() > 0 {
		return s, fmt.Errorf("%.60q is not a flag: use --help for the list", set.Arg(0))
	}
	if s.quick {
		s.seconds, s.rounds, s.conns = 2*time.Second, 1, []int{64}
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

// run measures everything on each database and prints the tables.
func run(ctx context.Context, s settings) error {
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
	results := report{Machine: machine(ctx)}
	for _, kind := range s.databases {
		if err := measureDatabase(ctx, s, programs, work, kind, &results); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return results.write(os.Stdout, s)
}

func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...) }
