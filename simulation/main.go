// Simulation runs random histories of a whole Bursar: the actions of customers, payers, an operator, nodes and
// receivers, and faults, in memory and on a virtual clock. It checks each history. The same seed gives the same
// history, byte for byte. It owns the plans, the actions and the checks, and never uses a network, a file or the
// system's clock while a history runs.
//
//	go run ./simulation -n 1000000            run seeds 0 to 999999 and list those that fail
//	go run ./simulation -seed 7               run one seed and print its log
//	go run ./simulation -shrink 7             find the smallest part of its plan that still fails
//	go run ./simulation -plan file.json       run a plan that was kept
//	go run ./simulation -seed 7 -rows         print every row that it changed as well
//	go run ./simulation -record               record the sums of the recorded histories again
//	go run ./simulation -planted -n 300       plant bugs in the service and print which seed finds each
//
// docs/simulation.md explains the actions, the faults and the evaluations.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"time"

	"github.com/bursar/bursar/bursartest/replicas"
)

// command is the parsed command line.
type command struct {
	n        int
	from     uint64
	step     uint64
	workers  int
	length   int
	seed     int64
	shrink   int64
	plan     string
	keep     string
	service  bool
	rows     bool
	first    bool
	planted  bool
	record   bool
	profile  string
	template *replicas.Template
}

func main() {
	var c command
	flag.IntVar(&c.n, "n", 1000, "run so many seeds")
	flag.Uint64Var(&c.from, "from", 0, "start with this seed")
	flag.Uint64Var(&c.step, "step", 1, "run every so many-th seed: -from 4 -step 5 runs those in which epochs begin")
	flag.IntVar(&c.workers, "workers", runtime.NumCPU(), "run so many histories in parallel")
	flag.IntVar(&c.length, "events", defaultLength, "plan so many events for each history")
	flag.Int64Var(&c.seed, "seed", -1, "run this seed alone and print its log")
	flag.Int64Var(&c.shrink, "shrink", -1, "find the smallest part of this seed's plan that fails, and print its log")
	flag.StringVar(&c.plan, "plan", "", "run the plan in this file and print its log")
	flag.StringVar(&c.keep, "keep", "", "write the plan that was run or shrunk to this file")
	flag.BoolVar(&c.first, "first", false, "stop after the first history that fails")
	flag.BoolVar(&c.planted, "planted", false, "plant bugs in the service, one by one, and print which seed finds each")
	flag.BoolVar(&c.service, "service", false, "print the service's log too")
	flag.BoolVar(&c.record, "record", false,
		"run the recorded histories and record their present sums in simulation/"+recordedFile)
	flag.BoolVar(&c.rows, "rows", false, "print every row that an event changed, and the calls to nodes and the signer")
	flag.StringVar(&c.profile, "profile", "", "write a CPU profile to this file")
	flag.Parse()
	if err := c.run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (c command) run() (err error) {
	debug.SetGCPercent(400) // a history's memory is small, and soon garbage
	if c.profile != "" {
		f, err := os.Create(c.profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	if c.template, err = replicas.InMemory(); err != nil {
		return err
	}
	switch {
	case c.planted:
		return plant(os.Stdout, c.from, c.n)
	case c.record:
		return recordAgain(filepath.Join("simulation", recordedFile), c.template, c.workers)
	case c.plan != "":
		p, err := read(c.plan)
		if err != nil {
			return err
		}
		return c.show(p)
	case c.seed >= 0:
		return c.show(generate(uint64(c.seed), c.length))
	case c.shrink >= 0:
		p, err := shrink(generate(uint64(c.shrink), c.length), Setting{Template: c.template}, os.Stderr)
		if err != nil {
			return err
		}
		return c.show(p)
	}
	return c.many()
}

// show runs one plan and prints its log.
func (c command) show(p Plan) error {
	if c.keep != "" {
		if err := p.keep(c.keep); err != nil {
			return err
		}
	}
	s := Setting{Template: c.template, Print: os.Stdout, Record: c.rows}
	if c.service {
		s.Service = os.Stdout
	}
	r := run(p, s)
	fmt.Printf("%d lines, %s\n", r.Lines, r.Hash)
	return r.Err
}

// many runs seeds until all have run or the user interrupts it.
func (c command) many() error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	began := time.Now()
	t := &tally{out: os.Stdout, seeds: make(chan uint64)}
	var group sync.WaitGroup
	for range c.workers {
		group.Go(func() { t.work(c) })
	}
	last := began
hand:
	for i := range uint64(c.n) {
		select {
		case t.seeds <- c.from + i*c.step:
		case <-stop:
			break hand
		}
		if c.first && t.anyFailed() {
			break
		}
		if now := time.Now(); now.Sub(last) > 10*time.Second {
			last = now
			t.progress(began, c.n)
		}
	}
	close(t.seeds)
	group.Wait()
	t.progress(began, c.n)
	if len(t.failed) > 0 {
		return fmt.Errorf("%d of %d histories failed: %d", len(t.failed), t.ran, t.failed)
	}
	return nil
}

// tally counts the results of many histories.
type tally struct {
	out    io.Writer
	seeds  chan uint64
	mu     sync.Mutex
	ran    int
	paid   int
	failed []uint64
}

func (t *tally) work(c command) {
	for seed := range t.seeds {
		r := run(generate(seed, c.length), Setting{Template: c.template})
		t.mu.Lock()
		t.ran++
		t.paid += r.Paid
		if r.Err != nil {
			t.failed = append(t.failed, seed)
			fmt.Fprintf(t.out, "seed %d: %v\n", seed, r.Err)
		}
		t.mu.Unlock()
	}
}

func (t *tally) anyFailed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.failed) > 0
}

func (t *tally) progress(began time.Time, of int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	took := time.Since(began)
	fmt.Fprintf(t.out, "%d of %d histories in %v, %.1f a second, %d withdrawals paid, %d failed\n",
		t.ran, of, took.Round(time.Second), float64(t.ran)/took.Seconds(), t.paid, len(t.failed))
}
